// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Trusted roots, loaded: a value to share between connections.
package struct TrustStore: Sendable {
    let handle: OpenSSLHandle<StoreObject>

    init(_ handle: OpenSSLHandle<StoreObject>) { self.handle = handle }
}
