// SPDX-License-Identifier: MIT
import Testing

@testable import LupineTransport

struct ProxyRuleTests {
    struct Bypass: CustomTestStringConvertible, Sendable {
        var list: String
        var host: String
        var port: UInt16 = 80
        var isMatched: Bool
        var testDescription: String { "\(list) and \(host):\(port)" }
    }

    @Test(arguments: [
        Bypass(list: "*", host: "anything", isMatched: true),
        Bypass(list: "", host: "a.test", isMatched: false),
        Bypass(list: " , ,", host: "a.test", isMatched: false),
        Bypass(list: "a.test", host: "a.test", isMatched: true),
        Bypass(list: "A.Test", host: "a.tEST", isMatched: true),
        Bypass(list: "a.test", host: "sub.a.test", isMatched: true),
        Bypass(list: "a.test", host: "xa.test", isMatched: false),
        Bypass(list: "a.test", host: "test", isMatched: false),
        Bypass(list: ".a.test", host: "sub.a.test", isMatched: true),
        Bypass(list: ".a.test", host: "a.test", isMatched: true),
        Bypass(list: "*.a.test", host: "x.a.test", isMatched: true),
        Bypass(list: "x.*", host: "x.a", isMatched: false),
        Bypass(list: "a.test.", host: "a.test", isMatched: true),
        Bypass(list: "a.test", host: "a.test.", isMatched: true),
        Bypass(list: "b.test a.test\tc.test", host: "c.test", isMatched: true),
        Bypass(list: "b.test,,a.test", host: "a.test", isMatched: true),
        Bypass(list: "a.test:8080", host: "a.test", port: 8080, isMatched: true),
        Bypass(list: "a.test:8080", host: "a.test", port: 80, isMatched: false),
        Bypass(list: "a.test:x", host: "a.test", isMatched: false),
        Bypass(list: "10.0.0.1", host: "10.0.0.1", isMatched: true),
        Bypass(list: "10.0.0.1:81", host: "10.0.0.1", port: 81, isMatched: true),
        Bypass(list: "10.0.0.1:81", host: "10.0.0.1", port: 82, isMatched: false),
        Bypass(list: "10.0.0.1", host: "10.0.0.2", isMatched: false),
        Bypass(list: "0.1", host: "10.0.0.1", isMatched: false),
        Bypass(list: "10.0.0.0/8", host: "10.255.3.4", isMatched: true),
        Bypass(list: "10.0.0.0/8", host: "11.0.0.0", isMatched: false),
        Bypass(list: "192.168.4.0/22", host: "192.168.7.255", isMatched: true),
        Bypass(list: "192.168.4.0/22", host: "192.168.8.0", isMatched: false),
        Bypass(list: "10.0.0.0/0", host: "1.2.3.4", isMatched: true),
        Bypass(list: "10.0.0.0/33", host: "10.0.0.0", isMatched: false),
        Bypass(list: "10.0.0.0/-1", host: "10.0.0.0", isMatched: false),
        Bypass(list: "10.0.0.0/8", host: "ten.test", isMatched: false),
        Bypass(list: "::1", host: "::1", isMatched: true),
        Bypass(list: "::1", host: "0:0:0:0:0:0:0:1", isMatched: true),
        Bypass(list: "[::1]", host: "::1", isMatched: true),
        Bypass(list: "[::1]:443", host: "::1", port: 443, isMatched: true),
        Bypass(list: "[::1]:443", host: "::1", port: 80, isMatched: false),
        Bypass(list: "fe80::/10", host: "febf::1", isMatched: true),
        Bypass(list: "fe80::/10", host: "fec0::1", isMatched: false),
        Bypass(list: "10.0.0.0/8", host: "::ffff:10.1.2.3", isMatched: true),
        Bypass(list: "::ffff:10.1.2.3", host: "10.1.2.3", isMatched: true),
        Bypass(list: "::/0", host: "10.1.2.3", isMatched: false),
    ])
    func bypass(_ row: Bypass) {
        #expect(NoProxyList(row.list).matches(host: row.host, port: row.port) == row.isMatched)
    }

