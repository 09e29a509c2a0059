// SPDX-License-Identifier: MIT

/// The route of a request without TLS: the proxy, the proxy credentials, and the options that redirect connections. A cached
/// response is used for the same route only, because without TLS nothing authenticates its sender.
struct CacheRoute: Hashable, Sendable {
    /// A text that names the proxy, and the options that redirect connections: Unix-domain socket, local binding, address
    /// overrides.
    let name: String
    /// The proxy credentials, concealed by a hash with a key of this process; nil if there are none. A response that depends on
    /// them is not written to disk, because the hash is meaningless in another process.
    let credentials: String?

    init(_ name: String, credentials: String? = nil) {
        self.name = name
        self.credentials = credentials
    }
}
