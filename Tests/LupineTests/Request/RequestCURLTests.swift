// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import Testing

@testable import Lupine

/// The line for a shell, and the line for people.
struct RequestCURLTests {
    /// The parts of a request's line, once it has been answered.
    private static func parts(_ request: DataRequest) async -> [String] {
        _ = await request.answered()
        return request.cURLDescription().components(separatedBy: " \\\n\t")
    }

    @Test("[R-85] method, headers and body, with what has to be escaped; the address last")
    func line() async throws {
        var setUp = PipelineSetUp()
        setUp.configure = {
            $0.httpAdditionalHeaders = ["X-Both": "session", "X-Session": "s", "Cookie": "no"]
        }
        try await withPipeline(setUp) { stage in
            let request = stage.session.request(
                stage.url("/post"), method: .post,
                headers: ["x-both": "a \"b\"", "X-Own": "o", "Cookie": "no"],
                requestModifier: { $0.httpBody = Data(#"{"a":"\"b\""}"#.utf8) })
            let parts = await Self.parts(request)
            #expect(parts.first == "$ curl -v" && parts.dropFirst().first == "-X POST")
            #expect(parts.last == "\"\(stage.url("/post"))\"")
            #expect(parts.contains(#"-d "{\"a\":\"\\\"b\\\"\"}""#))
            #expect(parts.contains("-H \"X-Own: o\"") && parts.contains("-H \"X-Session: s\""))
            #expect(parts.filter { $0.lowercased().hasPrefix("-h \"x-both") }.count == 1)
            #expect(parts.contains { $0.hasSuffix(#": a \"b\"""#) })
            #expect(!parts.contains { $0.contains("Cookie") })
        }
    }

    @Test("[R-85] credentials: those of the storage, or else the request's own; cookies")
    func credentialsAndCookies() async throws {
        let storage = URLCredentialStorage()
        var setUp = PipelineSetUp()
        setUp.configure = { $0.urlCredentialStorage = storage }
        try await withPipeline(setUp) { stage in
            let cookies = try #require(stage.session.sessionConfiguration.httpCookieStorage)
            let request = stage.get(resumes: false).authenticate(username: "own", password: "secret")
            request.resume()
            #expect(await Self.parts(request).contains("-u \"own:***\""))
            for name in ["a", "b"] {
                let cookie = HTTPCookie(properties: [
                    .name: name, .value: "1", .domain: "origin.test", .path: "/",
                ])
                cookies.setCookie(try #require(cookie))
            }
            storage.set(
                URLCredential(user: "stored", password: "known", persistence: .forSession),
                for: URLProtectionSpace(
                    host: "origin.test", port: Int(stage.origin.port), protocol: "http", realm: "origin.test",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
            let parts = await Self.parts(request)
            #expect(parts.contains("-u \"stored:***\"") && !parts.contains("-u \"own:***\""))
            #expect(request.cURLDescription(showingPasswords: true).contains("-u stored:known "))
            let line = try #require(parts.first { $0.hasPrefix("-b ") })
            #expect(["-b \"a=1;b=1\"", "-b \"b=1;a=1\""].contains(line))
        }
    }

    @Test("[R-86] without its session the line has what the request has")
    func withoutSession() async throws {
        try await withPipeline { stage in
            var session: Session? = try PipelineSetUp().session(of: stage.origin)
            let request = try #require(session).request(stage.url(), headers: ["X-Own": "o"])
            _ = await request.answered()
            await session?.settle()
            session = nil
            #expect(
                request.cURLDescription().components(separatedBy: " \\\n\t")
                    == ["$ curl -v", "-X GET", "-H \"X-Own: o\"", "\"\(stage.url())\""])
        }
    }

    @Test("[R-90] a request describes itself, with the status once there is one")
    func description() async throws {
        try await withPipeline { stage in
            let request = stage.get("/status/404", resumes: false)
            #expect(request.description == "No request created yet." && "\(request)" == request.description)
            _ = request.resume()
            _ = await request.answered()
            #expect(request.description == "GET \(stage.url("/status/404")) (404)")
            #expect(request == request && request != stage.get() && request.id == request.id)
        }
    }
}
