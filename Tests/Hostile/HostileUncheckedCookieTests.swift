// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

/// Cookies received over a connection whose server nobody has checked, in a storage that several sessions share.
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
                let number = cookie == "sid=impostor" ? "1" : cookie == "sid=right" ? "2" : "0"
                return try OriginResponse(200, "text/plain", Array((cookie.isEmpty ? "0" : number).utf8))
            }
            try await body(shared)
        }
    }

    static let lines = [
        "sid=impostor; Secure; Path=/", "sid=impostor; Path=/", "sid=; Max-Age=0; Secure; Path=/",
    ]

    @Test(
        "[U-13.17] they are for whom has accepted the connection, and leave those of others alone",
        arguments: lines, [SharedCache.Policy.disabled, .accepting, .reading, .ignoring])
    func apart(line: String, policy: SharedCache.Policy) async throws {
        for hasRight in [false, true] {
            let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
            let sharing = { (configuration: URLSessionConfiguration) in
                configuration.httpCookieStorage = storage
                configuration.urlCache = nil
            }
            let seenByOthers = SharedCache.End.answer(hasRight ? 2 : 0)
            try await Self.server("good", sets: "sid=right; Secure; Path=/") { good in
                if hasRight { #expect(await good.ask(.standard, "/set", [:], sharing) == .answer(9)) }
                try await Self.server("untrusted", sets: line) { impostor in
                    let unchecked = try impostor.session(policy, sharing)
                    #expect(await unchecked.ask(try impostor.url("/set")) == .answer(9))
                    let isRemoval = line.contains("Max-Age")
                    let seen = await unchecked.ask(try impostor.url("/seen"))
                    #expect(seen == (isRemoval ? seenByOthers : .answer(1)))
                    unchecked.end()
                    #expect(storage.cookies?.contains { $0.value == "impostor" } == !isRemoval)
                    // Another session that accepts every server is another party.
                    #expect(await impostor.ask(policy, "/seen", [:], sharing) == seenByOthers)
                }
                #expect(await good.ask(.standard, "/seen", [:], sharing) == seenByOthers)
                #expect(await good.ask(.pipeline, "/seen", [:], sharing) == seenByOthers)
                for cookie in storage.cookies ?? [] where cookie.value == "impostor" {
                    storage.deleteCookie(cookie)
                }
                #expect(storage.cookies?.count == 0 || hasRight)
            }
        }
    }

    @Test("[U-13.17] what came from a server with a pin that is wanted is everybody's")
    func pinned() async throws {
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let sharing = { (configuration: URLSessionConfiguration) in
            configuration.httpCookieStorage = storage
            configuration.urlCache = nil
        }
        try await Self.server("untrusted", sets: "sid=right; Secure; Path=/") { server in
            #expect(await server.ask(.pinsUntrusted, "/set", [:], sharing) == .answer(9))
            #expect(await server.ask(.accepting, "/seen", [:], sharing) == .answer(2))
        }
    }

    @Test(
        "[U-13.17] what came from a server that passes the default evaluation is everybody's, whoever accepted it"
    )
    func proven() async throws {
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let sharing = { (configuration: URLSessionConfiguration) in
            configuration.httpCookieStorage = storage
            configuration.urlCache = nil
        }
        try await Self.server("good", sets: "sid=right; Secure; Path=/") { good in
            #expect(await good.ask(.disabled, "/set", [:], sharing) == .answer(9))
            #expect(await good.ask(.standard, "/seen", [:], sharing) == .answer(2))
        }
    }
}
