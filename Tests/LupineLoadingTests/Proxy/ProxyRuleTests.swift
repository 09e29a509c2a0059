// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

struct ProxyRuleTests {
    private func rule(
        _ dictionary: [AnyHashable: Any]?, environment: [String: String] = [:]
    ) throws -> ProxyRule {
        try ProxyRule(session: dictionary) { environment[$0] }
    }

    private static let environment = [
        "http_proxy": "http://user:p%40ss@web.example:3128", "HTTP_PROXY": "http://evil.example",
        "HTTPS_PROXY": "secure.example", "all_proxy": "socks5://socks.example",
        "no_proxy": "none.example, .dot.example,10.0.0.0/8,port.example:81",
    ]

    @Test("[U-15.1] nil uses the environment, an empty dictionary no proxy")
    func sources() throws {
        let rule = try rule(nil, environment: Self.environment)
        #expect(rule.proxy(for: .http, host: "a.example", port: 80)?.host == "web.example")
        #expect(rule.proxy(for: .https, host: "a.example", port: 443)?.host == "secure.example")
        let direct = try self.rule([:], environment: Self.environment)
        #expect(direct.proxy(for: .http, host: "a.example", port: 80) == nil)
        #expect(direct.proxy(for: .https, host: "a.example", port: 443) == nil)
        let upper = try self.rule(nil, environment: ["HTTP_PROXY": "evil.example"])
        #expect(upper.proxy(for: .http, host: "a.example", port: 80) == nil, "lower case only")
        let all = try self.rule(nil, environment: ["ALL_PROXY": "socks5h://s.example"])
        #expect(all.proxy(for: .http, host: "a", port: 80)?.kind == .socks5)
        #expect(all.proxy(for: .https, host: "a", port: 443)?.port == 1_080)
    }

    @Test("`proxies` in the form of variables replaces both, loopback included")
    func named() throws {
        let rule = try ProxyRule(
            session: ["HTTPEnable": 1, "HTTPProxy": "unused.example"],
            named: ["all_proxy": "https://p.example:8443", "no_proxy": "none.example"]
        ) { Self.environment[$0] }
        #expect(rule.proxy(for: .http, host: "127.0.0.1", port: 80)?.host == "p.example")
        #expect(rule.proxy(for: .https, host: "a.example", port: 443)?.port == 8443)
        #expect(rule.proxy(for: .http, host: "none.example", port: 80) == nil)
        let none = try ProxyRule(session: nil, named: [:]) { Self.environment[$0] }
        #expect(none.proxy(for: .http, host: "a.example", port: 80) == nil)
    }

    @Test("[U-15.2] values have a scheme, credentials and a port, or the defaults")
    func values() throws {
        let rows: [(String, ProxyServer)] = [
            ("p", ProxyServer(kind: .http, host: "p", port: 80)),
            ("http://p:1/", ProxyServer(kind: .http, host: "p", port: 1)),
            ("https://p", ProxyServer(kind: .https, host: "p", port: 443)),
            ("socks5://p", ProxyServer(kind: .socks5, host: "p", port: 1_080)),
            ("socks5h://p", ProxyServer(kind: .socks5, host: "p", port: 1_080)),
            (
                "u:p%40@p",
                ProxyServer(
                    kind: .http, host: "p", port: 80,
                    credentials: .init(user: Array("u".utf8), password: Array("p@".utf8)))
            ),
        ]
        for (text, server) in rows {
            let rule = try rule(nil, environment: ["http_proxy": text])
            #expect(rule.proxy(for: .http, host: "a.example", port: 80) == server, "\(text)")
        }
        #expect(throws: ProxyURLError.unsupportedScheme("quic")) {
            try self.rule(nil, environment: ["http_proxy": "quic://p"])
        }
    }

    @Test("[U-15.2] no_proxy hosts and loopback bypass the environment's proxy")
    func bypasses() throws {
        let rule = try rule(nil, environment: Self.environment)
        for host in [
            "none.example", "sub.none.example", "dot.example", "a.dot.example", "10.1.2.3", "localhost",
            "api.localhost", "127.0.0.1", "127.9.9.9", "::1", "NONE.example",
        ] {
            #expect(rule.proxy(for: .http, host: host, port: 80) == nil, "\(host)")
        }
        for host in ["nonenone.example", "11.1.2.3", "port.example", "localhost.example", "::2"] {
            #expect(rule.proxy(for: .http, host: host, port: 80) != nil, "\(host)")
        }
        #expect(rule.proxy(for: .http, host: "port.example", port: 81) == nil)
        let everything = try self.rule(nil, environment: ["http_proxy": "p", "NO_PROXY": "*"])
        #expect(everything.proxy(for: .http, host: "a", port: 80) == nil)
        let configured = try self.rule(["HTTPEnable": 1, "HTTPProxy": "p"])
        #expect(configured.proxy(for: .http, host: "localhost", port: 80) != nil)
    }

    @Test("[U-15.1] the dictionary names proxies by scheme, with credentials and exceptions")
    func dictionary() throws {
        let rule = try rule([
            "HTTPEnable": 1, "HTTPProxy": "web.example", "HTTPPort": 3_128,
            "HTTPSEnable": true, "HTTPSProxy": "::1", "HTTPSPort": "8443",
            "kCFProxyUsernameKey": "u", "kCFProxyPasswordKey": "p",
            "ExceptionsList": ["*.local", "192.168.0.0/16"], "ExcludeSimpleHostnames": 1,
            "ProxyAutoConfigEnable": 1, "ProxyAutoConfigURLString": "http://pac.example/", 7: "seven",
        ])
        let credentials = ProxyServer.Credentials(user: Array("u".utf8), password: Array("p".utf8))
        #expect(
            rule.proxy(for: .http, host: "a.example", port: 80)
                == ProxyServer(kind: .http, host: "web.example", port: 3_128, credentials: credentials))
        #expect(
            rule.proxy(for: .https, host: "a.example", port: 443)
                == ProxyServer(kind: .http, host: "::1", port: 8_443, credentials: credentials))
        for host in ["printer.local", "192.168.3.4", "simple"] {
            #expect(rule.proxy(for: .http, host: host, port: 80) == nil, "\(host)")
        }
        #expect(rule.proxy(for: .http, host: "2001:db8::1", port: 80) != nil, "an address is no simple name")
    }

    @Test("[U-15.1] a disabled or unnamed proxy is not used, and SOCKS replaces it")
    func socksAndSwitches() throws {
        let off = try rule(["HTTPEnable": 0, "HTTPProxy": "web.example", "HTTPSProxy": "secure.example"])
        #expect(off.proxy(for: .http, host: "a.example", port: 80) == nil)
        #expect(off.proxy(for: .https, host: "a.example", port: 443) == nil)
        let socks = try rule([
            "SOCKSEnable": 1, "SOCKSProxy": "s.example", "SOCKSUser": "u", "SOCKSPassword": "p",
            "HTTPEnable": 1, "HTTPProxy": "web.example",
        ])
        #expect(socks.proxy(for: .http, host: "a.example", port: 80)?.kind == .http)
        let server = socks.proxy(for: .https, host: "a.example", port: 443)
        #expect(server?.kind == .socks5 && server?.port == 1_080)
        #expect(server?.credentials?.user == Array("u".utf8))
        #expect(throws: ProxyURLError.malformedPort(offset: 0)) {
            try self.rule(["HTTPEnable": 1, "HTTPProxy": "p", "HTTPPort": 70_000])
        }
        #expect(throws: (any Error).self) { try self.rule(["HTTPEnable": 1, "HTTPProxy": "a b"]) }
    }
}
