// SPDX-License-Identifier: MIT

/// A private key; nothing of it is ever described or logged.
public struct PrivateKey: Sendable {
    package let handle: OpenSSLHandle<KeyObject>

    /// The key behind a handle.
    package init(_ handle: OpenSSLHandle<KeyObject>) { self.handle = handle }
}