    struct URLRow: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var server: ProxyServer?
        var error: ProxyURLError?
    }

    @Test(arguments: [
        URLRow(testDescription: "proxy", server: ProxyServer(kind: .http, host: "proxy", port: 80)),
        URLRow(testDescription: "proxy:3128", server: ProxyServer(kind: .http, host: "proxy", port: 3128)),
        URLRow(
            testDescription: "http://Proxy:3128/", server: ProxyServer(kind: .http, host: "proxy", port: 3128)
        ),
        URLRow(testDescription: "https://p", server: ProxyServer(kind: .https, host: "p", port: 443)),
        URLRow(testDescription: "SOCKS5://p", server: ProxyServer(kind: .socks5, host: "p", port: 1080)),
        URLRow(
            testDescription: "socks5h://[::1]:9", server: ProxyServer(kind: .socks5, host: "::1", port: 9)),
        URLRow(
            testDescription: "http://u%40x:p%3a%25@p:1",
            server: ProxyServer(
                kind: .http, host: "p", port: 1,
                credentials: .init(user: Array("u@x".utf8), password: Array("p:%".utf8)))),
        URLRow(
            testDescription: "u@p",
            server: ProxyServer(
                kind: .http, host: "p", port: 80, credentials: .init(user: Array("u".utf8), password: []))),
        URLRow(
            testDescription: "u:a:b@c@p",
            server: ProxyServer(
                kind: .http, host: "p", port: 80,
                credentials: .init(user: Array("u".utf8), password: Array("a:b@c".utf8)))),
        URLRow(testDescription: "socks4://p", error: .unsupportedScheme("socks4")),
        URLRow(testDescription: "", error: .emptyHost),
        URLRow(testDescription: "http://:80", error: .emptyHost),
        URLRow(testDescription: "http://p:0", error: .malformedPort(offset: 9)),
        URLRow(testDescription: "http://p:", error: .malformedPort(offset: 9)),
        URLRow(testDescription: "http://p:65536", error: .malformedPort(offset: 9)),
        URLRow(testDescription: "http://p:+1", error: .malformedPort(offset: 9)),
        URLRow(testDescription: "http://[::1", error: .malformedHost(offset: 7)),
        URLRow(testDescription: "http://[::1]x", error: .malformedHost(offset: 7)),
        URLRow(testDescription: "http://p%41", error: .malformedHost(offset: 8)),
        URLRow(testDescription: "http://%zz@p", error: .malformedPercentEncoding(offset: 7)),
        URLRow(testDescription: "http://p/x", error: .trailingText(offset: 8)),
        URLRow(testDescription: "http://p?", error: .trailingText(offset: 8)),
        URLRow(testDescription: "http://p q", error: .illegalByte(offset: 8)),
        URLRow(testDescription: "http://p\r\n", error: .illegalByte(offset: 8)),
    ])
    func proxyURL(_ row: URLRow) {
        var error: ProxyURLError?
        do throws(ProxyURLError) {
            let server = try ProxyServer(url: row.testDescription)
            #expect(server == row.server)
        } catch let caught { error = caught }
        #expect(error == row.error)
    }

    struct Environment: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var variables: [String: String]
        var http: String?
        var https: String?
    }

    @Test(arguments: [
        Environment(testDescription: "nothing set", variables: [:]),
        Environment(testDescription: "http alone", variables: ["http_proxy": "a"], http: "a"),
        Environment(testDescription: "httpoxy", variables: ["HTTP_PROXY": "evil", "REQUEST_METHOD": "GET"]),
        Environment(
            testDescription: "https_proxy precedes HTTPS_PROXY",
            variables: ["https_proxy": "a", "HTTPS_PROXY": "b"], https: "a"),
        Environment(testDescription: "https in upper case", variables: ["HTTPS_PROXY": "b"], https: "b"),
        Environment(
            testDescription: "all", variables: ["all_proxy": "c", "https_proxy": "a"], http: "c", https: "a"),
        Environment(
            testDescription: "all in upper case", variables: ["ALL_PROXY": "c"], http: "c", https: "c"),
        Environment(
            testDescription: "empty counts as not set", variables: ["http_proxy": "", "all_proxy": "c"],
            http: "c", https: "c"),
        Environment(
            testDescription: "listed in no_proxy", variables: ["all_proxy": "c", "no_proxy": "test"]),
        Environment(
            testDescription: "listed in NO_PROXY", variables: ["all_proxy": "c", "NO_PROXY": "a.test"]),
        Environment(
            testDescription: "no_proxy precedes NO_PROXY",
            variables: ["all_proxy": "c", "no_proxy": "b.test", "NO_PROXY": "*"], http: "c", https: "c"),
    ])
    func environment(_ row: Environment) throws {
        let rule = try ProxyRule(environment: { row.variables[$0] })
        #expect(rule.proxy(for: .http, host: "a.test", port: 80)?.host == row.http)
        #expect(rule.proxy(for: .https, host: "a.test", port: 443)?.host == row.https)
    }

    @Test func anUnusableVariableIsAnError() {
        #expect(throws: ProxyURLError.unsupportedScheme("ftp")) {
            _ = try ProxyRule(environment: { $0 == "https_proxy" ? "ftp://x" : nil })
        }
    }

    @Test func aProxysDescriptionLeavesOutItsPassword() throws {
        #expect(try ProxyServer(url: "socks5://u:secret@[::1]:9").description == "socks5h://[::1]:9")
    }
}
