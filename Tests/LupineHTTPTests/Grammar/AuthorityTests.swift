// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

@Suite struct AuthorityTests {
    struct Row: Sendable, CustomStringConvertible {
        let host: String
        let port: UInt16
        var defaultPort: UInt16?
        /// `host` without brackets.
        let bare: String
        /// The value of the Host field.
        let field: String
        /// The target of a CONNECT request.
        let target: String
        var description: String { host }
    }

    @Test(arguments: [
        Row(
            host: "example.com", port: 80, defaultPort: 80, bare: "example.com", field: "example.com",
            target: "example.com:80"),
        Row(
            host: "example.com", port: 443, defaultPort: 80, bare: "example.com", field: "example.com:443",
            target: "example.com:443"),
        Row(host: "a", port: 80, bare: "a", field: "a:80", target: "a:80"),
        Row(
            host: "127.0.0.1", port: 8080, defaultPort: 80, bare: "127.0.0.1", field: "127.0.0.1:8080",
            target: "127.0.0.1:8080"),
        Row(host: "::1", port: 443, defaultPort: 443, bare: "::1", field: "[::1]", target: "[::1]:443"),
        Row(
            host: "[::1]", port: 8443, defaultPort: 443, bare: "::1", field: "[::1]:8443",
            target: "[::1]:8443"),
        Row(
            host: "::ffff:1.2.3.4", port: 80, defaultPort: 80, bare: "::ffff:1.2.3.4",
            field: "[::ffff:1.2.3.4]", target: "[::ffff:1.2.3.4]:80"),
        Row(
            host: "fe80::1%eth0", port: 80, defaultPort: 80, bare: "fe80::1%eth0", field: "[fe80::1]",
            target: "[fe80::1]:80"),
        Row(host: "a%20b", port: 1, bare: "a%20b", field: "a%20b:1", target: "a%20b:1"),
    ])
    func bracketsDefaultPortsAndZones(_ row: Row) throws {
        let authority = try Authority(host: row.host, port: row.port, defaultPort: row.defaultPort)
        #expect(authority.host == row.bare)
        #expect(authority.description == row.field)
        #expect(RequestTarget.authority(authority).description == row.target)
        let isHostField = Authority.isHostField(authority.description.utf8.span)
        #expect(isHostField)
        #expect(try RequestTarget.parse(row.target, method: .connect).description == row.target)
    }

    @Test(arguments: [
        "", "a b", "a/b", "a@b", "a\r\nb", "a\0", "a\n", "ä.example", "[::1", "::1]", "[]", "[a]", "a:80",
        "a:b:c",
        "::1%", "::1%a/b", "[::1]]", "::g", "a?b", "a#b", "a\\b", "<a>",
    ])
    func malformedHostsAreRefused(_ host: String) {
        #expect(throws: HTTPError.invalidAuthority(Excerpt(host))) { try Authority(host: host, port: 80) }
    }

    @Test("a Host value is empty, or a host with an optional port")
    func hostFields() {
        let valid = [
            "", "a", "a:", "a:0", "a:65535", "1.2.3.4:80", "[::1]", "[::1]:", "[::1]:8080", "a%20b:1",
            "_!$&'()*+,;=~",
        ]
        let invalid = [
            ":", ":80", "a:65536", "a:000080", "a:8x", "a:-1", "a: 1", "a:1:2", "a b", "a/", "a@b", "[", "[]",
            "[::1",
            "[::1]x", "[::1]:x", "[::1]]", "[a]", "::1", "\u{E9}", "a\u{0}", "a\r\nb",
        ]
        for (values, expected) in [(valid, true), (invalid, false)] {
            for value in values {
                let isHostField = Authority.isHostField(value.utf8.span)
                #expect(isHostField == expected, "\(value.debugDescription)")
            }
        }
    }
}
