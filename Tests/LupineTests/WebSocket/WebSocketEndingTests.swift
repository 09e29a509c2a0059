// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The closing and cancelling of WebSocket requests.
struct WebSocketEndingTests {
    @Test("[W-9] close sends the code and the reason, and is not an error", arguments: TestedHTTP.allCases)
    func closed(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket()
            let log = request.log { event in
                if case .connected = event.kind {
                    event.close(sending: .goingAway, reason: Data("bye".utf8))
                }
            }
            #expect(await log.all == ["connected -", "disconnected 1001 bye", "completed nil"])
            await stage.settle()
            #expect(stage.events == "r1 r2 r6 r7 r8 r11 r12 s6 r13 s7 r15 r17")
            #expect(request.isCancelled && request.error == nil)
        }
    }

    @Test(
        "[W-9] messages sent before close are sent, and later ones fail",
        arguments: TestedHTTP.allCases)
    func closedBehindMessages(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let (request, outcomes) = (stage.socket(), ValueLog<String>())
            let log = request.log { event in
                guard case .connected = event.kind else { return }
                request.sendText("a", outcomes)
                request.sendText("b", outcomes)
                request.close(sending: .normalClosure)
                request.sendText("c", outcomes)
            }
            let all = await log.all
            #expect(await Set(outcomes.wait(for: 3)) == ["a sent", "b sent", "c explicit"])
            #expect(all.first == "connected -" && all.suffix(2) == ["disconnected 1000 -", "completed nil"])
        }
    }

    @Test(
        "[W-9] closing a request without a task completes it at once, without an error",
        arguments: TestedHTTP.allCases)
    func closedBeforeTask(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket(resumes: false)
            let log = request.log()
            #expect(request.close(sending: .normalClosure) === request)
            #expect(await log.all == ["completed nil"])
            await stage.settle()
            #expect(stage.events == "r11 r17" && request.isCancelled)
            request.resume()
            request.close(sending: .normalClosure)
            request.cancel()
            await stage.settle()
            #expect(stage.events == "r11 r17" && request.error == nil)
        }
    }

    @Test("[W-9] a suspended request can be closed", arguments: TestedHTTP.allCases)
    func closedWhileHeld(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket()
            let log = request.log()
            await log.events.wait(for: 1)
            request.suspend()
            request.close(sending: .normalClosure)
            #expect(await log.all == ["connected -", "disconnected 1000 -", "completed nil"])
            await stage.settle()
            #expect(stage.events.contains("r9 r10 r11 r12 s6"))
        }
    }

    @Test(
        "[W-9] close removes the error of a cancelled task and keeps any other",
        arguments: [true, false], TestedHTTP.allCases)
    func closedAfterFailure(wasCancelled: Bool, over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(retry: { _ in })
        defer { interceptor.releaseRecords() }
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket(
                path: wasCancelled ? "/websocket" : "/status/500", interceptor: interceptor)
            let log = request.log { event in
                if wasCancelled, case .connected = event.kind { request.task?.cancel() }
            }
            await interceptor.questions.wait(for: 1)
            await stage.settle()
            #expect(brief(request.error) == (wasCancelled ? "task cancelled" : "task url -1011"))
            request.close(sending: .normalClosure)
            #expect(await log.all.last == (wasCancelled ? "completed nil" : "completed task url -1011"))
            #expect(request.isCancelled)
        }
    }

    @Test(
        "[W-9] close cancels the task while it is connecting",
        arguments: TestedHTTP.allCases)
    func closedWhileConnecting(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            stage.origin.script("GET", "/held", ScriptPlan(.signal("asked"), .stall))
            let request = stage.socket(path: "/held")
            let log = request.log()
            await stage.waitForRequest()
            request.close(sending: .normalClosure)
            #expect(await log.all == ["completed task cancelled"])
            #expect(request.isCancelled)
        }
    }

    @Test("[W-9] close has no effect on a finished request", arguments: TestedHTTP.allCases)
    func closedAfterEnd(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket("close=1000")
            _ = await request.log().all
            request.close(sending: .goingAway)
            await stage.settle()
            #expect(request.isFinished && !stage.events.contains("r11"))
        }
    }

    @Test(
        "[W-10] a cancelled request has an error, and its handlers receive no more messages",
        arguments: TestedHTTP.allCases)
    func cancelled(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket("count=100")
            let log = request.log { event in
                if event.message?.brief == "3" { event.cancel() }
            }
            #expect(
                await log.all
                    == ["connected -"] + (0...3).map { "message \($0)" } + ["completed explicit"])
            await stage.settle()
            #expect(request.isCancelled && log.events.all.count == 6)
        }
    }

    @Test("[W-10] a cancellation has the same events as that of any request", arguments: TestedHTTP.allCases)
    func cancelledEvents(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket()
            let log = request.log { event in
                if case .connected = event.kind { #expect(request.cancel() === request) }
            }
            #expect(await log.all == ["connected -", "completed explicit"])
            await stage.settle()
            #expect(
                stage.events
                    == "r1 r2 r6 r7 r8 r11 r12 s6 r13 s7(cancelled) r15(task cancelled) r17")
        }
    }

    @Test(
        "[W-10] of close and cancel, only the first call has an effect",
        arguments: [true, false], TestedHTTP.allCases)
    func both(cancelsFirst: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket()
            let log = request.log { event in
                guard case .connected = event.kind else { return }
                if cancelsFirst { request.cancel().close(sending: .normalClosure) }
                if !cancelsFirst { request.close(sending: .normalClosure).cancel() }
            }
            let expected = cancelsFirst ? ["completed explicit"] : ["disconnected 1000 -", "completed nil"]
            #expect(await log.all == ["connected -"] + expected)
        }
    }

    @Test(
        "a handler no longer retains the request after the completion", .timeLimit(.minutes(10)),
        arguments: TestedHTTP.allCases)
    func released(over testedHTTP: TestedHTTP) async throws {
        weak var gone: WebSocketRequest?
        try await withPipeline(over: testedHTTP) { stage in
            do {
                let request = stage.socket("close=1000")
                gone = request
                #expect(await request.log { _ in _ = request.id }.all.count == 3)
            }
            await stage.settle()
            // Notifications of the request may still wait for the main queue, which other tests use too.
            while gone != nil { await Task.yield() }
        }
    }
}
