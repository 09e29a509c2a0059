// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTestKit
import Testing

@testable import LupineLoading

/// Parsers of what servers send, each fed with pieces of its own grammar in random order: no input traps, and every result keeps
/// its invariants.
struct HostileInputTests {
    static let words = [
        "=", ";", ",", " ", "\t", "\"", "\\", "'", ":", "/", ".", "..", "-", "%", "%2F", "%00", "\0", "\r",
        "\n", "é",
        "\u{301}", "a", "Z", "0", "9", "99999999999999999999", "Domain", "Path", "Max-Age", "Expires",
        "SameSite",
        "Sun, 06 Nov 1994 08:49:37 GMT", "Port", "filename", "filename*", "UTF-8''", "max-age", "no-cache",
        "Digest",
        "Basic", "realm", "nonce", "qop", "auth", "xn--", "co.uk", "*", "!",
    ]

    static func text(_ random: inout SeededRandom) -> String {
        (0..<Int.random(in: 0..<14, using: &random))
            .map { _ in words.randomElement(using: &random) ?? "" }
            .joined()
    }

    @Test func anyInputIsParsed() throws {
        var random = SeededRandom(seed: 1)
        let url = try #require(URL(string: "https://a.example.co.uk/x/y"))
        let origin = try #require(CookieOrigin(url))
        let now = Date(timeIntervalSince1970: 1_000_000_000)
        var jar = CookieJar(limits: CookieJar.Limits(perDomain: 20, total: 50))
        for _ in 0..<20_000 {
            let text = Self.text(&random)
            if let cookie = SetCookieSyntax.cookie(text, from: origin, now: now) {
                let sent = cookie.name + "=" + cookie.value
                #expect(!sent.utf8.contains { $0 < 0x20 || $0 == 0x3B } && cookie.path.hasPrefix("/"))
                let admission = CookieAdmission(
                    origin: origin, mainDocumentHost: nil, policy: .always, suffixList: .builtIn)
                if let admitted = admission.cookieToStore(for: cookie) { jar.store(admitted, at: now) }
            }
            let name = SuggestedFilename.sanitised(SuggestedFilename.proposed(by: text) ?? text)
            #expect(!name.isEmpty && !name.contains("/") && name != "." && name != "..")
            #expect(!name.utf8.contains { $0 < 0x20 || $0 == 0x7F })
            _ = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": text], for: url)
            _ = HTTPDate.date(from: text).flatMap(HTTPDate.text)
            _ = CacheControl(field: text, pragma: nil)
            _ = PublicSuffixList.builtIn.registrableDomain(of: HostName.canonical(text))
            _ = AuthenticationCandidate.candidates(
                in: [text], from: .server(host: "h", port: 1, scheme: "http"))
            let response = try #require(
                HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: nil,
                    headerFields: [
                        "Content-Type": text, "Content-Length": text, "Expires": text, "Age": text,
                        "Vary": text, "Location": text,
                    ]))
            #expect(response.expectedContentLength >= -1)
            #expect(Freshness(response, requestTime: now, arrival: now).lifetime >= 0)
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            request.allHTTPHeaderFields = ["Accept": text]
            _ = CacheRule.invalidatedURLs(by: request, response: response)
            let key = VaryKey(vary: text, request: request)
            #expect(key.matches(request) == (key.values["*"] == nil))
        }
        #expect(jar.count > 0 && jar.count <= 20)
    }

    @Test func anInvalidHostHasNoCookies() throws {
        let host = String(repeating: "a.", count: 20_000) + "example"
        let url = try #require(URL(string: "http://\(host)/"))
        #expect(CookieOrigin(url) == nil)
    }
}
