// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The proxies of a session: those of its configuration's dictionary or, if that is nil, of the environment.
///
/// Each session reads them once. Automatic configuration is not supported: its keys are ignored, like all unknown keys.
extension ProxyRule {
    /// Creates the rule of a session.
    ///
    /// - Parameters:
    ///   - dictionary: The configuration's dictionary; nil for the environment's proxies, empty for no proxy.
    ///   - proxies: Proxies by the names of environment variables, which replace the dictionary and the environment.
    ///   - variable: Returns the value of an environment variable.
    /// - Throws: The error of the first proxy that cannot be used.
    init(
        session dictionary: [AnyHashable: Any]?, named proxies: [String: String]? = nil,
        environment variable: (String) -> String? = { ProcessInfo.processInfo.environment[$0] }
    ) throws(ProxyURLError) {
        if let proxies {
            try self.init(environment: { proxies[$0] })
            return
        }
        guard let dictionary else {
            try self.init(environment: variable)
            // Only the environment's proxies leave this machine's own names and addresses out (U-15.2).
            bypassesLoopback = true
            return
        }
        let settings = ProxyDictionary(dictionary)
        let socks = try settings.socks()
        self.init(
            http: try settings.server("HTTP", defaultPort: 80) ?? socks,
            https: try settings.server("HTTPS", defaultPort: 443) ?? socks,
            bypass: NoProxyList(settings.exceptions), bypassesSimpleNames: settings.excludesSimpleNames)
    }
}

/// Reads a dictionary with the keys of Apple's proxy settings.
private struct ProxyDictionary {
    private let values: [String: Any]

    init(_ dictionary: [AnyHashable: Any]) {
        values = Dictionary(
            dictionary.compactMap { key, value in (key.base as? String).map { ($0, value) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the proxy of `HTTPEnable`, `HTTPProxy` and `HTTPPort`, or of the `HTTPS` keys; the connection to the proxy is not
    /// encrypted.
    func server(_ name: String, defaultPort: UInt16) throws(ProxyURLError) -> ProxyServer? {
        try server(
            name, .http, defaultPort: defaultPort,
            credentials: credentials(user: "kCFProxyUsernameKey", password: "kCFProxyPasswordKey"))
    }

    /// Returns the proxy of `SOCKSEnable`, `SOCKSProxy` and `SOCKSPort`; the proxy resolves names.
    func socks() throws(ProxyURLError) -> ProxyServer? {
        try server(
            "SOCKS", .socks5, defaultPort: 1080,
            credentials: credentials(user: "SOCKSUser", password: "SOCKSPassword")
                ?? credentials(user: "kCFProxyUsernameKey", password: "kCFProxyPasswordKey"))
    }

    var exceptions: String { (values["ExceptionsList"] as? [String] ?? []).joined(separator: ",") }
    var excludesSimpleNames: Bool { isOn("ExcludeSimpleHostnames") }

    private func server(
        _ name: String, _ kind: ProxyServer.Kind, defaultPort: UInt16, credentials: ProxyServer.Credentials?
    ) throws(ProxyURLError) -> ProxyServer? {
        guard isOn(name + "Enable"), let host = values[name + "Proxy"] as? String else { return nil }
        // The parser of proxy URLs validates the host.
        let isBareIPv6 = host.utf8.contains(UInt8(ascii: ":")) && !host.hasPrefix("[")
        let parsed = try ProxyServer(url: isBareIPv6 ? "http://[\(host)]" : "http://\(host)")
        var port = defaultPort
        if let given = values[name + "Port"] {
            guard let number = Self.integer(given).flatMap(UInt16.init(exactly:)), number > 0 else {
                // There is no URL, so the offset has no meaning.
                throw .malformedPort(offset: 0)
            }
            port = number
        }
        return ProxyServer(kind: kind, host: parsed.host, port: port, credentials: credentials)
    }

    private func credentials(user: String, password: String) -> ProxyServer.Credentials? {
        guard let user = values[user] as? String, !user.isEmpty else { return nil }
        return ProxyServer.Credentials(
            user: Array(user.utf8), password: Array((values[password] as? String ?? "").utf8))
    }

    /// Whether the value of a key is a number other than zero, or true.
    private func isOn(_ key: String) -> Bool { values[key].flatMap(Self.integer) ?? 0 != 0 }

    private static func integer(_ value: Any) -> Int? {
        switch value {
        case let flag as Bool: flag ? 1 : 0
        case let number as Int: number
        case let number as NSNumber: number.intValue
        case let text as String: Int(text)
        case let number as any BinaryInteger: Int(exactly: number)
        default: nil
        }
    }
}
