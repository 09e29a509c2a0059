// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import Testing

@testable import Lupine

/// Many requests at once to a server that fails a third of what it is asked: each succeeds in the end, and none is sent
/// more often than its policy allows.
@Suite struct RetryStormTests {
    /// Fails by plan, and counts how often each request came.
    private final class FlakyServer: Sendable {
        struct State {
            var asked: [Int: Int] = [:]
            var failures = 0
        }

        let state = Protected(State())
        private let statuses = [408, 500, 502, 503, 504]

        /// The first turns of a request that fail: none for seven of ten, else one or two of them.
        static func failingTurns(of number: Int) -> Int { number % 10 < 7 ? 0 : number % 10 - 6 }

        func serve(at origin: LupineOrigin.Origin) {
            origin.route("GET", "/storm/{number}") { [state, statuses] request throws(Refusal) in
                guard let number = request.parameters.first.flatMap({ Int($0) }) else {
                    throw .badRequest("no number")
                }
                let turn = state.write { state in
                    state.asked[number, default: 0] += 1
                    return state.asked[number, default: 0]
                }
                guard turn <= Self.failingTurns(of: number) else {
                    return try OriginResponse(200, "text/plain", Array("\(number)".utf8))
                }
                state.write { $0.failures += 1 }
                return OriginResponse(statuses[(number / 10 + turn) % statuses.count])
            }
        }
    }

    @Test("10,000 requests, of which three in ten fail up to three times by their status, all succeed")
    func statuses() async throws {
        try await PolicyStage.run { stage in
            let server = FlakyServer()
            server.serve(at: stage.origin)
            let policy = RetryPolicy(retryLimit: 3, exponentialBackoffScale: 0.001, timing: .init(jitter: 1))
            try await stage.withSession(
                interceptor: policy, configure: { $0.httpMaximumConnectionsPerHost = 32 }
            ) { session in
                let numbers = 0..<10_000
                let wrong = await withTaskGroup(of: Int.self) { group in
                    for worker in 0..<200 {
                        group.addTask {
                            var wrong = 0
                            for number in stride(from: worker, to: numbers.upperBound, by: 200) {
                                let request = session.request(stage.url("/storm/\(number)")).validate()
                                let text = await request.endedWithText().value
                                let isRight =
                                    text == "\(number)"
                                    && request.retryCount == FlakyServer.failingTurns(of: number)
                                if !isRight { wrong += 1 }
                            }
                            return wrong
                        }
                    }
                    return await group.reduce(0, +)
                }
                #expect(wrong == 0)
            }
            let state = server.state.read { $0 }
            #expect(state.asked.count == 10_000)
            #expect(state.asked.allSatisfy { $0.value == FlakyServer.failingTurns(of: $0.key) + 1 })
            #expect(state.failures == 6_000)
        }
    }

    @Test("connections that break in every way a script can break them, all succeed within the limit")
    func brokenConnections() async throws {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let ways: [(String, [Script.Step])] = [
            ("closed behind the request", [.close]), ("reset behind the request", [.reset]),
            ("closed within the head", [.send("HTTP/1.1 200 OK\r\nContent-"), .close]),
            ("reset within the head", [.send("HTTP/1.1 200 OK\r\nContent-"), .reset]),
            ("closed within the body", [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"), .close]),
            ("reset within the body", [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"), .reset]),
            (
                "closed within a chunk",
                [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok"), .close]
            ),
        ]
        try await PolicyStage.run { stage in
            let policy = RetryPolicy(retryLimit: 3, exponentialBackoffScale: 0.001)
            try await stage.withSession(interceptor: policy) { session in
                for (number, way) in ways.enumerated() {
                    let answer = Script([.send(whole), .close])
                    stage.origin.script(
                        "PUT", "/broken/\(number)", ScriptPlan([Script(way.1), Script(way.1), answer]))
                    let request = session.request(stage.url("/broken/\(number)"), method: .put)
                    let end = await request.endedWithText()
                    #expect(end.value == "ok" && request.retryCount <= 3, "\(way.0): \(end)")
                }
            }
        }
    }
}
