// SPDX-License-Identifier: MIT

/// The route of a request without TLS: the proxy, the proxy credentials, and the options that redirect connections. A cached
/// response is used for the same route only, because without TLS nothing authenticates its sender.
struct CacheRoute: Hashable, Sendable {
    /// A text that names the proxy, and the options that redirect connections: Unix-domain socket, local binding, address
    /// overrides.
    let name: String
    /// The octets of the proxy credentials; nil if there are none. A response that depends on them is not written to disk.
    let credentials: [UInt8]?

    init(_ name: String, credentials: [UInt8]? = nil) {
        self.name = name
        self.credentials = credentials
    }
}
