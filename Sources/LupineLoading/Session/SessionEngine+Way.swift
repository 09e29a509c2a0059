// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

extension SessionEngine {
    /// The route of an `http` request, as far as cached responses depend on it; nil for a direct connection.
    ///
    /// - Parameter credential: The credential with which a challenge of the proxy is answered; by default the configuration's.
    func way(to url: URL, as credential: URLCredential?) -> CacheRoute? {
        let proxy = proxy(for: url, isWebSocket: false)
        guard let path = path(by: proxy) else { return nil }
        guard let proxy else { return CacheRoute(path) }
        let answered = credential.map { (Array(($0.user ?? "").utf8), Array(($0.password ?? "").utf8)) }
        let configured = proxy.credentials.map { ($0.user, $0.password) }
        return CacheRoute(path, user: (answered ?? configured).map(Self.concealed))
    }

    /// The route that the response to a request has taken that was looked up with `way`: the roots that a proxy was verified
    /// with are known only now.
    func wayTaken(_ way: CacheRoute, to url: URL?) -> CacheRoute {
        guard let url, let path = path(by: proxy(for: url, isWebSocket: false)) else { return way }
        return CacheRoute(path, user: way.user)
    }

    /// Where connections are directed. An https proxy counts as another one if it is verified with other roots.
    private func path(by proxy: ProxyServer?) -> String? {
        let named = proxy.map { proxy in
            let place = "\(proxy.kind) \(proxy.host):\(proxy.port)"
            return proxy.kind == .https ? "\(place) under \(proxyRootsName ?? "")" : place
        }
        let parts = [named, detour].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    private static func concealed(_ user: [UInt8], _ password: [UInt8]) -> String {
        // With the length, no other name and password give the same text.
        CacheEntry.conceal("\(user.count):" + String(decoding: user + password, as: UTF8.self))
    }

    /// The options that direct all connections of a session elsewhere than to the addresses of their URLs; nil for none.
    static func detour(_ options: URLSessionConfiguration.LupineOptions) -> String? {
        var parts: [String] = []
        if let path = options.unixSocketPath { parts.append("unix:\(path)") }
        if let binding = options.localBinding { parts.append("from:\(binding)") }
        for (place, addresses) in options.addressOverrides.sorted(by: {
            ($0.key.host, $0.key.port) < ($1.key.host, $1.key.port)
        }) {
            let addresses = addresses.map { "\($0)" }.joined(separator: ",")
            parts.append("\(place.host):\(place.port)=\(addresses)")
        }
        if parts.isEmpty { return nil }
        let text = parts.joined(separator: " ")
        return text.utf8.count > 512 ? SHA256Digest.of(Array(text.utf8)).description : text
    }
}
