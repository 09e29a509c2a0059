// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

struct RouteURLTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let url: String
        var host = "h"
        var port: UInt16 = 80
        var field = "h"
        var target = "/"
        var scheme = Origin.Scheme.http
        var isWebSocket = false
        var testDescription: String { url }

        static let all: [Row] = [
            Row(url: "http://h"),
            Row(url: "HTTP://H/"),
            Row(url: "http://h?x=1", target: "/?x=1"),
            Row(url: "http://h/?", target: "/?"),
            Row(url: "http://h/a%2Fb/../%7Ec;p=1//?q=%zz&[]", target: "/a%2Fb/../%7Ec;p=1//?q=%25zz&%5B%5D"),
            Row(url: "http://h/A%c3%a4?B%C3%A4=+%20#frag?ment", target: "/A%c3%a4?B%C3%A4=+%20"),
            Row(url: "http://h#f"),
            Row(url: "http://h:8080/p", port: 8_080, field: "h:8080", target: "/p"),
            Row(url: "http://h:80/p", target: "/p"),
            Row(url: "https://h/p", port: 443, target: "/p", scheme: .https),
            Row(url: "https://h:80/p", port: 80, field: "h:80", target: "/p", scheme: .https),
            Row(url: "http://user:p%40ss@h/p", target: "/p"),
            Row(url: "http://user@h:81/p", port: 81, field: "h:81", target: "/p"),
            Row(url: "http://h/p@q", target: "/p@q"),
            Row(url: "http://[::1]:81/", host: "::1", port: 81, field: "[::1]:81"),
            Row(url: "http://[fe80::1%25eth0]/", host: "fe80::1%eth0", field: "[fe80::1]"),
            Row(
                url: "http://bücher.example/ä", host: "xn--bcher-kva.example", field: "xn--bcher-kva.example",
                target: "/%C3%A4"),
            Row(
                url: "http://b%C3%BCcher.example:81/", host: "xn--bcher-kva.example", port: 81,
                field: "xn--bcher-kva.example:81"),
            Row(url: "ws://h/chat?x", target: "/chat?x", isWebSocket: true),
            Row(url: "wss://h", port: 443, scheme: .https, isWebSocket: true),
        ]
    }

    @Test(
        "[U-9.2] path and query are sent unchanged, user and fragment never, names in ASCII",
        arguments: Row.all)
    func addresses(_ row: Row) throws {
        let url = try #require(URL(string: row.url))
        let place = try RouteURL(url, isWebSocket: row.isWebSocket)
        #expect(place.target == row.target)
        let server = place.server
        #expect(server.host == row.host && server.port == row.port && server.scheme == row.scheme)
        #expect(server.hostField == row.field)
        // A server that is known already is reused, and only the target is parsed again.
        let reparsed = try RouteURL(url, isWebSocket: row.isWebSocket) {
            server.hasSpelling($0) ? server : nil
        }
        #expect(reparsed.target == row.target)
        #expect((reparsed.server === server) == !row.url.contains("user"))
    }

    @Test("a known server is used for URLs of the same spelling only")
    func known() throws {
        let known = try RouteURL(#require(URL(string: "http://h:81/x")), isWebSocket: false).server
        let rows = [
            ("http://h:81", true), ("http://h:81/", true), ("http://h:81/x?y#z", true),
            ("http://h:81?q", true),
            ("http://h:81#f", true), ("http://h:8", false), ("http://h:811/", false),
            ("http://H:81/", false),
            ("http://g:81/", false), ("https://h:81/", false), ("http://u@h:81/", false),
            ("http://h/", false),
        ]
        for (text, isKnown) in rows {
            let place = try RouteURL(#require(URL(string: text)), isWebSocket: false) {
                known.hasSpelling($0) ? known : nil
            }
            let alone = try RouteURL(#require(URL(string: text)), isWebSocket: false)
            #expect((place.server === known) == isKnown, "\(text)")
            #expect(place.target == alone.target && place.server.port == alone.server.port, "\(text)")
        }
        #expect(throws: TransportError.self) {
            try RouteURL(#require(URL(string: "http://h:81/x")), isWebSocket: true) { _ in known }
        }
        let named = try RouteURL(#require(URL(string: "http://user:secret@h/")), isWebSocket: false).server
        #expect(named.spelling.isEmpty, "what names a user is not kept")
    }

    @Test("the table of servers has a limit, and is emptied when it is reached")
    func table() throws {
        let table = RouteTable()
        func server(_ number: Int) throws -> RouteServer {
            try RouteURL(#require(URL(string: "http://h:\(number)/")), isWebSocket: false).server
        }
        func spelling(_ number: Int) -> [UInt8] { Array("http://h:\(number)".utf8) }
        for number in 1...RouteTable.maxServers + 1 {
            table.insert(.init(server: try server(number), origin: nil, sessionFields: nil))
            #expect(table.entry(spelled: spelling(number).span) != nil)
            #expect((table.entry(spelled: spelling(1).span) != nil) == (number <= RouteTable.maxServers))
        }
        table.insert(
            .init(
                server: try RouteURL(#require(URL(string: "http://u@h/")), isWebSocket: false).server,
                origin: nil, sessionFields: nil))
        #expect(table.entry(spelled: [UInt8]().span) == nil)
        for (length, isKept) in [(1_000, true), (1_100, false)] {
            let beginning = "http://h:" + String(repeating: "0", count: length)
            let long = try RouteURL(#require(URL(string: beginning + "80/")), isWebSocket: false).server
            table.insert(.init(server: long, origin: nil, sessionFields: nil))
            #expect((table.entry(spelled: Array((beginning + "80").utf8).span) != nil) == isKept)
        }
    }

    @Test("[U-16.3] a URL without a route is an error with its reason")
    func refusals() throws {
        let rows: [(String, Bool, TransportURLError)] = [
            ("ftp://h/", false, .unsupportedScheme("ftp")), ("ws://h/", false, .unsupportedScheme("ws")),
            ("http://h/", true, .unsupportedScheme("http")), ("http:///p", false, .emptyHost(offset: 7)),
            ("http:foo", false, .missingAuthority(offset: 5)), ("relative", false, .missingScheme),
            ("http://1.2.3.4:99999/", false, .malformedPort(offset: 15)),
            ("http://a%2Fb/", false, .percentEncodedHost(offset: 8)),
        ]
        for (text, isWebSocket, error) in rows {
            let url = try #require(URL(string: text))
            #expect(throws: TransportError.url(error), "\(text)") {
                try RouteURL(url, isWebSocket: isWebSocket)
            }
        }
    }
}
