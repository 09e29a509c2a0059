// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

/// Cookies received over a connection that was accepted without a check of the server, in a storage that several sessions share.
@Suite(.timeLimit(.minutes(10))) struct HostileUncheckedCookieTests {
    /// Runs `body` with a server with that leaf. It answers `/seen` with 1 for the impostor's cookie, 2 for the right one and 0
    /// for none, and sets `line` as a cookie at `/set`.
    private static func server(
        _ leaf: String, sets line: String, _ body: (SharedCache) async throws -> Void
    ) async throws {
        try await SharedCache.with(leaf: leaf) { shared in
            shared.origin.route("GET", "/set") { _ throws(Refusal) in
                var response = try OriginResponse(200, "text/plain", Array("9".utf8))
                try response.add("Set-Cookie", line)
                return response
            }
            shared.origin.route("GET", "/seen") { request throws(Refusal) in
                let cookie = request.field("Cookie") ?? ""
                let numbers = ["sid=impostor": "1", "sid=right": "2"]
                return try OriginResponse(200, "text/plain", Array((numbers[cookie] ?? "0").utf8))
            }
            try await body(shared)
        }
    }

    static let lines = [
        "sid=impostor; Secure; Path=/", "sid=impostor; Path=/", "sid=; Max-Age=0; Secure; Path=/",
    ]

    @Test(
        "[U-13.17] only the party that accepted the connection sends its cookies, which replace no others",
        arguments: lines, [SharedCache.Policy.disabled, .accepting, .reading, .ignoring])
    func unchecked(line: String, policy: SharedCache.Policy) async throws {
        for hasRightCookie in [false, true] {
            let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
            let shareStorage = { (configuration: URLSessionConfiguration) in
                configuration.httpCookieStorage = storage
                configuration.urlCache = nil
            }
            let seenByOthers = SharedCache.Outcome.answer(hasRightCookie ? 2 : 0)
            try await Self.server("good", sets: "sid=right; Secure; Path=/") { good in
                if hasRightCookie {
                    #expect(await good.fetch(.standard, "/set", [:], shareStorage) == .answer(9))
                }
                try await Self.server("untrusted", sets: line) { impostor in
                    let unchecked = try impostor.session(policy, shareStorage)
                    #expect(await unchecked.fetch(try impostor.url("/set")) == .answer(9))
                    let isRemoval = line.contains("Max-Age")
                    let seen = await unchecked.fetch(try impostor.url("/seen"))
                    #expect(seen == (isRemoval ? seenByOthers : .answer(1)))
                    unchecked.invalidate()
                    #expect(storage.cookies?.contains { $0.value == "impostor" } == !isRemoval)
                    // Another session that accepts every server is another party.
                    #expect(await impostor.fetch(policy, "/seen", [:], shareStorage) == seenByOthers)
                }
                #expect(await good.fetch(.standard, "/seen", [:], shareStorage) == seenByOthers)
                #expect(await good.fetch(.pipeline, "/seen", [:], shareStorage) == seenByOthers)
                for cookie in storage.cookies ?? [] where cookie.value == "impostor" {
                    storage.deleteCookie(cookie)
                }
                #expect(storage.cookies?.count == 0 || hasRightCookie)
            }
        }
    }

    @Test("[U-13.17] cookies from a server that matches a pin are sent by every session")
    func pinned() async throws {
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let shareStorage = { (configuration: URLSessionConfiguration) in
            configuration.httpCookieStorage = storage
            configuration.urlCache = nil
        }
        try await Self.server("untrusted", sets: "sid=right; Secure; Path=/") { server in
            #expect(await server.fetch(.pinsUntrusted, "/set", [:], shareStorage) == .answer(9))
            #expect(await server.fetch(.accepting, "/seen", [:], shareStorage) == .answer(2))
        }
    }

    @Test(
        "[U-13.17] cookies from a server that passes the default evaluation are sent by every session"
    )
    func proven() async throws {
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let shareStorage = { (configuration: URLSessionConfiguration) in
            configuration.httpCookieStorage = storage
            configuration.urlCache = nil
        }
        try await Self.server("good", sets: "sid=right; Secure; Path=/") { good in
            #expect(await good.fetch(.disabled, "/set", [:], shareStorage) == .answer(9))
            #expect(await good.fetch(.standard, "/seen", [:], shareStorage) == .answer(2))
        }
    }
}
