// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineLoading

struct HTTPCookieTests {
    let url: URL
    let origin: CookieOrigin
    let now = Date(timeIntervalSince1970: 1_000_000_000)

    init() throws {
        url = try #require(URL(string: "https://www.Example.org/dir/sub/page?x"))
        origin = try #require(CookieOrigin(url))
    }

    func read(_ line: String) -> HTTPCookie? { SetCookieSyntax.cookie(line, from: origin, now: now) }

    static let folded: [(value: String, lines: [String])] = [
        ("a=1", ["a=1"]), ("a=1, b=2", ["a=1", "b=2"]), ("a=1,b=2,c=3", ["a=1", "b=2", "c=3"]),
        (
            "a=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT, b=2",
            ["a=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT", "b=2"]
        ),
        ("a=1,\nb=2", ["a=1", "b=2"]), ("a=1,\r\nb=2", ["a=1", "b=2"]), ("a=1,\r\n \tb=2", ["a=1", "b=2"]),
        ("a=1,\u{B}b=2,\u{C}c=3", ["a=1", "b=2", "c=3"]), ("a=1\r\n, b=2\n", ["a=1", "b=2"]),
        ("a=1,\u{A0}b=2,\u{2028}c=3,\u{85}d=4", ["a=1", "b=2", "c=3", "d=4"]),
        ("a=1,\u{301}b=2", ["a=1,\u{301}b=2"]), ("a=1,\n2", ["a=1,\n2"]), ("a=1\nb=2", ["a=1\nb=2"]),
        ("a=1,2, x", ["a=1,2, x"]), ("a=1,=2", ["a=1,=2"]), ("", [""]), (",", [","]), ("a=1,", ["a=1,"]),
    ]

    @Test("[U-13.1] a folded field is split where a cookie begins", arguments: folded)
    func foldedValuesAreSplit(value: String, lines: [String]) {
        #expect(SetCookieSyntax.lines(in: value) == lines)
    }

    @Test("[U-13.1] header fields in any case yield their cookies")
    func headerFieldsGiveCookies() throws {
        let fields = [
            "set-COOKIE": "a=1; Path=/, b=2; Expires=Fri, 01 Jan 2100 00:00:00 GMT,c=3", "X": "d=4",
        ]
        let cookies = HTTPCookie.cookies(withResponseHeaderFields: fields, for: url)
        #expect(cookies.map(\.name) == ["a", "b", "c"] && cookies.map(\.value) == ["1", "2", "3"])
        let folded = [
            "Set-Cookie":
                "a=1; Path=/;\r\n Secure,\r\n b=2; Expires=Fri, 01 Jan 2100 00:00:00 GMT,\n\tc=3\r\n"
        ]
        let unfolded = HTTPCookie.cookies(withResponseHeaderFields: folded, for: url)
        #expect(unfolded.map(\.name) == ["a", "b", "c"] && unfolded.map(\.value) == ["1", "2", "3"])
        #expect(unfolded.map(\.isSecure) == [true, false, false])
        #expect(unfolded.map(\.isSessionOnly) == [true, false, true])
        let path = try #require(URL(string: "data:,x"))
        #expect(HTTPCookie.cookies(withResponseHeaderFields: fields, for: path).isEmpty)
    }

    @Test("[U-13.1] many line breaks cost no more than other characters", .timeLimit(.minutes(10)))
    func lineBreaks() {
        let breaks = String(repeating: "\r\n", count: 300_000)
        for (text, names) in [
            (breaks + "\ta=1", ["a"]), ("a=1;" + breaks + " b", ["a"]), ("a=1;" + breaks + "b", []),
        ] {
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": text], for: url)
            #expect(cookies.map(\.name) == names)
        }
    }

    static let pairs: [(line: String, name: String?, value: String?)] = [
        ("a=b", "a", "b"), (" a = b ; Secure", "a", "b"), ("a=\"b c\"", "a", "\"b c\""),
        ("a=b=c==", "a", "b=c=="),
        ("a=", "a", ""), ("a=;", "a", ""), ("a", nil, nil), ("=b", nil, nil), ("", nil, nil),
        (";a=b", nil, nil),
        ("a=b\u{1}c", nil, nil), ("a\tb=c", nil, nil), ("a=b\u{7F}", nil, nil), ("a=b,c", "a", "b,c"),
        ("a=" + String(repeating: "x", count: 4_095), "a", String(repeating: "x", count: 4_095)),
        ("a=" + String(repeating: "x", count: 4_096), nil, nil),
    ]

    @Test("[U-13.2] name and value", arguments: pairs)
    func namesAndValues(line: String, name: String?, value: String?) {
        #expect(read(line)?.name == name)
        #expect(read(line)?.value == value)
    }

