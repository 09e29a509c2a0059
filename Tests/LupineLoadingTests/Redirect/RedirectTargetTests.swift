// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

struct RedirectTargetTests {
    /// RFC 3986 §5.4.1 and §5.4.2, under `http://a/b/c/d;p?q`; the strict reading of `http:g`.
    static let examples = [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
    ]

    @Test("[U-10.2] a reference is resolved as in RFC 3986", arguments: examples)
    func examplesOfTheRFC(reference: String, expected: String) {
        let base = URIReference(Array("http://a/b/c/d;p?q".utf8))
        #expect(RedirectTarget.resolve(Array(reference.utf8), against: base).text == expected)
    }

    static let targets: [(summary: String, location: String, expected: String)] = [
        ("[U-10.2] relative", "g?x=1", "http://h/a/g?x=1"),
        ("[U-10.2] a host alone", "//other", "http://other"),
        ("[U-10.2] its own fragment", "/x#y", "http://h/x#y"),
        ("[U-10.1] blanks inside", "/a b?c d", "http://h/a%20b?c%20d"),
        ("[U-10.1] blanks around", "  /x\t", "http://h/x"),
        ("[U-10.1] UTF-8", "/\u{fc}?\u{df}", "http://h/%C3%BC?%C3%9F"),
        ("[U-10.1] escaped already", "/a%20b%2f", "http://h/a%20b%2f"),
        ("[U-10.1] a percent sign alone", "/100%", "http://h/100%25"),
        ("[U-10.1] a percent sign before letters", "/%zz%4", "http://h/%25zz%254"),
        ("[U-10.1] octets that no URL may contain", "/<a>|\"^`{}\\", "http://h/%3Ca%3E%7C%22%5E%60%7B%7D%5C"),
        ("[U-10.1] brackets in a query", "/x?a[]=1", "http://h/x?a%5B%5D=1"),
        ("[U-10.2] a name that is not ASCII", "http://b\u{fc}cher.example/", "http://xn--bcher-kva.example/"),
        ("[U-10.2] capitals", "HTTPS://HOST/P", "https://host/P"),
        ("[U-10.2] an address", "http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("[U-10.2] an empty port", "http://g:/x", "http://g/x"),
    ]

    @Test(arguments: targets)
    func resolvedLocations(summary: String, location: String, expected: String) throws {
        let base = try #require(URL(string: "http://h/a/b?q"))
        let target = try RedirectTarget(location, from: base, isWebSocket: false)
        #expect(target.url.absoluteString == expected, "\(summary)")
        #expect(target.credential == nil)
    }

    static let failures: [(location: String, failure: RedirectTarget.Failure)] = [
        ("http://", .unreadable), ("http:///x", .unreadable), ("http:g", .unreadable),
        ("http://h:port/", .unreadable), ("http://h:65536/", .unreadable), ("http://[::1", .unreadable),
        ("http://[v1.x]/", .unreadable), ("http://a b/", .unreadable), ("http://a%20b/", .unreadable),
        ("//", .unreadable), ("http://user@/", .unreadable), ("http://a<b/", .unreadable),
        ("file:///etc/passwd", .unsupportedScheme("file")), ("data:,x", .unsupportedScheme("data")),
        ("ws://h/", .unsupportedScheme("ws")), ("ftp://h/", .unsupportedScheme("ftp")),
        ("JavaScript:alert(1)", .unsupportedScheme("javascript")), ("x:", .unsupportedScheme("x")),
    ]

    @Test("[U-10.1, U-10.3] targets that are not followed", arguments: failures)
    func invalidTargets(location: String, failure: RedirectTarget.Failure) throws {
        let base = try #require(URL(string: "http://h/a/b?q"))
        #expect(throws: failure) { try RedirectTarget(location, from: base, isWebSocket: false) }
    }

    @Test("[U-10.3, U-8.1] a WebSocket's targets are ws and wss")
    func webSockets() throws {
        let base = try #require(URL(string: "ws://h/a"))
        for (location, expected) in [
            ("http://g/x", "ws://g/x"), ("https://g/x", "wss://g/x"), ("ws://g/x", "ws://g/x"),
            ("wss://g/x", "wss://g/x"), ("/y", "ws://h/y"),
        ] {
            let target = try RedirectTarget(location, from: base, isWebSocket: true)
            #expect(target.url.absoluteString == expected)
        }
        #expect(throws: RedirectTarget.Failure.unsupportedScheme("file")) {
            try RedirectTarget("file:///x", from: base, isWebSocket: true)
        }
    }

    @Test("[U-10.2] a user in the target becomes the proposed credential, and is removed from the URL")
    func users() throws {
        let base = try #require(URL(string: "http://h/a"))
        for (location, user, password) in [
            ("http://me:se%63ret@g/x", "me", "secret"), ("//me:@g/x", "me", ""),
            ("//a%40b:c:d@g/x", "a@b", "c:d"),
            ("//a@b:c@g/x", "a@b", "c"), ("//me@g/x", "me", ""),
        ] {
            let target = try RedirectTarget(location, from: base, isWebSocket: false)
            #expect(target.url.absoluteString == "http://g/x")
            #expect(target.credential?.user == user && target.credential?.password == password)
        }
        #expect(try RedirectTarget("//@g/x", from: base, isWebSocket: false).credential == nil)
    }
}
