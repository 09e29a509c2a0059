// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

struct RedirectRuleTests {
    static func request(
        _ method: String = "GET", _ url: String = "http://h/a", _ fields: [String: String] = [:],
        body: String? = nil
    ) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }

    static func response(_ status: Int, to location: String?, from url: URL?) throws -> HTTPURLResponse {
        let url = try #require(url)
        return try #require(
            HTTPURLResponse(
                url: url, statusCode: status, httpVersion: nil,
                headerFields: location.map { ["Location": $0] }))
    }

    static func proposal(
        _ request: URLRequest, _ status: Int = 302, to location: String, isWebSocket: Bool = false,
        _ options: URLSessionConfiguration.LupineOptions = .init()
    ) throws -> RedirectRule.Proposal {
        let response = try Self.response(status, to: location, from: request.url)
        let verdict = RedirectRule.verdict(
            on: response, to: request, options, redirectCount: 0, isWebSocket: isWebSocket)
        guard case .proposal(let proposal) = verdict else {
            throw URLError(.unknown, userInfo: ["verdict": "\(verdict)"])
        }
        return proposal
    }

    /// The method after a redirect, by the method before; nil if the response is not followed. An asterisk stands for the body.
    static let methods: [(status: Int, rows: [String: String?])] = [
        (300, ["GET": nil, "POST": nil]),
        (
            301,
            [
                "GET": "GET*", "HEAD": "HEAD*", "POST": "GET", "PUT": "PUT*", "DELETE": "DELETE*",
                "PATCH": "PATCH*",
            ]
        ),
        (
            302,
            [
                "GET": "GET*", "HEAD": "HEAD*", "POST": "GET", "PUT": "PUT*", "DELETE": "DELETE*",
                "PATCH": "PATCH*",
            ]
        ),
        (303, ["GET": "GET", "HEAD": "GET", "POST": "GET", "PUT": "GET", "DELETE": "GET", "PATCH": "GET"]),
        (304, ["GET": nil, "POST": nil]),
        (305, ["GET": "GET*", "POST": "POST*", "PUT": "PUT*"]), (306, ["GET": "GET*", "POST": "POST*"]),
        (
            307,
            ["GET": "GET*", "HEAD": "HEAD*", "POST": "POST*", "PUT": "PUT*", "get": "GET*", "Get2": "Get2*"]
        ),
        (308, ["GET": "GET*", "HEAD": "HEAD*", "POST": "POST*", "PUT": "PUT*"]),
        (309, ["GET": nil]), (200, ["GET": nil]), (201, ["POST": nil]), (401, ["GET": nil]),
        (399, ["GET": nil]),
    ]

    @Test(
        "which statuses are followed, with which method and body (table of U-10.1)", arguments: methods)
    func methodsAndBodies(status: Int, rows: [String: String?]) throws {
        for (method, expected) in rows {
            let request = try Self.request(method, body: "x")
            let response = try Self.response(status, to: "/b", from: request.url)
            switch RedirectRule.verdict(on: response, to: request, .init(), redirectCount: 0) {
            case .proposal(let proposal):
                let body = proposal.keepsBody ? "*" : ""
                #expect((proposal.request.httpMethod ?? "") + body == expected, "\(method)")
                #expect(proposal.request.httpBody == (proposal.keepsBody ? Data("x".utf8) : nil))
                #expect(proposal.request.url?.absoluteString == "http://h/b")
            case .none: #expect(expected == nil, "\(method)")
            case .failure(let code): Issue.record("\(method): \(code)")
            }
        }
    }

    @Test(
        "[U-10.1] without Location the redirect is the response",
        arguments: [nil, "", " ", "\t"] as [String?])
    func withoutALocation(location: String?) throws {
        let request = try Self.request()
        let verdict = RedirectRule.verdict(
            on: try Self.response(302, to: location, from: request.url), to: request, .init(),
            redirectCount: 0)
        guard case .none = verdict else {
            Issue.record("\(verdict)")
            return
        }
    }

    static let failures: [(summary: String, location: String, followed: Int, code: URLError.Code)] = [
        ("[U-10.1] unreadable", "http://:80/", 0, .redirectToNonExistentLocation),
        ("[U-10.3] a file", "file:///etc/passwd", 0, .unsupportedURL),
        ("[U-10.3] data", "data:,x", 0, .unsupportedURL),
        ("[U-10.3] a web socket", "ws://h/", 0, .unsupportedURL),
        ("[U-10.10] the 21st", "/x", 20, .httpTooManyRedirects),
        ("[U-10.10] the 21st, wherever it leads", "file:///x", 20, .httpTooManyRedirects),
    ]

    @Test(arguments: failures)
    func targetsThatAreNotFollowed(summary: String, location: String, followed: Int, code: URLError.Code)
        throws
    {
        let request = try Self.request()
        let verdict = RedirectRule.verdict(
            on: try Self.response(302, to: location, from: request.url), to: request, .init(),
            redirectCount: followed)
        guard case .failure(let error) = verdict, error.code == code else {
            Issue.record("\(summary): \(verdict)")
            return
        }
    }

    @Test("[U-10.10] the 20th is followed")
    func theLastOne() throws {
        let request = try Self.request()
        let verdict = RedirectRule.verdict(
            on: try Self.response(302, to: "/x", from: request.url), to: request, .init(), redirectCount: 19)
        guard case .proposal = verdict else {
            Issue.record("\(verdict)")
            return
        }
    }

    static let fragments = [
        ("http://h/a#f", "/b", "http://h/b#f"), ("http://h/a#f", "/b#g", "http://h/b#g"),
        ("http://h/a#f", "/b#", "http://h/b#"), ("http://h/a", "/b", "http://h/b"),
        ("http://h/a?q#f", "?r", "http://h/a?r#f"),
    ]

    @Test("[U-10.2] the fragment is kept unless the target has one", arguments: fragments)
    func fragmentsGoAlong(url: String, location: String, expected: String) throws {
        let request = try Self.request("GET", url)
        #expect(try Self.proposal(request, to: location).request.url?.absoluteString == expected)
        // The URL of a response may lack the fragment.
        let bare = url.split(separator: "#").first.map(String.init) ?? url
        let response = try Self.response(302, to: location, from: URL(string: bare))
        guard
            case .proposal(let proposal) = RedirectRule.verdict(
                on: response, to: request, .init(), redirectCount: 0)
        else {
            Issue.record("not followed")
            return
        }
        #expect(proposal.request.url?.absoluteString == expected)
    }

    static let fields = [
        "Authorization": "a", "Cookie": "c=d", "Proxy-Authorization": "p", "Host": "me", "Origin": "o",
        "Referer": "https://u:p@r/x?y", "X-Kept": "x", "X-Api-Key": "k", "Content-Type": "text/plain",
        "Content-Length": "1",
        "Content-Encoding": "gzip",
        "Content-Language": "de", "Content-Location": "/l", "Transfer-Encoding": "chunked",
        "Expect": "100-continue",
        "Accept": "*/*",
    ]
    static let aboutBody: Set<String> = [
        "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location",
        "Transfer-Encoding", "Expect",
    ]
    /// The changes at another origin.
    static let elsewhere = [
        "Authorization": nil, "Cookie": nil, "Proxy-Authorization": nil, "Host": nil, "X-Api-Key": nil,
        "Origin": "null", "Referer": "https://r/",
    ]
    /// The changes at a redirect from `https` to `http`.
    static let inTheClear =
        [
            "Authorization": nil, "Cookie": nil, "Proxy-Authorization": nil, "Host": nil, "X-Api-Key": nil,
            "Origin": nil, "Referer": nil, "X-Kept": nil, "Transfer-Encoding": nil, "Expect": nil,
        ] as [String: String?]

    struct Hop: Sendable {
        let summary: String
        let from: String
        let status: Int
        let to: String
        var changed: [String: String?] = [:]
        var dropsBody = false
    }

    static let hops = [
        Hop(summary: "[U-10.5] the same origin", from: "http://h/a", status: 307, to: "/b"),
        Hop(
            summary: "[U-10.5] the default port, explicit and implicit", from: "http://h/a", status: 307,
            to: "http://H:80/b"),
        Hop(
            summary: "[U-10.4] the method becomes GET", from: "http://h/a", status: 302, to: "/b",
            dropsBody: true),
        Hop(summary: "[U-10.4] after 303", from: "http://h/a", status: 303, to: "/b", dropsBody: true),
        Hop(
            summary: "[U-10.5] another host", from: "http://h/a", status: 307, to: "http://g/b",
            changed: elsewhere),
        Hop(
            summary: "[U-10.5] a subdomain", from: "http://h/a", status: 307, to: "http://x.h/b",
            changed: elsewhere),
        Hop(
            summary: "[U-10.5] another port", from: "http://h/a", status: 307, to: "http://h:81/b",
            changed: elsewhere),
        Hop(
            summary: "[U-10.5] http to https", from: "http://h/a", status: 307, to: "https://h/b",
            changed: elsewhere),
        Hop(
            summary: "[U-10.5] https to http", from: "https://h/a", status: 307, to: "http://h/b",
            changed: inTheClear),
        Hop(
            summary: "[U-10.5] https to http elsewhere", from: "https://h/a", status: 302, to: "http://g/b",
            changed: inTheClear, dropsBody: true),
        Hop(
            summary: "[U-10.5] https to https elsewhere", from: "https://h/a", status: 307, to: "https://g/b",
            changed: elsewhere),
    ]

    @Test(arguments: hops)
    func keptFields(_ hop: Hop) throws {
        // Names in any mix of cases.
        for change in [{ $0 }, { $0.lowercased() }] as [(String) -> String] {
            let fields = Dictionary(uniqueKeysWithValues: Self.fields.map { (change($0.key), $0.value) })
            let proposal = try Self.proposal(
                Self.request("POST", hop.from, fields), hop.status, to: hop.to)
            var expected = Self.fields
            if hop.dropsBody { for name in Self.aboutBody { expected[name] = nil } }
            for (name, value) in hop.changed where expected[name] != nil { expected[name] = value }
            let named = Dictionary(uniqueKeysWithValues: expected.map { (change($0.key), $0.value) })
            #expect(proposal.request.allHTTPHeaderFields == named, "\(hop.summary)")
        }
    }

    @Test("[U-10.5] the configuration names further headers to keep")
    func ownNames() throws {
        var options = URLSessionConfiguration.LupineOptions()
        options.sensitiveFields = ["x-KEPT", "Accept", "no name"]
        let request = try Self.request("GET", "http://h/a", Self.fields)
        let fields = try Self.proposal(request, to: "http://g/", options).request.headerList
        #expect(fields["X-Kept"] == nil && fields["Accept"] == nil && fields["X-Api-Key"] != nil)
        let sameOrigin = try Self.proposal(request, to: "/b", options).request.headerList
        #expect(sameOrigin["X-Kept"] != nil && sameOrigin["Accept"] != nil)
    }

    @Test("[U-10.5] the configuration refuses redirects from https to http", arguments: [true, false])
    func insecureRedirects(isWebSocket: Bool) throws {
        var options = URLSessionConfiguration.LupineOptions()
        options.followsInsecureRedirects = false
        let scheme = isWebSocket ? "wss" : "https"
        let request = try Self.request("GET", "\(scheme)://h/a")
        let response = try Self.response(302, to: "http://g/b", from: request.url)
        let verdict = RedirectRule.verdict(
            on: response, to: request, options, redirectCount: 0, isWebSocket: isWebSocket)
        guard case .failure(let error) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(error.code == .appTransportSecurityRequiresSecureConnection)
        #expect(
            error.userInfo[NSUnderlyingErrorKey] as? TransportError == .insecureRedirect(host: "g", port: 80))
        _ = try Self.proposal(request, to: "https://g/b", isWebSocket: isWebSocket, options)
        let plain = try Self.request("GET", isWebSocket ? "ws://h/a" : "http://h/a")
        _ = try Self.proposal(plain, to: "http://g/b", isWebSocket: isWebSocket, options)
    }

    @Test("[U-10.5] Referer is never added")
    func noReferrer() throws {
        #expect(
            try Self.proposal(Self.request(), to: "http://g/").request.value(forHTTPHeaderField: "Referer")
                == nil)
    }

    @Test("[U-10.5, U-8.1] a WebSocket redirected to http or https is not followed there")
    func webSocketOrigins() throws {
        let request = try Self.request("GET", "wss://h/a", ["Authorization": "a", "Referer": "r"])
        let stays = try Self.proposal(request, to: "https://h/b", isWebSocket: true)
        #expect(stays.request.url?.absoluteString == "wss://h/b")
        let leaves = try Self.proposal(request, to: "http://h/b", isWebSocket: true)
        #expect(leaves.request.url?.absoluteString == "ws://h/b")
        #expect(leaves.request.allHTTPHeaderFields == nil)
    }

    @Test("[U-10.2] a user in the target is proposed")
    func users() throws {
        let proposal = try Self.proposal(Self.request(), to: "http://me:secret@g/x")
        #expect(proposal.request.url?.absoluteString == "http://g/x")
        #expect(
            proposal.credential == URLCredential(user: "me", password: "secret", persistence: .forSession))
    }

    @Test("[U-10.8] the other properties of a request are kept")
    func propertiesGoAlong() throws {
        var request = try Self.request("POST")
        request.timeoutInterval = 7
        request.cachePolicy = .returnCacheDataElseLoad
        request.mainDocumentURL = URL(string: "http://main/")
        request.httpShouldHandleCookies = false
        request.allowsCellularAccess = false
        request.setProtocolProperty("x", forKey: "k")
        let next = try Self.proposal(request, to: "http://g/").request
        #expect(next.explicitTimeoutInterval == 7 && next.cachePolicy == .returnCacheDataElseLoad)
        #expect(next.mainDocumentURL == request.mainDocumentURL && !next.httpShouldHandleCookies)
        #expect(!next.allowsCellularAccess && next.protocolProperty(forKey: "k") as? String == "x")
    }

    @Test("[U-10.1, U-10.5] no Location crashes the program, and no secret leaves its server")
    func anyLocation() throws {
        var random = SeededRandom(seed: 10)
        let request = try Self.request("GET", "https://h:1/a/b?c#d", ["Authorization": "secret"])
        for _ in 0..<20_000 {
            let words = [
                "http", "https", ":", "//", "/", "h", ":1", "g", "@", "?", "#", "%", "%2f", " ", "..", ".",
                "[", "::1",
                "]", "\u{fc}", "\\", "file", "x y", "\u{0}", "65536", "u:p@",
            ]
            let location = (0..<Int.random(in: 1..<9, using: &random))
                .compactMap { _ in words.randomElement(using: &random) }.joined()
            let response = try Self.response(302, to: location, from: request.url)
            guard
                case .proposal(let proposal) = RedirectRule.verdict(
                    on: response, to: request, .init(), redirectCount: 0)
            else {
                continue
            }
            let url = try #require(proposal.request.url)
            #expect(url.scheme == "http" || url.scheme == "https", "\(location)")
            #expect(url.user == nil && url.password == nil, "\(location)")
            let isHome = url.scheme == "https" && url.host() == "h" && url.port == 1
            #expect((proposal.request.allHTTPHeaderFields != nil) == isHome, "\(location) \(url)")
        }
    }
}
