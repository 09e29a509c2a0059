// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport
import Testing

@testable import LupineLoading

struct HopAssemblyTests {
    static func assembled(
        _ request: URLRequest, kind: TaskDefinition.Kind = .data, body: TaskDefinition.Body = .request,
        move: RedirectMove = .withinOrigin, _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) throws(URLError) -> URLRequest {
        let settings = SessionSettings(DriverLoad.configuration(change))
        return try HopAssembly(
            request: request, kind: kind, body: body, move: move, settings: settings
        ).assembled()
    }

    @Test("[U-3.3] the configuration's fields are added if the request lacks them, in any case")
    func additionalFields() throws {
        let request = try DriverLoad.request(
            "http://h/a", "GET", ["x-own": "request", "Accept": "text/plain"])
        let assembled = try Self.assembled(request) { configuration in
            configuration.httpAdditionalHeaders = [
                "X-OWN": "session", "X-Other": 7, "Authorization": "Basic x",
            ]
        }
        #expect(assembled.value(forHTTPHeaderField: "X-Own") == "request")
        #expect(assembled.value(forHTTPHeaderField: "X-Other") == "7")
        #expect(assembled.value(forHTTPHeaderField: "Accept") == "text/plain")
        #expect(assembled.value(forHTTPHeaderField: "Authorization") == "Basic x")
        #expect(assembled.headerList.fields.count == 4)
    }

    @Test("[U-10.5] the configuration's secrets are not added after a redirect to another origin")
    func secretsStay() throws {
        var request = try DriverLoad.request()
        request.setValue("mine", forHTTPHeaderField: "Origin")
        let assembled = try Self.assembled(request, move: .toOtherOrigin) { configuration in
            configuration.httpAdditionalHeaders = [
                "Authorization": "Basic x", "cookie": "a=b", "Host": "me", "Origin": "session",
                "X-Other": "y",
                "Proxy-Authorization": "z",
            ]
        }
        #expect(assembled.allHTTPHeaderFields == ["Origin": "mine", "X-Other": "y"])
    }

    @Test("[U-7.1] HopAssembly accepts GET with a body")
    func bodyWithGET() throws {
        var request = try DriverLoad.request("http://h/", "GET", body: "x")
        #expect(try Self.assembled(request).httpBody == Data("x".utf8))
        #expect(throws: Never.self) { try Self.assembled(request, body: .file(URL(fileURLWithPath: "/x"))) }
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        #expect(try Self.assembled(request).httpBodyStream === request.httpBodyStream)
    }

    @Test("[U-1.2] a method that is no token")
    func badMethod() throws {
        for method in ["G T", "P\u{d6}ST", "", "A,B"] {
            let request = try DriverLoad.request("http://h/", method)
            let error = #expect(throws: URLError.self) { try Self.assembled(request) }
            #expect(error?.code == .badURL)
            #expect(error?.userInfo[NSUnderlyingErrorKey] as? URLRequestError == .invalidMethod(method))
        }
        #expect(try Self.assembled(DriverLoad.request("http://h/", "PROPFIND")).httpMethod == "PROPFIND")
    }

