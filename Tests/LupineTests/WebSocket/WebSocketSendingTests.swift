// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Messages and pings that are sent to the server.
struct WebSocketSendingTests {
    @Test(
        "[W-11] messages sent before there is a task are sent first, in order", arguments: TestedHTTP.allCases
    )
    func queued(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let (request, outcomes, texts) = (
                stage.socket(resumes: false), ValueLog<String>(), (0..<20).map { "text \($0)" }
            )
            let log = request.log()
            for text in texts.prefix(10) { request.sendText(text, outcomes) }
            #expect(outcomes.all.isEmpty)
            request.resume()
            for text in texts.suffix(10) { request.sendText(text, outcomes) }
            #expect(
                await log.events.wait(for: 21) == ["connected -"] + texts.map { "message \($0)" })
            #expect(await Set(outcomes.wait(for: 20)) == Set(texts.map { "\($0) sent" }))
            request.cancel()
        }
    }

    @Test("[W-11] the completion handler of send is called on its queue", arguments: TestedHTTP.allCases)
    func queue(over testedHTTP: TestedHTTP) async throws {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "sent")
        queue.setSpecific(key: key, value: true)
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket()
            _ = request.log()
            let isOnQueue = await withCheckedContinuation { continuation in
                request.send(.data(Data([1, 2])), queue: queue) { _ in
                    continuation.resume(returning: DispatchQueue.getSpecific(key: key) == true)
                }
            }
            #expect(isOnQueue)
            request.cancel()
        }
    }

    @Test(
        "[W-11] messages that were not sent complete with an error",
        arguments: ["cancel", "close", "fail", "dropped"],
        TestedHTTP.allCases)
    func unsent(ending: String, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let outcomes = ValueLog<String>()
            do {
                let request =
                    ending == "fail"
                    ? stage.session.webSocketRequest(to: "") : stage.socket(resumes: false)
                request.sendText("a", outcomes)
                request.sendText("b", outcomes)
                switch ending {
                case "cancel": request.cancel()
                case "close": request.close(sending: .normalClosure)
                case "fail": request.resume()
                default: break
                }
            }
            let error = ending == "fail" ? "invalidURL" : "explicit"
            #expect(await Set(outcomes.wait(for: 2)) == ["a \(error)", "b \(error)"])
        }
    }

    @Test(
        "[W-11] on an invalidated URLSession messages complete with an error", arguments: TestedHTTP.allCases)
    func invalidated(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            stage.session.session.invalidateAndCancel()
            await stage.recorder.heard.wait(untilRecorded: "s1")
            let (request, outcomes) = (stage.socket(resumes: false), ValueLog<String>())
            request.sendText("a", outcomes)
            let log = request.log()
            request.resume()
            #expect(await log.all == ["completed invalidated"])
            #expect(await outcomes.wait(for: 1) == ["a invalidated"])
        }
    }

    @Test("[W-11] messages of a task that fails complete with its error", arguments: TestedHTTP.allCases)
    func failed(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let (request, outcomes) = (stage.socket(path: "/status/500"), ValueLog<String>())
            request.sendText("a", outcomes)
            let log = request.log()
            #expect(await outcomes.wait(for: 1) == ["a url -1011"])
            #expect(await log.all == ["completed task url -1011"])
        }
    }

    @Test(
        "[W-11] a message sent between two attempts is sent by the next one", arguments: TestedHTTP.allCases)
    func betweenAttempts(over testedHTTP: TestedHTTP) async throws {
        let (attempts, interceptor) = (Protected(0), Protected<ScriptedInterceptor?>(nil))
        try await withPipeline(over: testedHTTP) { stage in
            let (refused, good) = (stage.socketURL(path: "/status/500"), stage.socketURL())
            let scripted = ScriptedInterceptor(
                adapt: { adaptation in
                    let count = attempts.write { count in
                        count += 1
                        return count
                    }
                    var request = adaptation.request
                    request.url = URL(string: count == 1 ? refused : good)
                    adaptation.answer(.success(request))
                }, retry: { _ in })
            interceptor.write { $0 = scripted }
            let (request, outcomes) = (stage.socket(interceptor: scripted), ValueLog<String>())
            let log = request.log()
            let question = await scripted.questions.wait(for: 1)[0]
            request.sendText("late", outcomes)
            question.answer(.retry)
            #expect(await log.events.wait(for: 2) == ["connected -", "message late"])
            #expect(await outcomes.wait(for: 1) == ["late sent"])
            request.cancel()
        }
    }

    @Test(
        "[W-11] a request that was cancelled or has finished sends nothing", arguments: [true, false],
        TestedHTTP.allCases)
    func over(isCancelled: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let (request, outcomes) = (stage.socket(isCancelled ? "" : "close=1000"), ValueLog<String>())
            let log = request.log()
            await log.events.wait(for: 1)
            if isCancelled { request.cancel() }
            _ = await log.all
            await stage.settle()
            request.sendText("late", outcomes)
            #expect(await outcomes.wait(for: 1) == ["late explicit"])
        }
    }

    // MARK: pings

    @Test(
        "[W-12] a ping that cannot be sent responds asynchronously that it is unsent",
        arguments: TestedHTTP.allCases)
    func unsentPing(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(adapt: { _ in })
        defer { interceptor.releaseRecords() }
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket(interceptor: interceptor, resumes: false)
            let (queue, heard) = (DispatchQueue(label: "pong"), ValueLog<String>())
            queue.suspend()
            request.sendPing(respondingOn: queue) { heard.add($0.brief) }
            #expect(heard.all.isEmpty)
            queue.resume()
            #expect(await heard.wait(for: 1) == ["unsent"])
            request.resume()
            await interceptor.adaptations.wait(for: 1)
            #expect(await request.pingAndWait().brief == "unsent")
            request.suspend()
            #expect(await request.pingAndWait().brief == "unsent")
            request.cancel()
            #expect(await request.pingAndWait().brief == "unsent")
        }
    }

    @Test("[W-12] each of many pings has its own pong, with its times", arguments: TestedHTTP.allCases)
    func pings(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.socket()
            let log = request.log()
            await log.events.wait(for: 1)
            let (before, responses) = (Date(), ValueLog<WebSocketRequest.PingResponse>())
            for _ in 0..<20 {
                request.sendPing(respondingOn: DispatchQueue(label: "pong")) { responses.add($0) }
            }
            for response in await responses.wait(for: 20) {
                guard case .pong(let pong) = response else {
                    Issue.record("\(response.brief)")
                    continue
                }
                #expect(pong.start >= before && pong.end >= pong.start && pong.latency > 0)
            }
            await stage.settle()
            #expect(responses.all.count == 20)
            request.cancel()
        }
    }

    @Test(
        "[W-12] an event can send pings, and pings on a lost connection fail",
        arguments: TestedHTTP.allCases)
    func pingErrors(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(retry: { _ in })
        defer { interceptor.releaseRecords() }
        try await withPipeline(over: testedHTTP) { stage in
            let (request, heard) = (stage.socket("drop=1", interceptor: interceptor), ValueLog<String>())
            let log = request.log { event in
                guard case .connected = event.kind else { return }
                event.sendPing(respondingOn: DispatchQueue(label: "pong")) { heard.add($0.brief) }
            }
            #expect(await heard.wait(for: 1) == ["pong"])
            request.sendText("last", ValueLog())
            await interceptor.questions.wait(for: 1)
            #expect(request.isResumed)
            #expect(await request.pingAndWait().brief == "error lost")
            request.cancel()
            #expect(await log.all.last == "completed task lost")
        }
    }
}
