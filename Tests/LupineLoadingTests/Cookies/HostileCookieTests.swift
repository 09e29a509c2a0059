// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// Attempts of servers to affect the cookies of others: sections 5.6 and 5.7 of draft-ietf-httpbis-rfc6265bis, step by step.
///
/// Where the table says "exception", the library differs from the draft on purpose; the rule of `Behaviour` says why.
struct HostileCookieTests {
    private let storage = HTTPCookieStorage(file: nil)

    private func set(_ line: String, from url: String, main: String? = nil) throws {
        let url = try #require(URL(string: url))
        let origin = try #require(CookieOrigin(url))
        // As in a load: one cookie for each field line, which is not split at commas.
        let cookie = SetCookieSyntax.cookie(line, from: origin, now: Date())
        storage.setCookies(
            cookie.map { [$0] } ?? [], for: url, mainDocumentURL: main.flatMap { URL(string: $0) })
    }

    private func sent(to url: String) throws -> [String] {
        let url = try #require(URL(string: url))
        return (storage.cookies(for: url) ?? []).map { "\($0.name)=\($0.value)" }
    }

    // MARK: servers that requests name

    static let servers: [(url: String, host: String?, server: String?, cookies: String?)] = [
        ("http://h.test/a", nil, nil, "http://h.test/a"),
        ("http://h.test/a", "H.test", nil, "http://h.test/a"),
        ("http://h.test/a", " h.test:80", nil, "http://h.test/a"),
        ("http://h.test:81/a", "h.test:81", nil, "http://h.test:81/a"),
        ("http://[::1]:81/a", "[::1]:81", nil, "http://[::1]:81/a"),
        ("https://h.test/a", "h.test:443", nil, "https://h.test/a"),
        ("http://10.0.0.1/a", "A.example", "a.example", "http://a.example/a"),
        ("http://10.0.0.1:81/a?b", "a.example:82", "a.example:82", "http://a.example:82/a?b"),
        ("http://h.test/a", "other@h.test", "other@h.test", nil),
        ("http://h.test/a", "", "", nil), ("http://h.test/a", "a b", "a b", nil),
        ("http://h.test/a", "a.example/b", "a.example/b", nil),
        // Over TLS, the server has not proved to be the host that the field names.
        ("https://10.0.0.1/a", "a.example", "a.example", nil),
        ("wss://h.test/a", "a.example", "a.example", nil),
    ]

    @Test("[U-13.18] a request gets the cookies of the server that its Host names", arguments: servers)
    func named(_ row: (url: String, host: String?, server: String?, cookies: String?)) throws {
        var request = URLRequest(url: try #require(URL(string: row.url)))
        if let host = row.host { request.setValue(host, forHTTPHeaderField: "Host") }
        #expect(request.namedServer == row.server)
        #expect(request.cookieURL?.absoluteString == row.cookies)
    }

    @Test("[U-13.18] the configuration's Host counts too", arguments: TestedHTTP.allCases)
    func namedByTheConfiguration(over testedHTTP: TestedHTTP) async throws {
        let storage = HTTPCookieStorage(file: nil)
        for tenant in ["a.example", "b.example"] {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = storage
            configuration.httpAdditionalHeaders = ["Host": tenant]
            try await withStage(configuration: configuration, over: testedHTTP) { stage in
                _ = try await stage.get("/cookies/set/of/\(tenant)")
                let text = try await stage.get("/cookies").text
                #expect(text.contains("\"\(tenant)\""))
                #expect(tenant == "a.example" || !text.contains("a.example"))
            }
        }
        #expect(Set(storage.cookies?.map(\.domain) ?? []) == ["a.example", "b.example"])
    }

    @Test(
        "[U-13.18] a server's cookie is not sent to another server at the same address",
        arguments: TestedHTTP.allCases)
    func atOneAddress(over testedHTTP: TestedHTTP) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        let storage = HTTPCookieStorage(file: nil)
        configuration.httpCookieStorage = storage
        configuration.httpMaximumConnectionsPerHost = 1
        try await withStage(configuration: configuration, over: testedHTTP) { stage in
            stage.origin.route("GET", "/login") { request throws(Refusal) in
                var response = OriginResponse(200)
                try response.add("Set-Cookie", "of=\(request.field("Host") ?? "")")
                return response
            }
            func ask(_ path: String, _ host: String?) async throws -> String {
                var request = URLRequest(url: try stage.url(path))
                if let host { request.setValue(host, forHTTPHeaderField: "Host") }
                return await stage.load(request).text
            }
            _ = try await ask("/login", "a.example")
            #expect(storage.cookies?.map(\.domain) == ["a.example"])
            #expect(try await ask("/cookies", "a.example").contains("\"a.example\""))
            #expect(try await !ask("/cookies", "b.example").contains("a.example"))
            #expect(try await !ask("/cookies", nil).contains("a.example"))
        }
    }