    @Test("[U-1.4] a value with a line break, in the request and in the configuration")
    func badField() throws {
        var request = try DriverLoad.request()
        request.allHTTPHeaderFields = ["X-Bad": "a\r\nInjected: b"]
        for attempt in [
            { try Self.assembled(request) },
            {
                try Self.assembled(DriverLoad.request()) {
                    $0.httpAdditionalHeaders = ["X-Bad": "a\nb"]
                }
            },
        ] {
            let error = #expect(throws: URLError.self, performing: attempt)
            #expect(error?.code == .badURL)
            #expect(
                error?.userInfo[NSUnderlyingErrorKey] as? URLRequestError == .invalidFieldValue(name: "X-Bad")
            )
        }
    }

    @Test("[U-16.3] no URL, and [U-8.1] URLs that a WebSocket cannot have")
    func addresses() throws {
        var request = try DriverLoad.request()
        request.url = nil
        let error = #expect(throws: URLError.self) { try Self.assembled(request) }
        #expect(error?.code == .unsupportedURL)
        for (url, method, isRefused) in [
            ("http://h/", "GET", true), ("ws://h/", "POST", true), ("ws://h/", "GET", false),
            ("wss://h/", "GET", false),
        ] {
            let request = try DriverLoad.request(url, method)
            let code: URLError.Code?
            do {
                _ = try Self.assembled(request, kind: .webSocket)
                code = nil
            } catch { code = error.code }
            #expect(code == (isRefused ? .unsupportedURL : nil), "\(url) \(method)")
        }
    }

    // MARK: cookies

    static func storage(_ lines: [String], from url: String = "http://h/") throws -> HTTPCookieStorage {
        let storage = HTTPCookieStorage(file: nil)
        let origin = try #require(URL(string: url).flatMap { CookieOrigin($0) })
        for line in lines {
            storage.setCookie(try #require(SetCookieSyntax.cookie(line, from: origin, now: Date())))
        }
        return storage
    }

    @Test("[U-13.12] stored cookies replace the caller's field; without a match it stays")
    func cookiesOfARequest() throws {
        let storage = try Self.storage(["a=1", "b=2; Path=/long"])
        let rows: [(summary: String, url: String, flags: (Bool, Bool), own: String?, expected: String?)] = [
            ("one fits", "http://h/x", (true, true), nil, "a=1"),
            ("two fit, the longer path first", "http://h/long/x", (true, true), nil, "b=2; a=1"),
            ("in the place of the caller's", "http://h/x", (true, true), "c=3", "a=1"),
            ("none fits", "http://g/x", (true, true), "c=3", "c=3"),
            ("none at all", "http://g/x", (true, true), nil, nil),
            ("the session does not", "http://h/x", (false, true), "c=3", "c=3"),
            ("the request does not", "http://h/x", (true, false), "c=3", "c=3"),
            ("the request does not, without a field", "http://h/x", (true, false), nil, nil),
        ]
        for row in rows {
            var request = try DriverLoad.request(row.url)
            request.setValue(row.own, forHTTPHeaderField: "Cookie")
            request.httpShouldHandleCookies = row.flags.1
            let assembled = try Self.assembled(request) { configuration in
                configuration.httpCookieStorage = storage
                configuration.httpShouldSetCookies = row.flags.0
            }
            #expect(assembled.value(forHTTPHeaderField: "Cookie") == row.expected, "\(row.summary)")
        }
        let assembled = try Self.assembled(DriverLoad.request("http://h/x")) { $0.httpCookieStorage = nil }
        #expect(assembled.allHTTPHeaderFields == nil)
    }

    @Test("[U-13.14] same-site cookies stay on their site")
    func sites() throws {
        let storage = try Self.storage(
            ["s=1; SameSite=Strict", "l=2; SameSite=Lax", "n=3"], from: "https://a.example.com/")
        let rows: [(main: String?, method: String, expected: String)] = [
            (nil, "POST", "s=1; l=2; n=3"), ("https://b.example.com/", "POST", "s=1; l=2; n=3"),
            ("https://other.org/", "GET", "l=2; n=3"), ("https://other.org/", "HEAD", "l=2; n=3"),
            ("https://other.org/", "POST", "n=3"),
        ]
        for row in rows {
            var request = try DriverLoad.request("https://a.example.com/", row.method)
            request.mainDocumentURL = row.main.flatMap { URL(string: $0) }
            let assembled = try Self.assembled(request) { $0.httpCookieStorage = storage }
            #expect(assembled.value(forHTTPHeaderField: "Cookie") == row.expected, "\(row)")
        }
    }

    @Test("[U-13.1, U-13.13] a response's cookies, one for each line, as the accept policy allows")
    func cookiesOfAResponse() throws {
        let rows:
            [(
                summary: String, policy: HTTPCookie.AcceptPolicy, handles: Bool, main: String?,
                stored: [String]
            )] =
                [
                    ("all", .always, true, nil, ["a", "b"]), ("never", .never, true, nil, []),
                    ("the request does not", .always, false, nil, []),
                    (
                        "the main document's", .onlyFromMainDocumentDomain, true, "http://www.example.com/",
                        ["a", "b"]
                    ),
                    ("not the main document's", .onlyFromMainDocumentDomain, true, "http://other.org/", []),
                    ("no main document", .onlyFromMainDocumentDomain, true, nil, ["a", "b"]),
                ]
        var fields = Fields()
        try fields.append(.setCookie, "a=1, not another=one; Path=/")
        try fields.append(.setCookie, "b=2; Expires=Sun, 06 Nov 2094 08:49:37 GMT")
        try fields.append(.setCookie, "c=3; Domain=other.org")
        let url = try #require(URL(string: "http://example.com/"))
        let response = HTTPURLResponse(
            url: url, head: ResponseHead(status: Status(302), fields: fields), isDecoded: false)
        for row in rows {
            let storage = HTTPCookieStorage(file: nil)
            let settings = SessionSettings(
                DriverLoad.configuration {
                    $0.httpCookieStorage = storage
                    $0.httpCookieAcceptPolicy = row.policy
                    // This property has no effect on storing.
                    $0.httpShouldSetCookies = false
                })
            var request = try DriverLoad.request("http://example.com/")
            request.httpShouldHandleCookies = row.handles
            request.mainDocumentURL = row.main.flatMap { URL(string: $0) }
            HopAssembly.storeCookies(of: response, to: request, settings)
            #expect(storage.cookies?.map(\.name) == row.stored, "\(row.summary)")
        }
    }

    @Test("[U-13.10] of a response with more cookies than a domain may have, the last are stored")
    func manyCookiesOfAResponse() throws {
        var fields = Fields()
        for index in 0..<400 { try fields.append(.setCookie, "n\(index)=v") }
        let url = try #require(URL(string: "http://example.com/"))
        let response = HTTPURLResponse(
            url: url, head: ResponseHead(status: Status(200), fields: fields), isDecoded: false)
        let storage = HTTPCookieStorage(file: nil)
        let settings = SessionSettings(DriverLoad.configuration { $0.httpCookieStorage = storage })
        HopAssembly.storeCookies(of: response, to: try DriverLoad.request("http://example.com/"), settings)
        #expect(Set(storage.cookies?.map(\.name) ?? []) == Set((220..<400).map { "n\($0)" }))
    }
}
