// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

extension SessionEngine {
    /// Returns the route of an `http` request, as far as cached responses depend on it: the proxy, the user at the proxy, and the
    /// `connectionOverrides`. Returns nil for a direct connection without overrides.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - credential: The credential with which the task answers the proxy's challenges; nil for that of the configuration.
    func cacheRoute(to url: URL, as credential: URLCredential?) -> CacheRoute? {
        let proxy = proxy(for: url, isWebSocket: false)
        guard let name = routeName(through: proxy) else { return nil }
        guard let proxy else { return CacheRoute(name) }
        let taskUser = credential.map { (Array(($0.user ?? "").utf8), Array(($0.password ?? "").utf8)) }
        let configuredUser = proxy.credentials.map { ($0.user, $0.password) }
        return CacheRoute(name, credentials: (taskUser ?? configuredUser).map(Self.octets))
    }

    /// Returns the route over which the response was received, for storing the response.
    ///
    /// The result differs from `route` if the trust roots for an https proxy were read after the look-up.
    ///
    /// - Parameters:
    ///   - route: The route with which the request was looked up in the cache.
    ///   - url: The URL of the request.
    func cacheRouteOfResponse(lookedUpWith route: CacheRoute, to url: URL?) -> CacheRoute {
        guard let url, let name = routeName(through: proxy(for: url, isWebSocket: false)) else {
            return route
        }
        return CacheRoute(name, credentials: route.credentials)
    }

    /// Returns the value of `CacheRoute.name`; nil for a direct connection without overrides. The name for an https proxy
    /// contains the name of the trust roots with which the proxy is verified.
    private func routeName(through proxy: ProxyServer?) -> String? {
        let proxyText = proxy.map { proxy in
            let server = "\(proxy.kind) \(proxy.host):\(proxy.port)"
            return proxy.kind == .https ? "\(server) under \(proxyRootsName ?? "")" : server
        }
        let texts = [proxyText, connectionOverrides].compactMap(\.self)
        return texts.isEmpty ? nil : texts.joined(separator: " ")
    }

    /// Returns the octets of user and password.
    private static func octets(_ user: [UInt8], _ password: [UInt8]) -> [UInt8] {
        // The length shows where the user name ends, so that no other pair gives the same octets.
        Array("\(user.count):".utf8) + user + password
    }

    /// Returns a text that contains the options that redirect connections: Unix-domain socket, local binding, address overrides.
    /// Returns a hash of that text if the text is long, and nil if no such option is set.
    static func connectionOverrides(_ options: URLSessionConfiguration.LupineOptions) -> String? {
        var texts: [String] = []
        if let path = options.unixSocketPath { texts.append("unix:\(path)") }
        if let binding = options.localBinding { texts.append("from:\(binding)") }
        for (endpoint, addresses) in options.addressOverrides.sorted(by: {
            ($0.key.host, $0.key.port) < ($1.key.host, $1.key.port)
        }) {
            let addresses = addresses.map { "\($0)" }.joined(separator: ",")
            texts.append("\(endpoint.host):\(endpoint.port)=\(addresses)")
        }
        if texts.isEmpty { return nil }
        let text = texts.joined(separator: " ")
        return text.utf8.count > maxOverridesLength ? SHA256Digest.of(Array(text.utf8)).description : text
    }

    /// The maximum length of the text of `connectionOverrides` in bytes; a longer text is replaced by its hash.
    private static let maxOverridesLength = 512
}