    // MARK: one line

    struct Row: Sendable, CustomTestStringConvertible {
        let step: String
        var url = "https://www.example.org/dir/page"
        let line: String
        /// The domain and path of the stored cookie; nil if none is stored.
        let stored: String?
        var testDescription: String { step + ": " + line.prefix(60) }

        init(_ step: String, _ line: String, from url: String? = nil, _ stored: String?) {
            self.step = step
            self.line = line
            self.stored = stored
            if let url { self.url = url }
        }
    }

    private static let here = "www.example.org /dir"
    private static func long(_ count: Int) -> String { String(repeating: "x", count: count) }

    static let parsing = [
        Row("5.6 (1) a control character anywhere", "a=b; Path=/\u{1}", nil),
        Row("5.6 (1) a control character in an unknown attribute", "a=b; Odd=\u{7F}", nil),
        Row("5.6 (1) a control character in a name of an attribute", "a=b; \u{8}=1", nil),
        Row("5.6 (1) a tab is not refused", "a=b;\tPath=/x", "www.example.org /x"),
        Row("5.6 (1) exception U-13.2: a tab inside of a name", "a\tb=c", nil),
        Row("5.6 (3) exception U-13.2: no name", "b", nil),
        Row("5.6 (3) exception U-13.2: an empty name", "=b", nil),
        Row("5.6 (3) exception U-13.2: an empty name hides a prefix", "=__Host-a=b; Secure; Path=/", nil),
        Row("5.6 (5) 4096 octets of name and value", "a=" + long(4_095), here),
        Row("5.6 (5) one octet more", "a=" + long(4_096), nil),
        Row("5.6 (5) octets count, not characters", "a=" + String(repeating: "ü", count: 2_048), nil),
        Row(
            "5.6 (6) 1024 octets of an attribute", "a=b; Path=/" + long(1_023),
            "www.example.org /" + long(1_023)),
        Row("5.6 (6) a longer path is ignored", "a=b; Path=/" + long(1_024), here),
        Row(
            "5.6 (6) a longer path does not replace an earlier one",
            "a=b; Path=/x; Path=/" + long(1_024), "www.example.org /x"),
        Row("5.6 (6) a longer domain is ignored", "a=b; Domain=" + long(1_025), here),
        Row(
            "5.6 (6) a longer age is ignored", "a=b; Max-Age=0" + String(repeating: "0", count: 1_024), here
        ),
        Row("5.6.3 an empty domain is this host", "a=b; Domain=", here),
        Row("5.6.3 a dot is this host", "a=b; Domain=.", here),
        Row("5.6.3 the last one counts", "a=b; Domain=example.org; Domain", here),
        Row("5.6.3 of any case", "a=b; Domain=EXAMPLE.org", ".example.org /dir"),
        Row("5.6.3 one leading dot is ignored", "a=b; Domain=.example.org", ".example.org /dir"),
        Row("5.6.3 two leading dots are not ignored", "a=b; Domain=..example.org", nil),
    ]

