// SPDX-License-Identifier: MIT

/// The pool's key: everything that two exchanges must have in common to share a connection.
///
/// It consists of scheme, host, port or Unix path, the proxy, the TLS profiles (the client certificate and the trust evaluation),
/// and the local binding. The layer above creates it once for each request. Every request hashes and compares origins. Therefore
/// a copy is one reference, the hash is computed once, and two copies of one value are equal by their reference.
package struct Origin: Hashable, Sendable {
    /// The scheme of requests to this origin.
    package enum Scheme: UInt8, Sendable { case http, https }

    /// The properties of an origin. All copies of an origin share them.
    private final class Storage: Sendable {
        let scheme: Scheme
        let host: String
        let port: UInt16
        let unixPath: String?
        let proxy: ProxyServer?
        let tls: TLSProfile?
        let proxyTLS: TLSProfile?
        let localBinding: String?
        /// The hash of all other properties.
        let hash: Int

        init(
            scheme: Scheme, host: String, port: UInt16, unixPath: String?, proxy: ProxyServer?,
            tls: TLSProfile?, proxyTLS: TLSProfile?, localBinding: String?
        ) {
            self.scheme = scheme
            self.host = host
            self.port = port
            self.unixPath = unixPath
            self.proxy = proxy
            self.tls = tls
            self.proxyTLS = proxyTLS
            self.localBinding = localBinding
            var hasher = Hasher()
            hasher.combine(scheme)
            hasher.combine(host)
            hasher.combine(port)
            hasher.combine(unixPath)
            hasher.combine(proxy)
            hasher.combine(tls)
            hasher.combine(proxyTLS)
            hasher.combine(localBinding)
            hash = hasher.finalize()
        }

        /// Returns whether all properties are equal. The hash is compared first, because it differs for nearly all unequal
        /// origins.
        func matches(_ other: Storage) -> Bool {
            hash == other.hash && scheme == other.scheme && port == other.port && host == other.host
                && unixPath == other.unixPath && proxy == other.proxy && tls == other.tls
                && proxyTLS == other.proxyTLS && localBinding == other.localBinding
        }
    }

    private let storage: Storage

    /// Creates an origin. `host` is a name or an IP literal without brackets. The initializer lowercases its ASCII letters,
    /// except those of a zone.
    package init(
        scheme: Scheme, host: String, port: UInt16, unixPath: String? = nil, proxy: ProxyServer? = nil,
        tls: TLSProfile? = nil, proxyTLS: TLSProfile? = nil, localBinding: String? = nil
    ) {
        storage = Storage(
            scheme: scheme, host: host.hostLowercased, port: port, unixPath: unixPath, proxy: proxy,
            tls: tls, proxyTLS: proxyTLS, localBinding: localBinding)
    }

    /// Returns the same origin with another TLS profile.
    func withTLSProfile(_ profile: TLSProfile) -> Origin {
        Origin(
            scheme: scheme, host: host, port: port, unixPath: unixPath, proxy: proxy, tls: profile,
            proxyTLS: proxyTLS, localBinding: localBinding)
    }

    /// The scheme of requests.
    package var scheme: Scheme { storage.scheme }
    /// The host in lower case, without brackets.
    package var host: String { storage.host }
    /// The port of the origin, not of the proxy.
    package var port: UInt16 { storage.port }
    /// The path of the Unix-domain socket; nil for other origins.
    package var unixPath: String? { storage.unixPath }
    /// The proxy; nil for a direct connection.
    package var proxy: ProxyServer? { storage.proxy }
    /// The TLS profile for an https origin; nil for an http origin.
    package var tls: TLSProfile? { storage.tls }
    /// The TLS profile for an https proxy; nil for other proxies and without a proxy.
    package var proxyTLS: TLSProfile? { storage.proxyTLS }
    /// The interface or local address that connections are bound to; nil if the kernel chooses.
    package var localBinding: String? { storage.localBinding }

    /// The hash: equal for equal origins. Swift seeds it differently in each process, so that nobody can choose names with equal
    /// hashes.
    var fingerprint: Int { storage.hash }

    package static func == (left: Origin, right: Origin) -> Bool {
        left.storage === right.storage || left.storage.matches(right.storage)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(storage.hash) }
}
