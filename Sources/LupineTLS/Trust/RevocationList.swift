// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// A certificate revocation list (RFC 5280 §5), parsed and judged by nobody yet.
public struct RevocationList: Sendable {
    let handle: OpenSSLHandle<RevocationListObject>
    /// The length of its DER.
    let size: Int
}
