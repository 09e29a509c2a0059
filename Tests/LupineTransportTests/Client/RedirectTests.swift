// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Redirects: the request that follows each, and the fields that are not sent to another origin.
@Suite struct RedirectTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let status: Int
        let method: Method
        let following: Method
        var keepsBody = false
        var testDescription: String { "\(status) after \(method)" }
    }

    static let rows = [
        Row(status: 301, method: .get, following: .get), Row(status: 302, method: .get, following: .get),
        Row(status: 303, method: .get, following: .get), Row(status: 307, method: .get, following: .get),
        Row(status: 308, method: .get, following: .get), Row(status: 301, method: .post, following: .get),
        Row(status: 302, method: .post, following: .get), Row(status: 303, method: .post, following: .get),
        Row(status: 307, method: .post, following: .post, keepsBody: true),
        Row(status: 308, method: .post, following: .post, keepsBody: true),
        Row(status: 301, method: .put, following: .put, keepsBody: true),
        Row(status: 303, method: .put, following: .get),
        Row(status: 303, method: .head, following: .head),
    ]

    @Test(arguments: rows, TestedHTTP.allCases) func theFollowingRequest(
        _ row: Row, over testedHTTP: TestedHTTP
    )
        async throws
    {
        let plan = ScriptPlan(
            .expectHead, .expectBytes(row.method == .get || row.method == .head ? 0 : 4),
            .reply("", status: "\(row.status) Elsewhere", "Location: /there\r\n"), .expectHead,
            .expectBytes(row.keepsBody ? 4 : 0), .send("HTTP/1.1 204 No Content\r\n\r\n"), .stall)
        try await withStack(plan, over: testedHTTP, settings: .with { $0.redirectLimit = 5 }) {
            client, origin in
            var fields = Fields()
            try fields.append(.authorization, "secret")
            try fields.append(.contentType, "text/plain")
            let hasBody = row.method != .get && row.method != .head
            let response = try await client.send(
                HTTPRequest(
                    method: row.method, url: origin.url + "/here", fields: fields,
                    body: hasBody ? .text("body") : .none))
            #expect(response.status.code == 204)
            #expect(response.url.path == "/there")
            let wire = String(decoding: origin.receivedAsHTTP1(on: 0), as: UTF8.self)
            let second = wire[(wire.firstRange(of: "/there")?.lowerBound ?? wire.startIndex)...]
            #expect(wire.contains("\(row.following) /there HTTP/1.1"))
            #expect(second.contains("Authorization: secret"))
            #expect(second.contains("body") == row.keepsBody)
            if hasBody { #expect(second.contains("Content-Type") == row.keepsBody) }
            #expect(client.connectionsOpened == 1)
        }
    }

    @Test(arguments: TestedHTTP.allCases) func credentialsStayWithTheirOrigin(over testedHTTP: TestedHTTP)
        async throws
    {
        let other = try OriginServer.start(configuration: recording(testedHTTP))
        try await withStack(
            ScriptPlan(
                .expectHead, .reply("", status: "302 Found", "Location: \(other.url)/get\r\n"), .stall),
            over: testedHTTP,
            settings: .with { $0.redirectLimit = 5 }
        ) { client, origin in
            var fields = Fields()
            try fields.append(.authorization, "secret")
            try fields.append(.cookie, "secret=1")
            try fields.append(.accept, "text/x-kept")
            let response = try await client.send(HTTPRequest(url: origin.url + "/", fields: fields))
            #expect(response.status.code == 200)
            let wire = String(decoding: other.receivedAsHTTP1(on: 0), as: UTF8.self)
            #expect(!wire.contains("secret") && wire.contains("text/x-kept"))
            #expect(wire.contains("Host: 127.0.0.1:\(other.port)\r\n"))
        }
        await other.shutdown()
    }

    @Test(arguments: TestedHTTP.allCases) func theRedirectLimit(over testedHTTP: TestedHTTP) async throws {
        try await withStack(over: testedHTTP, settings: .with { $0.redirectLimit = 3 }) { client, origin in
            let last = try await client.get(origin.url + "/redirect/3")
            #expect(last.status.code == 200)
            let error = await failure { () throws(TransportError) in
                try await client.get(origin.url + "/redirect/4")
            }
            #expect(error == .tooManyRedirects(limit: 3))
        }
    }

    @Test(arguments: TestedHTTP.allCases) func withoutTheOptionTheRedirectIsTheAnswer(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        try await withStack(over: testedHTTP) { client, origin in
            let response = try await client.get(origin.url + "/redirect/1")
            #expect(response.status.code == 302 && response.fields[.location] != nil)
        }
    }

    @Test(arguments: TestedHTTP.allCases) func aStreamIsNotSentTwice(over testedHTTP: TestedHTTP) async throws
    {
        let plan = ScriptPlan(
            .expectHead, .expectBytes(testedHTTP == .http1 ? 3 + 3 + 2 + 5 : 3),
            .reply("", status: "307 Again", "Location: /there\r\n"),
            .stall)
        try await withStack(plan, over: testedHTTP, settings: .with { $0.redirectLimit = 5 }) {
            client, origin in
            let isGiven = Box(false)
            let body = HTTPRequest.Body.stream(length: nil) {
                defer { isGiven.update { $0 = true } }
                return isGiven.value ? nil : Array("abc".utf8)
            }
            let response = try await client.send(
                HTTPRequest(method: .post, url: origin.url + "/", body: body))
            #expect(response.status.code == 307)
        }
    }

    @Test(
        arguments: [
            "http+unix://%2Frun%2Fdaemon.sock/info", "ftp://example.test/", "http://user@example.test/",
        ], TestedHTTP.allCases)
    func redirectsThatAreNotAllowed(_ location: String, over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(
            .expectHead, .reply("", status: "302 Found", "Location: \(location)\r\n"), .stall)
        try await withStack(plan, over: testedHTTP, settings: .with { $0.redirectLimit = 5 }) {
            client, origin in
            let error = await failure { () throws(TransportError) in try await client.get(origin.url + "/") }
            guard case .redirect? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    private func recording(_ testedHTTP: TestedHTTP) -> OriginConfiguration {
        var configuration = OriginConfiguration()
        configuration.enable(testedHTTP)
        configuration.recordedBytes = 1 << 16
        return configuration
    }
}
