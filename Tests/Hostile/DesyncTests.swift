// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import LupineOrigin
import LupineTestKit
import Testing

/// Connections on which client and server could associate responses with different requests: bytes between requests, early
/// responses, bodies that are not read to their end.
@Suite struct DesyncTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"
    private static let clean = Script([
        .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nclean"), .stall,
    ])

    private func text(_ response: AFDataResponse<Data?>) -> String? {
        response.data.map { String(decoding: $0, as: UTF8.self) }
    }

    struct Unsolicited: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: String
    }

    static let unsolicited = [
        Unsolicited(testDescription: "a whole response", bytes: SplittingCase.forged),
        Unsolicited(testDescription: "the beginning of a response", bytes: "H"),
        Unsolicited(
            testDescription: "a 408 response",
            bytes: "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"),
        Unsolicited(testDescription: "an interim head", bytes: "HTTP/1.1 103 Early Hints\r\n\r\n"),
        Unsolicited(testDescription: "a line end", bytes: "\r\n"),
        Unsolicited(testDescription: "a blank", bytes: " "),
        Unsolicited(testDescription: "NUL", bytes: "\0"),
    ]

    @Test(
        "bytes on an idle connection close it, and answer no request", .timeLimit(.minutes(10)),
        arguments: unsolicited, [false, true])
    func idle(_ row: Unsolicited, _ isSecure: Bool) async throws {
        let plan = ScriptPlan([
            Script([
                .expectHead, .send(Self.answer), .waitForSignal("speak"), .send(row.bytes), .expectEnd,
                .signal("closed"),
            ]),
            Self.clean,
        ])
        try await HostileStage.with(plan, leaf: isSecure ? "good" : nil) { stage in
            let host = isSecure ? "127.0.0.1" : "origin.test"
            let first = await stage.session.request(stage.url("/first", host: host)).answered()
            #expect(text(first) == "first")
            stage.origin.gate("speak").open()
            await stage.origin.gate("closed").wait()
            let second = await stage.session.request(stage.url("/second", host: host)).answered()
            #expect(text(second) == "clean")
            #expect(stage.origin.counts.connectionsAccepted == 2)
        }
    }

    @Test(
        "a response in the middle of an upload is delivered, and its connection is not reused",
        .timeLimit(.minutes(10)), arguments: [200, 413, 401])
    func early(_ status: Int) async throws {
        let plan = ScriptPlan([
            Script([
                .expectHead, .send("HTTP/1.1 \(status) Early\r\nContent-Length: 5\r\n\r\nfirst"),
                .send(SplittingCase.forged), .stall,
            ]),
            Self.clean,
        ])
        try await HostileStage.with(plan) { stage in
            let first = await stage.session.upload(Data(count: 32 << 20), to: stage.url("/first")).answered()
            #expect(text(first) == "first" && first.response?.statusCode == status)
            let second = await stage.session.request(stage.url("/second")).answered()
            #expect(text(second) == "clean")
            #expect(stage.origin.counts.connectionsAccepted == 2)
        }
    }

    @Test(
        "the remainder of a cancelled response is not delivered to the next request", .timeLimit(.minutes(10))
    )
    func cancelled() async throws {
        let plan = ScriptPlan([
            Script([
                .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"), .signal("half"),
                .expectEnd, .send("other" + SplittingCase.forged), .signal("remainder"),
            ]),
            Self.clean,
        ])
        try await HostileStage.with(plan) { stage in
            let request = stage.session.request(stage.url("/first"))
            async let first = request.answered()
            await stage.origin.gate("half").wait()
            request.cancel()
            let error = await first.error
            #expect(error?.isExplicitlyCancelledError == true)
            let second = await stage.session.request(stage.url("/second")).answered()
            #expect(text(second) == "clean")
        }
    }

    @Test("a response sent before its request does not answer the second request", .timeLimit(.minutes(10)))
    func beforeTheRequest() async throws {
        let plan = ScriptPlan([
            Script([.send(SplittingCase.forged + SplittingCase.forged), .expectEnd, .signal("closed")]),
            Self.clean,
        ])
        try await HostileStage.with(plan) { stage in
            // The early bytes may be an error or the response of the first request, which has this connection to itself.
            _ = await stage.session.request(stage.url("/first")).answered()
            await stage.origin.gate("closed").wait()
            let second = await stage.session.request(stage.url("/second")).answered()
            #expect(text(second) == "clean")
        }
    }

    @Test("every request gets its own response while others are cancelled", .timeLimit(.minutes(10)))
    func ownAnswers() async throws {
        try await HostileStage.with { stage in
            stage.origin.route("GET", "/number/{n}") { request throws(Refusal) in
                try OriginResponse(200, "text/plain", Array(request.parameters[0].utf8))
            }
            await withTaskGroup { group in
                for number in 0..<300 {
                    group.addTask {
                        let request = stage.session.request(stage.url("/number/\(number)"))
                        if number % 3 == 0 { request.cancel() }
                        let response = await request.answered()
                        if number % 3 != 0 || response.error == nil {
                            #expect(self.text(response) == String(number))
                        }
                    }
                }
            }
        }
    }
}
