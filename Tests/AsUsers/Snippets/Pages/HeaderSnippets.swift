// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `Headers.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct HeaderSnippets {
    @Test func headers() async throws {
        try await API.serve { api in
            var headers: HTTPHeaders = [
                .accept("application/json"),
                .authorization(bearerToken: "secret"),
            ]
            headers["X-Colour"] = "blue"
            let response = await AF.request("\(api)/headers", headers: headers).serializingString().response
            #expect(response.value?.contains("X-Colour") == true)
            #expect(headers["x-colour"] == "blue")
        }
    }

    @Test func defaults() async throws {
        try await API.serve { api in
            let configuration = URLSessionConfiguration.af.default
            configuration.headers.add(name: "X-Client-Version", value: "1.4.2")
            let session = Session(configuration: configuration)
            let echo = try await session.request("\(api)/get").serializingDecodable(Echo.self).value
            #expect(echo.headers["X-Client-Version"] == "1.4.2")
            #expect(echo.headers["User-Agent"]?.isEmpty == false)
            #expect(echo.headers["Accept-Encoding"]?.isEmpty == false)
        }
    }

    @Test func languages() async throws {
        try await API.serve { api in
            let configuration = URLSessionConfiguration.af.default
            configuration.headers.update(.acceptLanguage("de-AT, de;q=0.9"))
            let session = Session(configuration: configuration)
            let echo = try await session.request("\(api)/get").serializingDecodable(Echo.self).value
            #expect(echo.headers["Accept-Language"] == "de-AT, de;q=0.9")
        }
    }

    @Test func noLanguage() async throws {
        try await API.serve { api in
            let configuration = URLSessionConfiguration.af.default
            configuration.headers.remove(name: "Accept-Language")
            configuration.lupine.omittedFields.insert("Accept-Language")
            let session = Session(configuration: configuration)
            let echo = try await session.request("\(api)/get").serializingDecodable(Echo.self).value
            #expect(echo.headers["Accept-Language"] == nil)
        }
    }

    @Test func responseHeaders() async throws {
        try await API.serve { api in
            let response = await AF.request("\(api)/get").serializingData().response
            for header in response.response?.headers.sorted() ?? [] {
                print(header.name, header.value)
            }
            print(response.response?.headers["content-type"] ?? "")
            #expect(response.response?.headers["content-type"] == "application/json")
        }
    }
}
