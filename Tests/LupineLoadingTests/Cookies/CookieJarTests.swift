// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineLoading

/// A jar in a class, so that expectations can contain mutating calls.
private final class JarStage {
    private var jar: CookieJar

    init(limits: CookieJar.Limits = CookieJar.Limits()) { jar = CookieJar(limits: limits) }

    var count: Int { jar.count }

    @discardableResult
    func store(_ cookie: HTTPCookie, isOriginSecure: Bool = true, at now: Date) -> Bool {
        jar.store(cookie, isOriginSecure: isOriginSecure, at: now)
    }

    func remove(_ cookie: HTTPCookie) -> Bool { jar.remove(cookie) }

    func remove(since date: Date) -> Bool { jar.remove(since: date) }

    func entries(at now: Date) -> [CookieJar.Entry] { jar.entries(at: now) }

    func cookies(for origin: CookieOrigin, at now: Date) -> [HTTPCookie] { jar.cookies(for: origin, at: now) }
}

struct CookieJarTests {
    @Test(
        "[U-13.8] paths are compared by octets",
        arguments: [
            ("/", "/", true), ("/a", "/", true), ("/a", "/a", true), ("/a/b", "/a", true),
            ("/a/b", "/a/", true),
            ("/ab", "/a", false), ("/a", "/a/", false), ("/", "/a", false), ("", "/", false),
            ("/\u{E9}/x", "/\u{E9}", true), ("/\u{E9}/x", "/e\u{301}", false), ("/e\u{301}", "/e", false),
        ])
    func paths(_ path: String, _ other: String, _ isBelow: Bool) {
        #expect(CookieOrigin.isPath(path, atOrBelow: other) == isBelow)
    }

    @Test("[U-13.10] names that differ in Unicode normalisation are two names")
    func equivalentNames() throws {
        let jar = JarStage()
        jar.store(try cookie("\u{E9}=1; Path=/"), at: now)
        jar.store(try cookie("e\u{301}=2; Path=/"), at: now)
        #expect(jar.count == 2)
        jar.store(try cookie("e\u{301}=3; Path=/"), at: now)
        #expect(jar.entries(at: now).map(\.cookie.value).sorted() == ["1", "3"])
    }

    let now = Date(timeIntervalSince1970: 1_000_000_000)

    func origin(_ url: String) throws -> CookieOrigin {
        try #require(URL(string: url).flatMap { CookieOrigin($0) })
    }

    func cookie(_ line: String, from url: String = "https://www.example.org/") throws -> HTTPCookie {
        try #require(SetCookieSyntax.cookie(line, from: origin(url), now: now))
    }

    // MARK: admission

    static let admissions: [(url: String, line: String, domain: String?)] = [
        ("http://www.example.org/", "a=b; Domain=example.org", ".example.org"),
        ("http://www.example.org/", "a=b; Domain=www.example.org", ".www.example.org"),
        ("http://example.org/", "a=b; Domain=www.example.org", nil),
        ("http://www.example.org/", "a=b; Domain=other.org", nil),
        ("http://anexample.org/", "a=b; Domain=example.org", nil),
        ("http://www.example.org/", "a=b", "www.example.org"),
        ("http://www.example.org/", "a=b; Domain=org", nil), ("http://org/", "a=b; Domain=org", "org"),
        ("http://x.co.uk/", "a=b; Domain=co.uk", nil), ("http://x.co.uk/", "a=b; Domain=x.co.uk", ".x.co.uk"),
        ("http://localhost/", "a=b; Domain=localhost", "localhost"),
        ("http://192.0.2.1/", "a=b; Domain=192.0.2.1", "192.0.2.1"),
        ("http://192.0.2.1/", "a=b; Domain=2.1", nil), ("http://192.0.2.1/", "a=b; Domain=192.0.2.2", nil),
        ("http://[::1]/", "a=b", "::1"),
    ]

