// SPDX-License-Identifier: MIT

/// The route of an `http` request: the proxy, the options that redirect connections, and the proxy credentials. The response
/// depends on the route, because nothing authenticates its sender.
struct CacheRoute: Hashable, Sendable {
    /// The proxy, and the options that redirect connections: Unix-domain socket, local binding, address overrides.
    let path: String
    /// The proxy credentials, concealed by a hash with a key of this process; nil if there are none. A response that depends on
    /// them is not written to disk, because the hash is meaningless in another process.
    let user: String?

    init(_ path: String, user: String? = nil) {
        self.path = path
        self.user = user
    }
}
