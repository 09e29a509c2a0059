// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

extension SessionEngine {
    /// Returns the route of an `http` request, as far as cached responses depend on it: the proxy, the user at the proxy, and the
    /// `connectionOverrides`. Returns nil for a direct connection.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - credential: The credential with which the task answers the proxy's challenges; nil for the configuration's.
    func cacheRoute(to url: URL, as credential: URLCredential?) -> CacheRoute? {
        let proxy = proxy(for: url, isWebSocket: false)
        guard let path = routePath(through: proxy) else { return nil }
        guard let proxy else { return CacheRoute(path) }
        let answered = credential.map { (Array(($0.user ?? "").utf8), Array(($0.password ?? "").utf8)) }
        let configured = proxy.credentials.map { ($0.user, $0.password) }
        return CacheRoute(path, user: (answered ?? configured).map(Self.concealed))
    }

    /// Returns the route that the response has taken, given the route with which the request was looked up in the cache. They
    /// differ if the roots that an https proxy is verified with were read in between.
    func takenCacheRoute(_ route: CacheRoute, to url: URL?) -> CacheRoute {
        guard let url, let path = routePath(through: proxy(for: url, isWebSocket: false)) else {
            return route
        }
        return CacheRoute(path, user: route.user)
    }

    /// The value of `CacheRoute.path`; nil for a direct connection. The path of an https proxy contains the name of the roots
    /// that the proxy is verified with.
    private func routePath(through proxy: ProxyServer?) -> String? {
        let named = proxy.map { proxy in
            let server = "\(proxy.kind) \(proxy.host):\(proxy.port)"
            return proxy.kind == .https ? "\(server) under \(proxyRootsName ?? "")" : server
        }
        let parts = [named, connectionOverrides].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    /// Returns a text that identifies user and password without disclosing them.
    private static func concealed(_ user: [UInt8], _ password: [UInt8]) -> String {
        // The length separates the name from the password, so that no other pair gives the same text.
        CacheEntry.conceal("\(user.count):" + String(decoding: user + password, as: UTF8.self))
    }

    /// A text that names the options that redirect connections: Unix-domain socket, local binding, address overrides. Nil if none
    /// is set.
    static func connectionOverrides(_ options: URLSessionConfiguration.LupineOptions) -> String? {
        var parts: [String] = []
        if let path = options.unixSocketPath { parts.append("unix:\(path)") }
        if let binding = options.localBinding { parts.append("from:\(binding)") }
        for (endpoint, addresses) in options.addressOverrides.sorted(by: {
            ($0.key.host, $0.key.port) < ($1.key.host, $1.key.port)
        }) {
            let addresses = addresses.map { "\($0)" }.joined(separator: ",")
            parts.append("\(endpoint.host):\(endpoint.port)=\(addresses)")
        }
        if parts.isEmpty { return nil }
        let text = parts.joined(separator: " ")
        return text.utf8.count > 512 ? SHA256Digest.of(Array(text.utf8)).description : text
    }
}
