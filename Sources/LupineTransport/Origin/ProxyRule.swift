// SPDX-License-Identifier: MIT

/// Selects the proxy, if any, for an origin.
///
/// A rule is created from a configuration or from environment variables. It opens no connections.
package struct ProxyRule: Hashable, Sendable {
    /// The proxy for `http` origins.
    package var http: ProxyServer?
    /// The proxy for `https` origins.
    package var https: ProxyServer?
    /// The origins that are reached directly.
    package var bypass: NoProxyList
    /// Whether this machine's own names and addresses are reached directly.
    package var bypassesLoopback: Bool
    /// Whether names without a dot are reached directly.
    package var bypassesSimpleNames: Bool

    /// Creates a rule with the proxies and exceptions of a configuration.
    package init(
        http: ProxyServer? = nil, https: ProxyServer? = nil, bypass: NoProxyList = NoProxyList(""),
        bypassesLoopback: Bool = false, bypassesSimpleNames: Bool = false
    ) {
        self.http = http
        self.https = https
        self.bypass = bypass
        self.bypassesLoopback = bypassesLoopback
        self.bypassesSimpleNames = bypassesSimpleNames
    }

    /// The rule by which all origins are reached directly.
    package static let direct = ProxyRule()

    /// Reads the environment variables that curl reads: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy` and their upper-case
    /// variants. `HTTP_PROXY` is not among them: in a CGI program it holds the client's `Proxy` field (httpoxy, CVE-2016-5385).
    /// An empty variable counts as not set.
    ///
    /// - Parameter variable: Returns the value of an environment variable.
    /// - Throws: The error of the first variable that names an unusable proxy.
    package init(environment variable: (String) -> String?) throws(ProxyURLError) {
        func firstValue(of names: String...) -> String? {
            for name in names {
                if let value = variable(name), !value.isEmpty { return value }
            }
            return nil
        }
        func server(_ text: String?) throws(ProxyURLError) -> ProxyServer? {
            guard let text else { return nil }
            return try ProxyServer(url: text)
        }
        http = try server(firstValue(of: "http_proxy", "all_proxy", "ALL_PROXY"))
        https = try server(firstValue(of: "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"))
        bypass = NoProxyList(firstValue(of: "no_proxy", "NO_PROXY") ?? "")
        bypassesLoopback = false
        bypassesSimpleNames = false
    }

    /// Whether the rule has a proxy for any origin.
    package var hasServer: Bool { http != nil || https != nil }

    /// Returns the proxy for an origin, or `nil` if it is reached directly.
    package func proxy(for scheme: Origin.Scheme, host: String, port: UInt16) -> ProxyServer? {
        let server =
            switch scheme {
            case .http: http
            case .https: https
            }
        guard let server, !bypass.matches(host: host, port: port) else { return nil }
        if bypassesLoopback, Self.loopback.matches(host: host, port: port) { return nil }
        // A simple name contains no dot (0x2E) and is not an IPv6 address.
        if bypassesSimpleNames, !host.utf8.contains(0x2E), IPAddress(host) == nil { return nil }
        return server
    }

    /// This machine's own names and addresses.
    private static let loopback = NoProxyList("localhost,127.0.0.0/8,::1")
}