    @Test("[U-13.3] attributes in any case: the last of a kind wins, unknown ones are ignored")
    func attributes() throws {
        let cookie = try #require(
            read(
                "a=b; SECURE=false; httponly; Foo=bar; path=/x; Path=/y; Version=\"1\"; Comment=\"why\"; "
                    + "CommentURL=\"http://example.org/why\"; Port=\"80,443\"; domain=.a.example; DOMAIN=b.example"
            ))
        #expect(cookie.isSecure && cookie.isHTTPOnly)
        #expect(cookie.path == "/y" && cookie.domain == ".b.example")
        #expect(cookie.version == 1 && cookie.comment == "why")
        #expect(cookie.commentURL?.absoluteString == "http://example.org/why")
        #expect(cookie.portList == [80, 443])
        let bare = try #require(read("a=b; path=/x; domain=c.d; Path; Domain; Port=1,x"))
        #expect(bare.path == "/dir/sub" && bare.domain == "www.example.org" && bare.portList == nil)
        #expect(try #require(read("a=b; Max-Age=5; Discard")).isSessionOnly)
        #expect(!(try #require(read("a=b"))).isSecure)
    }

    @Test(
        "[U-13.2, U-13.3] a line with too many attributes is refused, and so is a list of too many ports"
    )
    func manyAttributes() throws {
        let most = String(repeating: "; x=y", count: 63)
        #expect(read("a=b" + most + "; Secure")?.isSecure == true)
        #expect(read("a=b" + most + "; x; Secure") == nil)
        let ports = (1...64).map(String.init).joined(separator: ",")
        #expect(read("a=b; Port=\"\(ports)\"")?.portList?.count == 64)
        let cookie = try #require(read("a=b; Port=\"\(ports),65\""))
        #expect(cookie.portList == nil)
    }

    static let ends: [(attributes: String, end: TimeInterval?)] = [
        ("Max-Age=10", 10), ("Max-Age=10; Expires=Fri, 01 Jan 2100 00:00:00 GMT", 10),
        ("Expires=Fri, 01 Jan 2100 00:00:00 GMT; max-age=10; Version=1", 10),
        ("Expires=Sun, 09 Sep 2001 01:46:50 GMT", 10), ("Expires=Sunday, 09-Sep-01 01:46:50 GMT", 10),
        ("Max-Age=x; Expires=Sun Sep  9 01:46:50 2001", 10), ("Max-Age=+5", nil), ("Max-Age=1.5", nil),
        ("Max-Age=", nil), ("Max-Age=-", nil), ("Expires=0", nil), ("Expires=tomorrow", nil), ("", nil),
        ("Expires=Sun Sep  9 01:46:50 2001; Expires=x", 10),
    ]

    @Test(
        "[U-13.4, U-13.5] Max-Age overrides Expires; without either it is a session cookie",
        arguments: ends)
    func endsAreRead(attributes: String, end: TimeInterval?) throws {
        let cookie = try #require(read("a=b; " + attributes))
        #expect(cookie.expiresDate == end.map { now.addingTimeInterval($0) })
        #expect(cookie.isSessionOnly == (end == nil))
    }

    @Test("[U-13.4] a Max-Age of zero or less expires at once, a huge one late")
    func extremeAges() throws {
        for age in ["0", "-1", "-99999999999999999999"] {
            #expect(try #require(read("a=b; Max-Age=\(age)")).expiresDate == .distantPast)
        }
        #expect(
            try #require(read("a=b; Max-Age=99999999999999999999999")).expiresDate == .distantFuture)
    }

    static let domains: [(attribute: String, domain: String)] = [
        ("Example.ORG", ".example.org"), (".example.org", ".example.org"), ("", "www.example.org"),
        (".", "www.example.org"), ("192.0.2.1", "192.0.2.1"), ("other.net", ".other.net"),
        ("xn--bcher-kva.example", ".xn--bcher-kva.example"), ("::1", "::1"),
    ]

    @Test(
        "[U-13.6] a Domain attribute gets a dot; IP addresses and single labels get none",
        arguments: domains)
    func domainsAreRead(attribute: String, domain: String) {
        #expect(read("a=b; Domain=\(attribute)")?.domain == domain)
    }

    static let defaults: [(url: String, path: String)] = [
        ("http://h", "/"), ("http://h/", "/"), ("http://h/a", "/"), ("http://h/a/", "/a"),
        ("http://h/a/b", "/a"),
        ("http://h/a/b?c=/d/e", "/a"), ("http://h/%2F/a", "/%2F"),
    ]

    @Test("[U-13.8] a path that does not start with a slash is the default path", arguments: defaults)
    func defaultPaths(url: String, path: String) throws {
        let origin = try #require(URL(string: url).flatMap { CookieOrigin($0) })
        for line in ["a=b", "a=b; Path=", "a=b; Path=x/y", "a=b; Path"] {
            #expect(SetCookieSyntax.cookie(line, from: origin, now: now)?.path == path)
        }
        #expect(SetCookieSyntax.cookie("a=b; Path=/z", from: origin, now: now)?.path == "/z")
    }

    @Test("[U-13.9] a known SameSite value is stored")
    func sameSite() {
        #expect(read("a=b; SameSite=STRICT")?.sameSitePolicy == .sameSiteStrict)
        #expect(read("a=b; SameSite=lax")?.sameSitePolicy == .sameSiteLax)
        #expect(read("a=b; SameSite=None; Secure")?.sameSitePolicy == .sameSiteNone)
        #expect(read("a=b; SameSite=Odd")?.sameSitePolicy == nil)
        #expect(read("a=b")?.sameSitePolicy == nil)
    }

    @Test func aRequestFieldListsThePairs() throws {
        let cookies = [try #require(read("a=b")), try #require(read("c=\"d e\""))]
        #expect(HTTPCookie.requestHeaderFields(with: cookies) == ["Cookie": "a=b; c=\"d e\""])
        #expect(HTTPCookie.requestHeaderFields(with: []).isEmpty)
        #expect(!cookies[1].description.contains("d e"))
    }

    // MARK: properties

    static let needed: [HTTPCookiePropertyKey: String] = [
        .name: "n", .value: "v", .path: "/p", .domain: "Example.ORG",
    ]

    @Test("[U-13.16] the properties need name, value, path, and domain or origin URL")
    func neededProperties() throws {
        let cookie = try #require(HTTPCookie(properties: Self.needed))
        #expect(cookie.name == "n" && cookie.value == "v" && cookie.path == "/p")
        #expect(cookie.domain == "example.org" && cookie.isSessionOnly && cookie.version == 0)
        for key in Self.needed.keys {
            var properties = Self.needed
            properties[key] = nil
            #expect(HTTPCookie(properties: properties) == nil, "\(key.rawValue)")
        }
        var properties: [HTTPCookiePropertyKey: Any] = Self.needed
        properties[.domain] = nil
        properties[.originURL] = url
        #expect(HTTPCookie(properties: properties)?.domain == "www.example.org")
        properties[.originURL] = "http://other.example/"
        #expect(HTTPCookie(properties: properties)?.domain == "other.example")
        properties[.path] = "relative"
        #expect(HTTPCookie(properties: properties)?.path == "/")
    }

    @Test(
        "[U-13.16] properties that a Cookie field cannot contain give no cookie",
        arguments: ["", "a=b", "a;b", "a\r\nb"])
    func illegalProperties(text: String) {
        var properties = Self.needed
        properties[.name] = text
        #expect(HTTPCookie(properties: properties) == nil)
        properties = Self.needed
        properties[.value] = text
        #expect((HTTPCookie(properties: properties) == nil) == text.contains { $0 == ";" || $0 == "\r\n" })
    }

    static let flags: [(value: any Sendable, isSet: Bool)] = [
        (true, true), (false, false), ("TRUE", true), ("true", true), ("FALSE", false), ("yes", false),
    ]

    @Test("[U-13.16] flag properties are Bool or text", arguments: flags.indices)
    func flagProperties(index: Int) throws {
        let (value, isSet) = Self.flags[index]
        var properties: [HTTPCookiePropertyKey: Any] = Self.needed
        properties[.secure] = value
        properties[.httpOnly] = value
        properties[.discard] = value
        properties[.expires] = Date.distantFuture
        let cookie = try #require(HTTPCookie(properties: properties))
        #expect(cookie.isSecure == isSet && cookie.isHTTPOnly == isSet && cookie.isSessionOnly == isSet)
    }

    @Test("[U-13.16] the expiry is a date, a text, or a maximum age, which takes precedence")
    func endProperties() throws {
        var properties: [HTTPCookiePropertyKey: Any] = Self.needed
        properties[.expires] = now
        #expect(HTTPCookie(properties: properties)?.expiresDate == now)
        properties[.expires] = "Sun, 09 Sep 2001 01:46:40 GMT"
        #expect(HTTPCookie(properties: properties)?.expiresDate == now)
        for age in ["100", 100] as [any Sendable] {
            properties[.maximumAge] = age
            let end = try #require(HTTPCookie(properties: properties)?.expiresDate)
            #expect(abs(end.timeIntervalSinceNow - 100) < 50)
        }
    }

    @Test("[U-13.16] the properties of a cookie make an equal one")
    func propertiesRoundTrip() throws {
        for line in [
            "a=b",
            "a=b; Secure; HttpOnly; SameSite=Lax; Path=/x; Domain=y.example; Max-Age=77; Version=1; Comment=c; "
                + "CommentURL=http://x.example/; Port=\"1,2\"", "a=b; Discard",
        ] {
            let cookie = try #require(read(line))
            let copy = try #require(cookie.properties.flatMap { HTTPCookie(properties: $0) })
            #expect(copy == cookie && copy.hash == cookie.hash, "\(line)")
        }
    }
}
