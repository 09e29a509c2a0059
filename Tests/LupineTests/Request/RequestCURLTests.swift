// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTransport
import Testing

@testable import Lupine

/// The curl command of a request, and its description.
struct RequestCURLTests {
    /// Returns the parts of a request's curl command, after its response.
    private static func parts(_ request: DataRequest) async -> [String] {
        _ = await request.answered()
        return request.cURLDescription().components(separatedBy: " \\\n\t")
    }

    @Test("[R-85] the command has method, headers and body, escaped, and the URL last")
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

    @Test("[R-85] the command has the request's credentials, else those of the storage, and cookies")
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
            #expect(await Self.parts(request).filter { $0.hasPrefix("-u") } == ["-u \"own:***\""])
            #expect(request.cURLDescription(showingPasswords: true).contains("-u own:secret "))
            for request in [
                stage.get(resumes: false).authenticate(username: "own", password: "secret"),
                stage.session.request(stage.url().replacing("http://", with: "http://own:secret@")),
                stage.session.request(stage.url(), headers: [.authorization(bearerToken: "own")]),
            ] {
                #expect(await !Self.parts(request.resume()).contains { $0.hasPrefix("-u \"stored") })
            }
            let parts = await Self.parts(stage.get())
            #expect(parts.filter { $0.hasPrefix("-u") } == ["-u \"stored:***\""])
            let line = try #require(parts.first { $0.hasPrefix("-b ") })
            #expect(["-b \"a=1;b=1\"", "-b \"b=1;a=1\""].contains(line))
        }
    }

    struct VersionRow: Sendable, CustomTestStringConvertible {
        let versions: HTTPVersions
        let address: String
        let option: String?

        var testDescription: String { "\(versions.rawValue), \(address): \(option ?? "no option")" }
    }

    @Test(
        "[R-85] the option for the HTTP version that the session is limited to",
        arguments: [
            VersionRow(versions: .http11, address: "https://origin.test/", option: "--http1.1"),
            VersionRow(versions: .http11, address: "HTTPS://origin.test/", option: "--http1.1"),
            VersionRow(versions: .http11, address: "http://origin.test/", option: nil),
            VersionRow(versions: [.http11, .http2], address: "https://origin.test/", option: nil),
            VersionRow(versions: [.http11, .http2], address: "http://origin.test/", option: nil),
            VersionRow(
                versions: .http2, address: "https://origin.test/", option: "--http2-prior-knowledge"),
            VersionRow(versions: .http2, address: "http://origin.test/", option: "--http2-prior-knowledge"),
            VersionRow(versions: .http2, address: "ws://origin.test/", option: nil),
        ])
    func version(_ row: VersionRow) throws {
        let url = try #require(URL(string: row.address))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.lupine.httpVersions = row.versions
        var command = CURLCommand(method: "GET", showsPasswords: false)
        command.addVersion(of: configuration.lupine, for: url)
        let parts = command.text(for: url).components(separatedBy: " \\\n\t")
        let expected = ["$ curl -v", "-X GET"] + (row.option.map { [$0] } ?? []) + ["\"\(url)\""]
        #expect(parts == expected)
    }

    @Test("[R-85] the version of HTTP follows the method")
    func versionOfASession() async throws {
        var setUp = PipelineSetUp()
        setUp.leaf = "good"
        setUp.configure = { $0.lupine.httpVersions = .http11 }
        try await withPipeline(setUp) { stage in
            let parts = await Self.parts(stage.get())
            #expect(parts.prefix(3) == ["$ curl -v", "-X GET", "--http1.1"])
        }
    }

    @Test("[R-86] after its session was deallocated, the command has only the request's fields")
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

    @Test("[R-90] `description` has the method, the URL and, once there is one, the status")
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
