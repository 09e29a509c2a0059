// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Redirects, cookies, credentials and the cache, through all layers, against an origin server on this machine.
@Suite(.timeLimit(.minutes(10)))
struct DriverWholeStackTests {
    private func withSession(
        over testedHTTP: TestedHTTP = .http1, _ body: (URLSession, LupineOrigin.Origin) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        serving.enable(testedHTTP)
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let session = URLSession(
            configuration: DriverLoad.configuration {
                $0.waitPatiently()
                if testedHTTP == .http2 { $0.lupine.httpVersions = .http2 }
            },
            delegate: nil, delegateQueue: nil)
        let result: Result<Void, any Error>
        do { result = .success(try await body(session, origin)) } catch { result = .failure(error) }
        session.invalidateAndCancel()
        await origin.shutdown()
        try result.get()
    }

    private func url(_ origin: LupineOrigin.Origin, _ path: String, user: String = "") throws -> URL {
        try #require(URL(string: origin.url.replacingOccurrences(of: "://", with: "://" + user) + path))
    }

    private func object(_ data: Data) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test("[U-10.6] a cookie of a redirect is sent with the next hop", arguments: TestedHTTP.allCases)
    func cookies(over testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            let (data, response) = try await session.data(from: url(origin, "/cookies/set/name/value"))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(response.url?.path == "/cookies")
            let cookies = try object(data)["cookies"] as? [String: Any]
            #expect(cookies?["name"] as? String == "value")
        }
    }

    @Test(
        "[U-10.6] several cookies of a server are sent back to it, over either version",
        arguments: TestedHTTP.allCases)
    func severalCookies(over testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            let values = ["a": "1", "long": String(repeating: "x", count: 100), "c": "3"]
            for (name, value) in values {
                _ = try await session.data(from: url(origin, "/cookies/set/\(name)/\(value)"))
            }
            let (data, _) = try await session.data(from: url(origin, "/cookies"))
            #expect(try object(data)["cookies"] as? [String: String] == values)
        }
    }

    @Test(
        "[U-10.10, U-9.13] twenty redirects are followed, on one connection; the next one is an error",
        arguments: [20, 21], TestedHTTP.allCases)
    func limits(count: Int, over testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            let url = try url(origin, "/relative-redirect/\(count)")
            do {
                let (_, response) = try await session.data(from: url)
                #expect(count == 20 && (response as? HTTPURLResponse)?.statusCode == 200)
            } catch let error as URLError {
                #expect(count == 21 && error.code == .httpTooManyRedirects)
            }
            #expect(origin.counts.connectionsAccepted == 1)
        }
    }

    @Test(
        "[U-11.6] the answer to a challenge is sent on the same connection",
        arguments: TestedHTTP.allCases)
    func challengesOnOneConnection(over testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            for scheme in ["/basic-auth/u/p", "/digest-auth/auth/u/p"] {
                let (_, response) = try await session.data(from: url(origin, scheme, user: "u:p@"))
                #expect((response as? HTTPURLResponse)?.statusCode == 200, "\(scheme)")
            }
            #expect(origin.counts.requests == 4 && origin.counts.connectionsAccepted == 1)
        }
    }

    @Test(
        "[U-11.4, U-11.6, U-11.15] the URL's user answers the challenge, and is then sent unasked to that URL",
        arguments: TestedHTTP.allCases
    )
    func credentials(over testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            for scheme in ["/basic-auth/u/p", "/digest-auth/auth/u/p", "/digest-auth/auth/u/p/SHA-256"] {
                let (_, response) = try await session.data(from: url(origin, scheme, user: "u:p@"))
                #expect((response as? HTTPURLResponse)?.statusCode == 200, "\(scheme)")
            }
            let before = origin.counts.requests
            let (_, known) = try await session.data(from: url(origin, "/basic-auth/u/p", user: "u:p@"))
            #expect((known as? HTTPURLResponse)?.statusCode == 200)
            #expect(origin.counts.requests == before + 1)
            let (_, unnamed) = try await session.data(from: url(origin, "/basic-auth/u/p"))
            #expect((unnamed as? HTTPURLResponse)?.statusCode == 401)
            let (_, refused) = try await session.data(from: url(origin, "/basic-auth/other/p", user: "u:p@"))
            #expect((refused as? HTTPURLResponse)?.statusCode == 401)
        }
    }

    @Test(
        "[U-12.11, U-12.13] a fresh response needs no network, a stale one is revalidated",
        arguments: TestedHTTP.allCases)
    func caching(over testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            let (first, _) = try await session.data(from: url(origin, "/cache/1000"))
            let (second, response) = try await session.data(from: url(origin, "/cache/1000"))
            #expect(first == second && (response as? HTTPURLResponse)?.statusCode == 200)
            #expect(origin.counts.requests == 1)

            let (tagged, _) = try await session.data(from: url(origin, "/etag/v1"))
            let (secondData, revalidated) = try await session.data(from: url(origin, "/etag/v1"))
            #expect(origin.counts.requests == 3)
            #expect(tagged == secondData && (revalidated as? HTTPURLResponse)?.statusCode == 200)
        }
    }
}
