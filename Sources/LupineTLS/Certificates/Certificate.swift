// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// One X.509 certificate: a value that can be compared, kept and handed between threads.
///
/// Two certificates are equal when their DER is. Parsing looks at nothing but the syntax: whether a certificate is to be
/// trusted is asked of `PeerTrust`.
public struct Certificate: Sendable {
    package let handle: OpenSSLHandle<X509Object>

    /// The certificate behind a handle.
    package init(_ handle: OpenSSLHandle<X509Object>) { self.handle = handle }
}