    static let storing = [
        Row(
            "5.7 (8) a domain that is not ASCII", "a=b; Domain=bücher.example",
            from: "https://bücher.example/", nil),
        Row(
            "5.7 (8) the same in ASCII", "a=b; Domain=xn--bcher-kva.example", from: "https://bücher.example/",
            ".xn--bcher-kva.example /"),
        Row("5.7 (9) a public suffix", "a=b; Domain=com", from: "https://evil.com/", nil),
        Row("5.7 (9) with the root's dot", "a=b; Domain=com.", from: "https://evil.com./", nil),
        Row("5.7 (9) with dots all around", "a=b; Domain=.com.", from: "https://evil.com./", nil),
        Row(
            "5.7 (9) of two labels, with the root's dot", "a=b; Domain=co.uk.", from: "https://evil.co.uk./",
            nil),
        Row("5.7 (9) an unknown suffix", "a=b; Domain=unheard.", from: "https://evil.unheard./", nil),
        Row("5.7 (9) the root", "a=b; Domain=..", from: "https://evil.com./", nil),
        Row("5.7 (9.1) the host itself", "a=b; Domain=localhost", from: "http://localhost/", "localhost /"),
        Row("5.7 (9.1) with the root's dot", "a=b; Domain=com.", from: "https://com./", "com. /"),
        Row("5.7 (10) another host", "a=b; Domain=other.org", nil),
        Row("5.7 (10) a subdomain", "a=b; Domain=x.www.example.org", nil),
        Row("5.7 (10) part of a label", "a=b; Domain=ample.org", nil),
        Row("5.7 (10) the root's dot makes another name", "a=b; Domain=example.org.", nil),
        Row(
            "5.7 (10) the root's dot on both sides", "a=b; Domain=example.org.",
            from: "https://www.example.org./",
            ".example.org. /"),
        Row("5.7 (10) a label that is empty", "a=b; Domain=.org", from: "https://www..org/", nil),
        Row("5.7 (10) an address", "a=b; Domain=192.0.2.1", from: "http://192.0.2.1/", "192.0.2.1 /"),
        Row("5.7 (10) the end of an address", "a=b; Domain=0.2.1", from: "http://192.0.2.1/", nil),
        Row(
            "5.7 (10) the end of an address in an odd form", "a=b; Domain=0.2.1", from: "http://0xC0.0.2.1/",
            nil),
        Row("5.7 (10) an address of version 6", "a=b; Domain=::1", from: "http://[::1]/", "::1 /"),
        Row("5.7 (13) Secure, from http", "a=b; Secure", from: "http://h.example/", nil),
        Row("5.7 (19) None without Secure", "a=b; SameSite=None", nil),
        Row("5.7 (20) __Secure- of any case without Secure", "__sEcUrE-a=b", nil),
        Row("5.7 (20) __Secure- from http", "__Secure-a=b; Secure", from: "http://h.example/", nil),
        Row("5.7 (20) __Secure-", "__SECURE-a=b; secure", here),
        Row("5.7 (21) __Host- without Path", "__Host-a=b; Secure", from: "https://h.example/", nil),
        Row("5.7 (21) __Host- with a path", "__Host-a=b; Secure; Path=/x", from: "https://h.example/", nil),
        Row(
            "5.7 (21) the last path counts", "__Host-a=b; Secure; Path=/; Path=/x",
            from: "https://h.example/", nil),
        Row(
            "5.7 (21) a path that is too long is ignored", "__Host-a=b; Secure; Path=/" + long(1_024),
            from: "https://h.example/", nil),
        Row("5.7 (21) __Host- without Secure", "__Host-a=b; Path=/", from: "https://h.example/", nil),
        Row("5.7 (21) __Host- from http", "__Host-a=b; Secure; Path=/", from: "http://h.example/", nil),
        Row(
            "5.7 (21) __Host- with a domain", "__Host-a=b; Secure; Path=/; Domain=h.example",
            from: "https://h.example/", nil),
        Row(
            "5.7 (21) __Host- with an address for a domain", "__Host-a=b; Secure; Path=/; Domain=192.0.2.1",
            from: "https://192.0.2.1/", nil),
        Row("5.7 (21) __Host- of any case", "__hOST-a=b; Secure", from: "https://h.example/", nil),
        Row(
            "5.7 (21) white space that some servers remove hides no prefix",
            "\u{2003}__Host-a=b; Path=/x", from: "https://h.example/", nil),
        Row("5.7 (21) __Host-", "__Host-a=b; SECURE; PATH=/", from: "https://h.example/", "h.example /"),
        Row(
            "5.7 (21) an empty domain is no Domain attribute", "__Host-a=b; Secure; Path=/; Domain=",
            from: "https://h.example/",
            "h.example /"),
    ]

    @Test("[U-13.2, U-13.3, U-13.4] 5.6: a Set-Cookie field is read", arguments: parsing)
    func parses(_ row: Row) throws { try check(row) }

    @Test("[U-13.6, U-13.7, U-13.9] 5.7: a cookie is stored", arguments: storing)
    func stores(_ row: Row) throws { try check(row) }

    private func check(_ row: Row) throws {
        try set(row.line, from: row.url)
        #expect(storage.cookies?.map { "\($0.domain) \($0.path)" } == (row.stored.map { [$0] } ?? []))
    }

