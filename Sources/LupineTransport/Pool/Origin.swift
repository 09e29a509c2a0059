// SPDX-License-Identifier: MIT

/// What two exchanges must share to share a connection: the pool's key.
///
/// Scheme, host, port or Unix path, the proxy in between, the TLS profiles (who we are, whom we trust), and the local
/// binding.
/// Made once per request by whoever hands it down. A copy is one reference; the hash is computed once, and comparing
/// two copies of the same value compares a pointer, because both stand on the path of every request.
package struct Origin: Hashable, Sendable {
    /// How requests to this origin travel.
    package enum Scheme: UInt8, Sendable { case http, https }

    private final class Storage: Sendable {
        let scheme: Scheme
        let host: String
        let port: UInt16
        let unixPath: String?
        let proxy: ProxyServer?
        let tls: TLSProfile?
        let proxyTLS: TLSProfile?
        let localBinding: String?
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

        func matches(_ other: Storage) -> Bool {
            hash == other.hash && scheme == other.scheme && port == other.port && host == other.host
                && unixPath == other.unixPath && proxy == other.proxy && tls == other.tls
                && proxyTLS == other.proxyTLS && localBinding == other.localBinding
        }
    }

    private let storage: Storage

    /// The key of that combination. `host` is a name or an IP literal without brackets; its ASCII letters are
    /// lower-cased here, but for a zone's.
    package init(
        scheme: Scheme, host: String, port: UInt16, unixPath: String? = nil, proxy: ProxyServer? = nil,
        tls: TLSProfile? = nil, proxyTLS: TLSProfile? = nil, localBinding: String? = nil
    ) {
        storage = Storage(
            scheme: scheme, host: host.hostLowercased, port: port, unixPath: unixPath, proxy: proxy,
            tls: tls, proxyTLS: proxyTLS, localBinding: localBinding)
    }

    /// The same place under another profile.
    func under(_ profile: TLSProfile) -> Origin {
        Origin(
            scheme: scheme, host: host, port: port, unixPath: unixPath, proxy: proxy, tls: profile,
            proxyTLS: proxyTLS, localBinding: localBinding)
    }

    /// How requests travel.
    package var scheme: Scheme { storage.scheme }
    /// The host in lower case, without brackets.
    package var host: String { storage.host }
    /// The port of the origin, not of the proxy.
    package var port: UInt16 { storage.port }
    /// The path of the Unix-domain socket, where the origin is one.
    package var unixPath: String? { storage.unixPath }
    /// The proxy in between; nil for none.
    package var proxy: ProxyServer? { storage.proxy }
    /// How an https origin is spoken to and judged.
    package var tls: TLSProfile? { storage.tls }
    /// How an https proxy is.
    package var proxyTLS: TLSProfile? { storage.proxyTLS }
    /// The interface or local address that connections leave from.
    package var localBinding: String? { storage.localBinding }

    /// Equal for equal origins; seeded per process, so that no server can choose names that share one.
    var fingerprint: Int { storage.hash }

    package static func == (left: Origin, right: Origin) -> Bool {
        left.storage === right.storage || left.storage.matches(right.storage)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(storage.hash) }
}

extension String {
    /// The same text with A-Z folded to a-z and every other character untouched: names compare so whatever the locale.
    var asciiLowercased: String {
        guard utf8.contains(where: { $0 >= 0x41 && $0 <= 0x5A }) else { return self }
        return String(decoding: utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
    /// The text as a host: a zone behind a `%` stays as it is, since interfaces that differ by their letters are two (RFC 6874).
    var hostLowercased: String {
        let first = utf8.firstIndex { $0 == 0x25 || 0x41...0x5A ~= $0 }
        guard let first, utf8[first] != 0x25 else { return self }
        guard let zone = utf8.firstIndex(of: 0x25) else { return asciiLowercased }
        return String(self[..<zone]).asciiLowercased + self[zone...]
    }
}
