// SPDX-License-Identifier: MIT

/// What an answer to an `http` request depends on beside its address, for nothing proves who gave it: the proxy and whatever else
/// leads the connection elsewhere, and whom the proxy took us for.
struct CacheWay: Hashable, Sendable {
    /// Where the connection was led.
    let path: String
    /// Who we are to the proxy, concealed by this process' own hash; nil for nobody. It says nothing in another process: an answer
    /// that depends on it is never on the disk.
    let user: String?

    init(_ path: String, user: String? = nil) {
        self.path = path
        self.user = user
    }
}