    @Test("[U-13.6, U-13.7] a domain must match the host, and be no public suffix", arguments: admissions)
    func domainsAreAdmitted(url: String, line: String, domain: String?) throws {
        let admission = CookieAdmission(
            origin: try origin(url), mainDocumentHost: nil, policy: .always, suffixList: .builtIn)
        #expect(admission.cookieToStore(for: try cookie(line, from: url))?.domain == domain)
    }

    /// Public suffixes below public suffixes: `com`, `s3.amazonaws.com`, `*.kobe.jp` except `city.kobe.jp`.
    static let nested: [(host: String, domain: String, isAdmitted: Bool)] = [
        ("evil.s3.amazonaws.com", "amazonaws.com", false),
        ("evil.s3.amazonaws.com", "s3.amazonaws.com", false),
        ("s3.amazonaws.com", "amazonaws.com", false),
        ("a.mine.s3.amazonaws.com", "mine.s3.amazonaws.com", true),
        ("www.amazonaws.com", "amazonaws.com", true), ("evil.foo.kobe.jp", "kobe.jp", false),
        ("foo.kobe.jp", "kobe.jp", false), ("www.evil.foo.kobe.jp", "evil.foo.kobe.jp", true),
        ("www.city.kobe.jp", "city.kobe.jp", true), ("www.city.kobe.jp", "kobe.jp", false),
        ("kobe.jp", "kobe.jp", true), ("evil.s3.amazonaws.com.", "amazonaws.com.", false),
        ("www.amazonaws.com.", "amazonaws.com.", true), ("www.kobe.jp.", "www.kobe.jp.", true),
    ]

    @Test("[U-13.7] a domain above the host's public suffix is refused", arguments: nested)
    func domainsAboveRegistriesAreNotAdmitted(host: String, domain: String, isAdmitted: Bool) throws {
        let list = PublicSuffixList(text: "com\ns3.amazonaws.com\njp\n*.kobe.jp\n!city.kobe.jp\n")
        let url = "https://\(host)/"
        let admission = CookieAdmission(
            origin: try origin(url), mainDocumentHost: nil, policy: .always, suffixList: list)
        let admitted = admission.cookieToStore(for: try cookie("a=b; Domain=\(domain)", from: url))
        #expect((admitted != nil) == isAdmitted)
    }

    static let guarded: [(url: String, line: String, isAdmitted: Bool)] = [
        ("https://h.example/", "a=b; Secure", true), ("http://h.example/", "a=b; Secure", false),
        ("https://h.example/", "a=b; SameSite=None", false),
        ("https://h.example/", "a=b; SameSite=None; Secure", true),
        ("https://h.example/", "__Secure-a=b; Secure", true), ("https://h.example/", "__Secure-a=b", false),
        ("http://h.example/", "__Secure-a=b; Secure", false),
        ("https://h.example/", "__Host-a=b; Secure; Path=/", true),
        ("https://h.example/", "__Host-a=b; Secure; Path=/x", false),
        ("https://h.example/", "__Host-a=b; Path=/", false),
        ("https://h.example/", "__Host-a=b; Secure; Path=/; Domain=h.example", false),
        ("https://h.example/", "__host-a=b; Path=/", false),
    ]

    @Test("[U-13.9] contradicting flags and prefixes are refused", arguments: guarded)
    func flagsAreAdmitted(url: String, line: String, isAdmitted: Bool) throws {
        let admission = CookieAdmission(
            origin: try origin(url), mainDocumentHost: nil, policy: .always, suffixList: .builtIn)
        #expect((admission.cookieToStore(for: try cookie(line, from: url)) != nil) == isAdmitted)
    }

    static let policies: [(policy: HTTPCookie.AcceptPolicy, main: String?, isWanted: Bool)] = [
        (.always, nil, true), (.always, "other.org", true), (.never, nil, false), (.never, "a.co.uk", false),
        (.onlyFromMainDocumentDomain, nil, true), (.onlyFromMainDocumentDomain, "www.a.co.uk", true),
        (.onlyFromMainDocumentDomain, "a.co.uk", true), (.onlyFromMainDocumentDomain, "b.co.uk", false),
    ]

