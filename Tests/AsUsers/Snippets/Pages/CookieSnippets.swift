// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `Cookies.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct CookieSnippets {
    @Test func storedAndSent() async throws {
        try await API.serve { api in
            let configuration = URLSessionConfiguration.ephemeral
            let session = Session(configuration: configuration)
            _ = await session.request("\(api)/cookies/set/session/4711").serializingData().response
            let text = try await session.request("\(api)/cookies").serializingString().value
            for cookie in configuration.httpCookieStorage?.cookies ?? [] {
                print(cookie.name, cookie.value, cookie.domain, cookie.path, cookie.isSecure)
            }
            #expect(text.contains("4711"))
            #expect(configuration.httpCookieStorage?.cookies?.count == 1)
            await withCheckedContinuation { continuation in
                session.session.flush {
                    print("stored")
                    continuation.resume()  // not on the page
                }
            }
        }
    }

    @Test func ofEachUser() async throws {
        func session(of user: String) -> Session {
            let configuration = URLSessionConfiguration.af.default
            configuration.httpCookieStorage = URLSessionConfiguration.ephemeral.httpCookieStorage
            return Session(configuration: configuration)
        }
        try await API.serve { api in
            let (one, other) = (session(of: "one"), session(of: "other"))
            _ = await one.request("\(api)/cookies/set/name/one").serializingData().response
            let text = try await other.request("\(api)/cookies").serializingString().value
            #expect(!text.contains("one"))
        }
    }

    @Test func byHand() async throws {
        try await API.serve { api in
            let (host, url) = ("127.0.0.1", try #require(URL(string: "\(api)/cookies")))
            let session = Session(configuration: .ephemeral)
            let cookie = HTTPCookie(properties: [
                .name: "theme", .value: "dark", .domain: host, .path: "/", .secure: "FALSE",
                .expires: Date(timeIntervalSinceNow: 3600),
            ])
            if let cookie { session.sessionConfiguration.httpCookieStorage?.setCookie(cookie) }
            #expect(try await session.request(url).serializingString().value.contains("dark"))

            let storage = session.sessionConfiguration.httpCookieStorage
            for cookie in storage?.cookies(for: url) ?? [] { storage?.deleteCookie(cookie) }
            storage?.removeCookies(since: .distantPast)
            #expect(storage?.cookies?.isEmpty == true)
        }
    }

    @Test func inAHeader() async throws {
        try await API.serve { api in
            let session = Session(configuration: .ephemeral)
            let response = await session.request(
                "\(api)/cookies", headers: ["Cookie": "theme=dark"],
                requestModifier: { $0.httpShouldHandleCookies = false }
            )
            .serializingString()
            .response
            #expect(response.value?.contains("dark") == true)
        }
    }
}
