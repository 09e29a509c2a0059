// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

extension SessionEngine {
    /// The way of an `http` request; nil for the plain one.
    ///
    /// - Parameter credential: What answers the proxy, where it has asked; the configuration's does unless there is one.
    func way(to url: URL, as credential: URLCredential?) -> CacheWay? {
        let proxy = proxy(for: url, isWebSocket: false)
        guard let path = path(by: proxy) else { return nil }
        guard let proxy else { return CacheWay(path) }
        let answered = credential.map { (Array(($0.user ?? "").utf8), Array(($0.password ?? "").utf8)) }
        let configured = proxy.credentials.map { ($0.user, $0.password) }
        return CacheWay(path, user: (answered ?? configured).map(Self.concealed))
    }

    /// The way by which the answer to a request came that was looked up as one of `way`: the roots that have judged a proxy are known
    /// only now.
    func wayTaken(_ way: CacheWay, to url: URL?) -> CacheWay {
        guard let url, let path = path(by: proxy(for: url, isWebSocket: false)) else { return way }
        return CacheWay(path, user: way.user)
    }

    /// Where connections are led; an https proxy is another one for whoever trusts others.
    private func path(by proxy: ProxyServer?) -> String? {
        let named = proxy.map { proxy in
            let place = "\(proxy.kind) \(proxy.host):\(proxy.port)"
            return proxy.kind == .https ? "\(place) under \(proxyRootsName ?? "")" : place
        }
        let parts = [named, detour].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    private static func concealed(_ user: [UInt8], _ password: [UInt8]) -> String {
        // No other name and password are the same text.
        CacheEntry.conceal("\(user.count):" + String(decoding: user + password, as: UTF8.self))
    }

    /// What leads all connections of a session elsewhere than to where their addresses say; nil for nothing.
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