    @Test(arguments: policies)
    func acceptPolicies(policy: HTTPCookie.AcceptPolicy, main: String?, isWanted: Bool) throws {
        let admission = CookieAdmission(
            origin: try origin("http://x.a.co.uk/"), mainDocumentHost: main, policy: policy,
            suffixList: .builtIn)
        #expect(admission.acceptsCookies == isWanted)
    }

    @Test("[U-13.9] a cookie from http does not replace Secure ones")
    func secureCookiesAreNotCovered() throws {
        let jar = JarStage()
        jar.store(try cookie("a=secret; Secure; Domain=example.org; Path=/x"), at: now)
        let covering = ["a=evil; Path=/x", "a=evil; Path=/x/y", "a=evil; Domain=example.org; Path=/x"]
        for line in covering {
            #expect(
                !jar.store(try cookie(line, from: "http://www.example.org/"), isOriginSecure: false, at: now))
        }
        for line in ["b=1; Path=/x", "a=1; Path=/", "a=1; Path=/xy"] {
            #expect(
                jar.store(try cookie(line, from: "http://www.example.org/"), isOriginSecure: false, at: now))
        }
        #expect(jar.store(try cookie("a=new; Domain=example.org; Path=/x"), at: now))
    }

    // MARK: storing

    @Test("[U-13.10] name, domain and path identify a cookie; a replaced one keeps its place")
    func identity() throws {
        let jar = JarStage()
        let later = now.addingTimeInterval(10)
        jar.store(try cookie("a=1"), at: now)
        jar.store(try cookie("b=1"), at: now)
        jar.store(try cookie("a=2"), at: later)
        jar.store(try cookie("a=3; Domain=www.example.org"), at: later)
        jar.store(try cookie("a=4; Path=/x"), at: later)
        let entries = jar.entries(at: later)
        #expect(entries.map(\.cookie.value) == ["2", "1", "3", "4"])
        #expect(entries.map(\.creationDate) == [now, now, later, later])
        #expect(jar.count == 4)
    }

    @Test("[U-13.10] an expiry in the past removes a cookie, and expired cookies are not returned")
    func ends() throws {
        let jar = JarStage()
        let place = try origin("https://www.example.org/")
        jar.store(try cookie("a=1; Max-Age=5"), at: now)
        jar.store(try cookie("b=1"), at: now)
        #expect(!jar.store(try cookie("c=1; Max-Age=0"), at: now))
        #expect(jar.cookies(for: place, at: now.addingTimeInterval(4)).map(\.name) == ["a", "b"])
        #expect(jar.cookies(for: place, at: now.addingTimeInterval(5)).map(\.name) == ["b"])
        #expect(jar.entries(at: now.addingTimeInterval(5)).map(\.cookie.name) == ["b"])
        #expect(jar.store(try cookie("b=; Max-Age=0"), at: now))
        #expect(jar.entries(at: now).map(\.cookie.name) == ["a"])
    }

    @Test("[U-13.10] over a limit, expired cookies are removed first, then the least recently used")
    func limits() throws {
        let jar = JarStage(limits: CookieJar.Limits(perDomain: 3, total: 5))
        let place = try origin("https://www.example.org/x")
        jar.store(try cookie("old=1; Path=/never"), at: now)
        jar.store(try cookie("short=1; Max-Age=5; Path=/x"), at: now)
        jar.store(try cookie("kept=1; Path=/x"), at: now)
        let later = now.addingTimeInterval(9)
        _ = jar.cookies(for: place, at: now)
        jar.store(try cookie("new=1"), at: later)
        #expect(jar.entries(at: now).map(\.cookie.name) == ["old", "kept", "new"])
        jar.store(try cookie("newer=1"), at: later)
        #expect(jar.entries(at: now).map(\.cookie.name) == ["kept", "new", "newer"])
        for name in ["x", "y", "z"] {
            jar.store(try cookie("\(name)=1", from: "http://\(name).example/"), at: later)
        }
        #expect(jar.count == 5)
        #expect(jar.entries(at: later).map(\.cookie.name) == ["new", "newer", "x", "y", "z"])
        #expect(CookieJar.Limits().perDomain == 180 && CookieJar.Limits().total == 3_000)
    }

    @Test(
        "[U-13.10] storing in a full jar does not scan it", .timeLimit(.minutes(10)))
    func fullJar() throws {
        let jar = JarStage()
        for number in 0..<20_000 {
            let domain = "h\(number).example"
            jar.store(
                try cookie("a=1; Max-Age=\(1_000 + number)", from: "http://\(domain)/"),
                isOriginSecure: false,
                at: now)
            #expect(jar.count <= 3_000)
        }
        #expect(jar.count > 2_800)
        let names = Set(jar.entries(at: now).map(\.cookie.domain))
        #expect(names.contains("h19999.example") && !names.contains("h0.example"))
        // Expired cookies are evicted first, and no others.
        let later = now.addingTimeInterval(1_000 + 19_990)
        let left = jar.entries(at: later).count
        for number in 0..<3_000 where jar.count < 3_000 {
            jar.store(try cookie("b=1", from: "http://n\(number).example/"), at: now)
        }
        jar.store(try cookie("c=1", from: "http://last.example/"), at: later)
        #expect(jar.entries(at: later).count > left)
        #expect(jar.entries(at: later).contains { $0.cookie.domain == "last.example" })
    }

    @Test(
        "[U-13.9] in a jar of many domains too a cookie from http does not replace Secure ones, above and below",
        arguments: [
            ("a.b.example", "a.b.example", true), ("b.example", ".b.example", true),
            ("x.a.b.example", "x.a.b.example", true), ("c.example", "c.example", false),
            ("notb.example", "notb.example", false),
        ])
    func coveringInAFullJar(_ host: String, _ domain: String, _ isRefused: Bool) throws {
        let jar = JarStage(limits: CookieJar.Limits(perDomain: 3, total: 50))
        for number in 0..<40 { jar.store(try cookie("a=1", from: "http://h\(number).test/"), at: now) }
        jar.store(
            try cookie("secret=1; Secure; Path=/; Domain=a.b.example", from: "https://a.b.example/"), at: now)
        let wide = domain.hasPrefix(".") ? "; Domain=\(domain)" : ""
        let stored = jar.store(
            try cookie("secret=2; Path=/\(wide)", from: "http://\(host)/"), isOriginSecure: false, at: now)
        #expect(stored != isRefused)
    }

    @Test func cookiesAreRemoved() throws {
        let jar = JarStage()
        jar.store(try cookie("a=1"), at: now)
        jar.store(try cookie("b=1"), at: now.addingTimeInterval(10))
        #expect(jar.remove(since: now.addingTimeInterval(5)))
        #expect(jar.entries(at: now).map(\.cookie.name) == ["a"])
        #expect(!jar.remove(try cookie("a=1; Path=/x")))
        #expect(jar.remove(try cookie("a=other value")))
        #expect(jar.count == 0)
    }

    // MARK: sending

    static let matches: [(line: String, url: String, isSent: Bool)] = [
        ("a=b", "https://www.example.org/", true), ("a=b", "https://example.org/", false),
        ("a=b", "https://x.www.example.org/", false),
        ("a=b; Domain=example.org", "https://example.org/", true),
        ("a=b; Domain=example.org", "https://x.y.example.org/", true),
        ("a=b; Domain=example.org", "https://badexample.org/", false),
        ("a=b; Path=/x", "https://www.example.org/x", true),
        ("a=b; Path=/x", "https://www.example.org/x/y", true),
        ("a=b; Path=/x", "https://www.example.org/xy", false),
        ("a=b; Path=/x/", "https://www.example.org/x/y", true),
        ("a=b; Path=/x/", "https://www.example.org/x", false),
        ("a=b; Path=/x", "https://www.example.org/X", false),
        ("a=b; Secure", "https://www.example.org/", true), ("a=b; Secure", "wss://www.example.org/", true),
        ("a=b; Secure", "http://www.example.org/", false), ("a=b; HttpOnly", "http://www.example.org/", true),
        ("a=b; Port=\"8080\"", "http://www.example.org:8080/", true),
        ("a=b; Port=\"8080\"", "http://www.example.org/", false),
        ("a=b; Port=\"443\"", "https://www.example.org/", true), ("a=b", "https://WWW.EXAMPLE.ORG/", true),
    ]

    @Test("[U-13.11] domain, path, Secure and port decide which requests get a cookie", arguments: matches)
    func matching(line: String, url: String, isSent: Bool) throws {
        let jar = JarStage()
        jar.store(try cookie(line), at: now)
        #expect(jar.cookies(for: try origin(url), at: now).isEmpty == !isSent)
    }

    @Test("[U-13.11] an IP address has no subdomains")
    func addressesHaveNoDomains() throws {
        let jar = JarStage()
        jar.store(HTTPCookie(HTTPCookie.Contents(name: "a", value: "b", domain: ".2.1", path: "/")), at: now)
        jar.store(try cookie("c=d", from: "http://192.0.2.1/"), at: now)
        #expect(jar.cookies(for: try origin("http://192.0.2.1/"), at: now).map(\.name) == ["c"])
    }

    @Test("[U-13.11] longer paths first, then older cookies")
    func order() throws {
        let jar = JarStage()
        for line in ["a=1", "b=1; Path=/x", "c=1; Path=/x/y", "d=1; Domain=example.org; Path=/x", "e=1"] {
            jar.store(try cookie(line), at: now)
        }
        let sent = jar.cookies(for: try origin("https://www.example.org/x/y/z"), at: now)
        #expect(sent.map(\.name) == ["c", "b", "d", "a", "e"])
    }

    // MARK: the examples of RFC 6265 §3.1

    struct Conversation: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The `Set-Cookie` values that a server sends, in order.
        let setCookieLines: [String]
        /// The cookies that are sent back to it; `sentElsewhere` has those for another host of the domain.
        let sent: String
        var sentElsewhere = ""
    }

    static let sid = "SID=31d4d96e407aad42"

    @Test(arguments: [
        Conversation(testDescription: "a session's name", setCookieLines: [sid], sent: sid),
        Conversation(
            testDescription: "for the whole domain", setCookieLines: ["\(sid); Path=/; Domain=example.com"],
            sent: sid,
            sentElsewhere: sid),
        Conversation(
            testDescription: "two cookies",
            setCookieLines: ["\(sid); Path=/; Secure; HttpOnly", "lang=en-US; Path=/; Domain=example.com"],
            sent: "\(sid); lang=en-US", sentElsewhere: "lang=en-US"),
        Conversation(
            testDescription: "one that outlives the session",
            setCookieLines: [
                "\(sid); Path=/; Secure; HttpOnly", "lang=en-US; Expires=Wed, 09 Jun 2021 10:18:14 GMT",
            ],
            sent: "\(sid); lang=en-US"),
        Conversation(
            testDescription: "one that is taken away",
            setCookieLines: [
                "\(sid); Path=/; Secure; HttpOnly", "lang=en-US; Expires=Wed, 09 Jun 2021 10:18:14 GMT",
                "lang=; Expires=Sun, 06 Nov 1994 08:49:37 GMT",
            ], sent: sid),
    ])
    func examples(_ row: Conversation) throws {
        let jar = JarStage()
        let url = "https://www.example.com/"
        let admission = CookieAdmission(
            origin: try origin(url), mainDocumentHost: nil, policy: .always, suffixList: .builtIn)
        // In 2011, when RFC 6265 was published.
        let then = Date(timeIntervalSince1970: 1_303_000_000)
        for line in row.setCookieLines {
            let cookie = try #require(SetCookieSyntax.cookie(line, from: origin(url), now: then))
            jar.store(try #require(admission.cookieToStore(for: cookie)), at: then)
        }
        for (host, sent) in [("www", row.sent), ("site", row.sentElsewhere)] {
            let cookies = jar.cookies(for: try origin("https://\(host).example.com/"), at: then)
            #expect(cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ") == sent)
        }
    }
}
