// SPDX-License-Identifier: MIT

import LupineHTTP
import Testing

@testable import LupineTransport

/// The rules of redirects: which of them leave the origin, and which fields and certificates may follow.
@Suite struct RedirectMoveTests {
    static let moves: [(from: String, to: String, move: RedirectMove)] = [
        ("http://h/a", "http://h/b", .withinOrigin), ("http://h/", "http://H:80/", .withinOrigin),
        ("https://h/", "https://h:443/", .withinOrigin), ("http://[::1]/", "http://[::1]:80/", .withinOrigin),
        ("http+unix://%2Fa/x", "http+unix://%2Fa/y", .withinOrigin),
        ("http://h/", "http://g/", .toOtherOrigin), ("http://h/", "http://x.h/", .toOtherOrigin),
        ("http://h/", "http://h./", .toOtherOrigin), ("http://h/", "http://h:81/", .toOtherOrigin),
        ("http://h/", "https://h/", .toOtherOrigin), ("http://h:443/", "https://h/", .toOtherOrigin),
        ("https://h/", "https://g/", .toOtherOrigin), ("https://h/", "https://h:444/", .toOtherOrigin),
        ("http://[fe80::1%25a]/", "http://[fe80::1%25b]/", .toOtherOrigin),
        ("http+unix://%2Fa/", "http+unix://%2Fb/", .toOtherOrigin),
        ("http+unix://%2Fa/", "https://localhost/", .toOtherOrigin),
        ("https://h/", "http://h/", .toInsecureOrigin), ("https://h:80/", "http://h/", .toInsecureOrigin),
        ("https://h/", "http://g/", .toInsecureOrigin),
        ("http+unix://%2Fa/", "http://localhost/", .toInsecureOrigin),
    ]

    @Test("[U-10.5] the kind of move that a redirect makes", arguments: moves)
    func move(from: String, to: String, move: RedirectMove) throws {
        let (from, to) = (WebOrigin(try TransportURL(from)), WebOrigin(try TransportURL(to)))
        #expect(RedirectMove(from: from, to: to) == move)
    }

    @Test("[U-10.5] a URL without an http or https origin is another origin")
    func withoutWebOrigin() {
        let (plain, secure) = (
            WebOrigin(isSecure: false, host: "h", port: 80), WebOrigin(isSecure: true, host: "h", port: 443)
        )
        #expect(RedirectMove(from: nil, to: nil) == .toOtherOrigin)
        #expect(RedirectMove(from: nil, to: secure) == .toOtherOrigin)
        #expect(RedirectMove(from: plain, to: nil) == .toOtherOrigin)
        #expect(RedirectMove(from: secure, to: nil) == .toInsecureOrigin)
    }

    struct Row: Sendable {
        let names: [String]
        var value = "v"
        let atOtherOrigin: RedirectMove.FieldTreatment
        let inTheClear: RedirectMove.FieldTreatment
    }

    static let rows =
        [
            Row(
                names: [
                    "Authorization", "COOKIE", "cookie2", "Proxy-Authorization", "Host", "X-Api-Key",
                    "x-auth-token", "Api-Key", "ACCEPT-OWN",
                ], atOtherOrigin: .removed, inTheClear: .removed),
            Row(
                names: [
                    "X-Mine", "From", "Via", "Accepted", "Contents", "If", "Ranges", "User-Agents",
                    "Sec-WebSocket-Protocol", "Transfer-Encoding", "Forwarded",
                ], atOtherOrigin: .kept, inTheClear: .removed),
            Row(
                names: [
                    "Accept", "ACCEPT-LANGUAGE", "Accept-Encoding", "Content-Type", "content-own",
                    "User-Agent",
                    "Range", "If-Match", "if-range",
                ], atOtherOrigin: .kept, inTheClear: .kept),
            Row(names: ["Origin", "ORIGIN"], atOtherOrigin: .rewritten("null"), inTheClear: .removed),
        ]
        + [
            ("https://r/", "https://r/"), ("https://r", "https://r/"), ("HTTP://R:1/x?y#z", "http://R:1/"),
            ("https://u:p@r:2?y", "https://r:2/"), ("https://u@p@r#z", "https://r/"),
            ("http://r\\@g/", "http://r/"), ("https://[::1]:3/x", "https://[::1]:3/"), ("/x", nil), ("", nil),
            ("about:blank", nil), ("https:/r/", nil), ("https:///x", nil), ("https://u@/x", nil),
            ("file://r/x", nil), ("x", nil),
        ].map { value, reduced in
            Row(
                names: ["Referer"], value: value, atOtherOrigin: reduced.map { .rewritten($0) } ?? .removed,
                inTheClear: .removed)
        }

    @Test("[U-10.5] which fields follow a redirect", arguments: rows)
    func treatment(_ row: Row) throws {
        let sensitive = RedirectMove.names(RedirectMove.sensitiveByDefault.union(["Accept-Own", "no name"]))
        for text in row.names {
            let name = try FieldName(text)
            func treatment(_ move: RedirectMove) -> RedirectMove.FieldTreatment {
                move.treatment(of: name, row.value, sensitive: sensitive)
            }
            #expect(treatment(.withinOrigin) == .kept, "\(text)")
            #expect(treatment(.toOtherOrigin) == row.atOtherOrigin, "\(text) \(row.value)")
            #expect(treatment(.toInsecureOrigin) == row.inTheClear, "\(text) \(row.value)")
        }
    }

    @Test("[U-10.5] the fields that are sensitive by default are names, and none of them is harmless")
    func defaults() throws {
        #expect(
            RedirectMove.names(RedirectMove.sensitiveByDefault).count == RedirectMove.sensitiveByDefault.count
        )
        for text in RedirectMove.sensitiveByDefault {
            let name = try FieldName(text)
            let move = RedirectMove.toInsecureOrigin
            #expect(move.treatment(of: name, "v", sensitive: []) == .removed, "\(text)")
        }
    }

    static let identities: [(named: Set<HTTPClient.HostAndPort>?, host: String, moves: [Bool])] = [
        (nil, "h", [true, false, false]), ([], "h", [false, false, false]),
        ([.init(host: "H", port: 443)], "h", [true, true, true]),
        ([.init(host: "h", port: 444)], "h", [false, false, false]),
        ([.init(host: "g", port: 443)], "h", [false, false, false]),
        ([.init(host: "*", port: 443)], "h", [true, true, true]),
        ([.init(host: "::1", port: 443)], "::1", [true, true, true]),
        ([.init(host: "[::1]", port: 443)], "::1", [true, true, true]),
    ]

    @Test("[U-10.5] the hosts to which an identity may be presented", arguments: identities)
    func identity(named: Set<HTTPClient.HostAndPort>?, host: String, moves: [Bool]) {
        let answers = RedirectMove.allCases.map {
            HTTPClient.HostAndPort.mayPresentIdentity(to: host, 443, of: named, after: $0)
        }
        #expect(answers == moves)
    }
}
