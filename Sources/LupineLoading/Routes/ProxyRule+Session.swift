// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Reads the proxies of a session: from its configuration or, if that names none, from the environment.
///
/// Each session reads them once. Proxy auto-configuration (PAC) is not supported: its keys are ignored, like all unknown keys.
extension ProxyRule {
    /// Creates the rule of a session.
    ///
    /// - Parameters:
    ///   - dictionary: The `connectionProxyDictionary` of the configuration; nil to use the environment's proxies, empty for no
    ///     proxy.
    ///   - proxies: The `LupineOptions.proxies` of the configuration: proxies by the names of environment variables. They replace
    ///     the dictionary and the environment; nil for none.
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
            // Only with the environment's proxies, requests to `localhost` and loopback addresses use no proxy (U-15.2).
            bypassesLoopback = true
            return
        }
        let settings = ProxyDictionary(dictionary)
        // A SOCKS proxy is used for each scheme that has no HTTP proxy.
        let socks = try settings.socks()
        self.init(
            http: try settings.server("HTTP", defaultPort: 80) ?? socks,
            https: try settings.server("HTTPS", defaultPort: 443) ?? socks,
            bypass: NoProxyList(settings.exceptions), bypassesSimpleNames: settings.excludesSimpleNames)
    }
}

/// Reads a dictionary with the keys of Apple's proxy settings.
private struct ProxyDictionary {
    /// The entries whose keys are strings.
    private let values: [String: Any]

    init(_ dictionary: [AnyHashable: Any]) {
        values = Dictionary(
            dictionary.compactMap { key, value in (key.base as? String).map { ($0, value) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the HTTP proxy of the keys `HTTPEnable`, `HTTPProxy` and `HTTPPort`, or of the same keys with the prefix `HTTPS`.
    /// Connections to the proxy itself do not use TLS.
    func server(_ keyPrefix: String, defaultPort: UInt16) throws(ProxyURLError) -> ProxyServer? {
        try server(
            keyPrefix, .http, defaultPort: defaultPort,
            credentials: credentials(user: "kCFProxyUsernameKey", password: "kCFProxyPasswordKey"))
    }

    /// Returns the SOCKS proxy of the keys `SOCKSEnable`, `SOCKSProxy` and `SOCKSPort`. The proxy resolves host names.
    func socks() throws(ProxyURLError) -> ProxyServer? {
        try server(
            "SOCKS", .socks5, defaultPort: 1080,
            credentials: credentials(user: "SOCKSUser", password: "SOCKSPassword")
                ?? credentials(user: "kCFProxyUsernameKey", password: "kCFProxyPasswordKey"))
    }

    /// The hosts to which requests use no proxy, separated by commas.
    var exceptions: String { (values["ExceptionsList"] as? [String] ?? []).joined(separator: ",") }
    /// Whether requests to host names without a dot use no proxy.
    var excludesSimpleNames: Bool { isOn("ExcludeSimpleHostnames") }

    /// Returns the proxy of the keys with this prefix; nil if there is none or it is not enabled.
    private func server(
        _ keyPrefix: String, _ kind: ProxyServer.Kind, defaultPort: UInt16,
        credentials: ProxyServer.Credentials?
    ) throws(ProxyURLError) -> ProxyServer? {
        guard isOn(keyPrefix + "Enable"), let host = values[keyPrefix + "Proxy"] as? String else {
            return nil
        }
        // The parser of proxy URLs validates the host. In a URL, an IPv6 address needs brackets.
        let isBareIPv6 = host.utf8.contains(UInt8(ascii: ":")) && !host.hasPrefix("[")
        let parsed = try ProxyServer(url: isBareIPv6 ? "http://[\(host)]" : "http://\(host)")
        var port = defaultPort
        if let value = values[keyPrefix + "Port"] {
            guard let number = Self.integer(value).flatMap(UInt16.init(exactly:)), number > 0 else {
                // The offset is that of the port in a proxy's URL. Here there is no URL, so it has no meaning.
                throw .malformedPort(offset: 0)
            }
            port = number
        }
        return ProxyServer(kind: kind, host: parsed.host, port: port, credentials: credentials)
    }

    /// Returns the user and password of these keys; nil if there is no user.
    private func credentials(user userKey: String, password passwordKey: String) -> ProxyServer.Credentials? {
        guard let user = values[userKey] as? String, !user.isEmpty else { return nil }
        let password = values[passwordKey] as? String ?? ""
        return ProxyServer.Credentials(user: Array(user.utf8), password: Array(password.utf8))
    }

    /// Returns whether the value of a key is true or a number other than zero.
    private func isOn(_ key: String) -> Bool { values[key].flatMap(Self.integer) ?? 0 != 0 }

    /// Converts a Boolean, a number or a text to an integer; returns nil for any other value.
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