    struct CrossSite: Sendable, CustomTestStringConvertible {
        let attribute: String
        let main: String?
        let isStored: Bool
        var testDescription: String { "\(attribute) for \(main ?? "nobody")" }
    }

    @Test(
        "[U-13.9] 5.7 (18): a same-site cookie is not set from a cross-site document",
        arguments: [
            CrossSite(attribute: "SameSite=Strict", main: "https://other.net/", isStored: false),
            CrossSite(attribute: "SameSite=Lax", main: "https://other.net/", isStored: false),
            CrossSite(attribute: "SameSite=None; Secure", main: "https://other.net/", isStored: true),
            // Exception U-13.14: a cookie without `SameSite` is treated as with `None`.
            CrossSite(attribute: "Path=/", main: "https://other.net/", isStored: true),
            CrossSite(attribute: "SameSite=Strict", main: "https://api.example.org/", isStored: true),
            CrossSite(attribute: "SameSite=Strict", main: nil, isStored: true),
        ])
    func crossSite(_ row: CrossSite) throws {
        try set("a=b; " + row.attribute, from: "https://www.example.org/", main: row.main)
        #expect(storage.cookies?.isEmpty == !row.isStored)
    }

    // MARK: many cookies

    @Test("[U-13.10] a registrable domain has 180 cookies, however many hosts it has")
    func oneDomainFloods() throws {
        try set("session=bank", from: "https://www.bank.example/")
        for host in 0..<17 {
            for number in 0..<180 { try set("c\(number)=1", from: "https://h\(host).evil.com/") }
        }
        #expect(try sent(to: "https://www.bank.example/") == ["session=bank"])
        #expect(storage.cookies?.count { $0.domain.hasSuffix("evil.com") } == 180)
        #expect(try sent(to: "https://h16.evil.com/").count == 180, "the latest are there")
        for number in 0..<181 {
            try set("d\(number)=1; Domain=evil.com", from: "https://h\(number).evil.com./")
        }
        for number in 0..<181 { try set("d\(number)=1", from: "https://h\(number).evil.com./") }
        #expect(
            storage.cookies?.count { $0.domain.contains("evil.com") } == 180, "the root's dot counts with it")
    }

    @Test("[U-13.10] many domains do not displace the cookies of small ones") func manyDomainsFlood() throws {
        try set("session=bank", from: "https://www.bank.example/")
        for name in 0..<20 {
            for number in 0..<170 { try set("c\(number)=1", from: "https://evil\(name).com/") }
        }
        #expect(try sent(to: "https://www.bank.example/") == ["session=bank"])
        #expect(2_812...3_000 ~= storage.cookies?.count ?? 0)
        let counts = try (0..<20).map { try sent(to: "https://evil\($0).com/").count }
        #expect(counts.max() ?? 0 - (counts.min() ?? 0) <= 170 && counts.min() ?? 0 > 0)
    }

    @Test("[U-13.10] domains under one public suffix do not share a limit") func tenants() throws {
        try set("session=mine", from: "https://mine.co.uk/")
        for number in 0..<400 { try set("c\(number)=1", from: "https://evil\(number % 4).co.uk/") }
        #expect(storage.cookies?.count == 401)
        #expect(try sent(to: "https://mine.co.uk/") == ["session=mine"])
    }

    @Test("[U-13.10] cookies from http do not displace Secure ones") func insecureFlood() throws {
        try set("session=bank; Secure; Domain=bank.example", from: "https://www.bank.example/")
        for number in 0..<400 { try set("c\(number)=1", from: "http://evil.bank.example/") }
        #expect(try sent(to: "https://www.bank.example/") == ["session=bank"])
        #expect(storage.cookies?.count == 180)
    }

    @Test("[U-13.9] 5.7 (16): an expired Secure cookie blocks no other") func endedSecure() throws {
        let now = Date()
        let origin = try #require(URL(string: "https://h.example/").flatMap { CookieOrigin($0) })
        let secure = try #require(SetCookieSyntax.cookie("a=1; Secure; Max-Age=5", from: origin, now: now))
        let plain = try #require(SetCookieSyntax.cookie("a=2", from: origin, now: now))
        for (after, isStored) in [(4.0, false), (6.0, true)] {
            var jar = CookieJar()
            jar.store(secure, at: now)
            let admitted = jar.store(plain, isOriginSecure: false, at: now.addingTimeInterval(after))
            #expect(admitted == isStored)
        }
    }
}
