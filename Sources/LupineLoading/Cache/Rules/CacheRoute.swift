// SPDX-License-Identifier: MIT

/// The route of an `http` request, on which its response depends because nothing authenticates the sender: the proxy, other
/// redirection of the connection, and the proxy credentials.
struct CacheRoute: Hashable, Sendable {
    /// The proxy and other redirection of the connection.
    let path: String
    /// The proxy credentials, concealed by this process' own hash; nil without any. The hash means nothing to another process, so
    /// a response that depends on it is never written to disk.
    let user: String?

    init(_ path: String, user: String? = nil) {
        self.path = path
        self.user = user
    }
}
