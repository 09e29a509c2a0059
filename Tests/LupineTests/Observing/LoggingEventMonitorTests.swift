// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// The lines that a `LoggingEventMonitor` writes.
struct LoggingEventMonitorTests {
    @Test("each event of a request is one line, without its credentials", arguments: TestedHTTP.allCases)
    func lines(over testedHTTP: TestedHTTP) async throws {
        let lines = ValueLog<String>()
        let monitor = LoggingEventMonitor { lines.add($0) }
        try await withObserved(monitors: [monitor], over: testedHTTP) { stage in
            let url = stage.url("/get?token=tok-secret&page=2").replacing(
                "//127", with: "//user:pw-secret@127")
            let headers: HTTPHeaders = [
                "Authorization": "Bearer b-secret", "Cookie": "id=c-secret", "X-Plain": "plain",
            ]
            let request = stage.session.request(url, headers: headers)
            #expect(await request.serializingString().response.error == nil)
            var all: [String] = []
            while !(all.last?.contains("has its response as String, success") ?? false) {
                all = await lines.wait(for: all.count + 1)
            }
            let name = "request \(request.id.uuidString.prefix(8)) "
            let requestLines = all.filter { $0.hasPrefix(name) }.map { $0.dropFirst(name.count) }
            #expect(requestLines.first == "was resumed")
            #expect(requestLines.contains("has finished"))
            #expect(
                requestLines.contains {
                    $0.hasPrefix("is ready: GET http://[redacted]@127.0.0.1") && $0.contains("X-Plain: plain")
                        && $0.contains("page=2")
                })
            #expect(all.contains { $0.contains("received the response 200") })
            #expect(all.allSatisfy { !$0.contains("secret") && !$0.contains("\n") })
        }
    }

    @Test(
        "the value of a sensitive field is hidden in requests and in responses",
        arguments: TestedHTTP.allCases)
    func sensitiveFields(over testedHTTP: TestedHTTP) async throws {
        let lines = ValueLog<String>()
        let monitor = LoggingEventMonitor { lines.add($0) }
        let change: (URLSessionConfiguration) -> Void = { $0.lupine.sensitiveFields.insert("X-Tenant") }
        try await withObserved(monitors: [monitor], configure: change, over: testedHTTP) { stage in
            let url = stage.url("/response-headers?X-Tenant=t-secret")
            _ = await stage.session.request(url, headers: ["X-Tenant": "t-secret"]).validate()
                .serializingData()
                .response
            var all: [String] = []
            while !all.contains(where: { $0.contains("has its response as Data") }) {
                all = await lines.wait(for: all.count + 1)
            }
            let name = testedHTTP == .http1 ? "X-Tenant" : "x-tenant"
            #expect(all.contains { $0.contains("was validated: 200") && $0.contains("\(name): [redacted]") })
            #expect(all.contains { $0.contains("is ready") && $0.contains("X-Tenant: [redacted]") })
            #expect(all.allSatisfy { !$0.lowercased().contains("x-tenant: t-secret") })
        }
    }

    @Test("the line of a failure contains the error's description", arguments: TestedHTTP.allCases)
    func failure(over testedHTTP: TestedHTTP) async throws {
        let lines = ValueLog<String>()
        let monitor = LoggingEventMonitor { lines.add($0) }
        try await withObserved(monitors: [monitor], over: testedHTTP) { stage in
            let response = await stage.session.request(stage.url("/status/404")).validate().serializingData()
                .response
            let error = try #require(response.error)
            var all: [String] = []
            while !all.contains(where: { $0.contains("has its response as Data, failure") }) {
                all = await lines.wait(for: all.count + 1)
            }
            #expect(all.contains { $0.contains("was validated: 404") && $0.contains(", failure: ") })
            #expect(all.contains { $0.contains(LogRedaction.line(error.localizedDescription)) })
        }
    }
}
