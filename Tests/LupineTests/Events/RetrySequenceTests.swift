// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The events that monitors receive for requests that are retried.
struct RetrySequenceTests {
    @Test("[R-51, R-54, I-1.19, I-1.25, E-5] after a failed task", arguments: TestedHTTP.allCases)
    func task(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(answers: [.retry])
        try await withPipeline(over: testedHTTP) { stage in
            stage.origin.answer(
                "GET", "/flaky",
                ScriptPlan([
                    Script([.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .close]),
                    Script([.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .close]),
                ]))
            let request = stage.get("/flaky", interceptor: interceptor)
            let response = await request.parsed()
            #expect(response.data == Data("ok".utf8) && response.error == nil)
            await stage.settle()
            #expect(
                stage.events
                    == """
                    r1 r2 r4 r6 r7 r8 s9 s10 s6 r13 s7(lost) r15(task lost) \
                    r16 r2 r4 r6 r7 r8 s9 s10 s11 s6 r13 s7 r15 r17 d3
                    """)
            #expect(interceptor.errors == ["task lost"])
        }
    }

    @Test("[S-21, S-25, I-1.19] after a failed creation of the URLRequest", arguments: TestedHTTP.allCases)
    func creation(over testedHTTP: TestedHTTP) async throws {
        let calls = Protected(0)
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.session.request(
                stage.url(), interceptor: ScriptedInterceptor(answers: [.retry]),
                requestModifier: { _ in
                    let count = calls.write { count in
                        count += 1
                        return count
                    }
                    if count == 1 { throw BriefError("no") }
                })
            #expect(await request.parsed().error == nil)
            await stage.settle()
            #expect(
                stage.events
                    == "r1 r3(create no) r16 r2 r4 r6 r7 r8 s9 s10 s11 s6 r13 s7 r15 r17 d3")
            #expect(calls.read { $0 } == 2 && request.retryCount == 1 && request.tasks.count == 1)
        }
    }

    @Test("[S-22, S-25, I-1.11, I-1.19] after a failed adapter", arguments: TestedHTTP.allCases)
    func adaptation(over testedHTTP: TestedHTTP) async throws {
        let calls = Protected(0)
        let interceptor = ScriptedInterceptor(
            adapt: { adaptation in
                let isFirst = calls.write { count in
                    count += 1
                    return count == 1
                }
                adaptation.answer(isFirst ? .failure(BriefError("no")) : .success(adaptation.request))
            }, retry: { $0.answer(.retryWithDelay(0)) })
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get(interceptor: interceptor)
            #expect(await request.parsed().error == nil)
            await stage.settle()
            #expect(
                stage.events
                    == "r1 r2 r5(adapt no) r16 r2 r4 r6 r7 r8 s9 s10 s11 s6 r13 s7 r15 r17 d3")
            #expect(interceptor.errors == ["adapt no"] && request.requests.count == 3)
        }
    }

    @Test(
        "[E-7, E-8, R-52, I-1.23, DR-8] after a failure of the second of three serializers: all run again",
        arguments: TestedHTTP.allCases)
    func serializer(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(answers: [.retry])
        try await withPipeline(over: testedHTTP) { stage in
            let runs = Protected(0)
            let ended = ValueLog<String>()
            let serializer = ClosureSerializer { _ in
                let isFirst = runs.write { count in
                    count += 1
                    return count == 1
                }
                if isFirst { throw BriefError("no") }
                return "yes"
            }
            let queue = DispatchQueue(label: "handlers")
            let request = stage.get(interceptor: interceptor, resumes: false)
            request.response(queue: queue) { ended.add("first \(brief($0.error))") }
                .response(queue: queue, responseSerializer: serializer) {
                    ended.add("second \($0.value ?? "none")")
                }
                .response(queue: queue) { ended.add("third \(brief($0.error))") }
            request.resume()
            #expect(await ended.wait(for: 3) == ["first nil", "second yes", "third nil"])
            await stage.settle()
            #expect(
                stage.events
                    == """
                    r1 r2 r4 r6 r7 r8 s9 s10 s11 s6 r13 s7 r15 r17 d2 d3(custom no) \
                    r16 r2 r4 r6 r7 r8 s9 s10 s11 s6 r13 s7 r15 r17 d2 d3 d2
                    """)
            #expect(ended.all.count == 3 && request.retryCount == 1)
        }
    }

    @Test(
        "[R-46] after a failed serializer of a handler that was added late: the request runs again",
        arguments: TestedHTTP.allCases)
    func lateSerializer(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(retry: { _ in })
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get(interceptor: interceptor)
            #expect(await request.answered().error == nil)
            let ended = ValueLog<String>()
            let runs = Protected(0)
            request.response(
                responseSerializer: ClosureSerializer { _ in
                    let isFirst = runs.write { count in
                        count += 1
                        return count == 1
                    }
                    if isFirst { throw BriefError("no") }
                    return "yes"
                }
            ) { ended.add($0.value ?? brief($0.error)) }
            await interceptor.questions.wait(for: 1)
            // This handler has to wait for the second attempt.
            request.response { ended.add("data \($0.data?.isEmpty == false)") }
            await stage.settle()
            #expect(ended.all.isEmpty)
            interceptor.questions.all.first?.answer(.retry)
            #expect(await ended.wait(for: 2) == ["yes", "data true"])
            await stage.settle()
            #expect(
                stage.events
                    == """
                    r1 r2 r4 r6 r7 r8 s9 s10 s11 s6 r13 s7 r15 r17 d2 d3(custom no) \
                    r16 r2 r4 r6 r7 r8 s9 s10 s11 s6 r13 s7 r15 r17 d3 d2
                    """)
            #expect(request.isFinished && request.tasks.count == 2)
            #expect(stage.session.mutableState.read { $0.activeRequests.isEmpty })
        }
    }

    @Test(
        "[R-46, S-31] a session that is released during the delay of a late retry: the handler is called",
        arguments: TestedHTTP.allCases)
    func lateRetryWithoutSession(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let recorder = EventRecorder()
            let setUp = PipelineSetUp(
                interceptor: Retrier { _, _, _, answer in answer(.retryWithDelay(3_600)) }, recorder: recorder
            )
            var session: Session? = try setUp.session(of: stage.origin)
            let request = try #require(session).request(stage.url())
            #expect(await request.answered().error == nil)
            let ended = ValueLog<String>()
            request.response(responseSerializer: ClosureSerializer { throw $0 ?? BriefError("no") }) {
                ended.add(brief($0.error))
            }
            await recorder.heard.wait(untilRecorded: "d3(custom no)")
            await session?.settle()
            session = nil
            #expect(await ended.wait(for: 1) == ["deinitialized"])
        }
    }

    @Test(
        "[O-2, O-3, R-35] a request that finishes during the delay of a retry is released",
        arguments: [false, true], TestedHTTP.allCases)
    func finishedDuringDelay(releasesSession: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let recorder = EventRecorder()
            let retries = ValueLog<Void>()
            let setUp = PipelineSetUp(
                interceptor: Retrier { _, _, _, answer in
                    answer(.retryWithDelay(3_600))
                    retries.add(())
                }, recorder: recorder)
            var session: Session? = try setUp.session(of: stage.origin)
            weak var weakRequest: DataRequest?
            let ended = ValueLog<String>()
            do {
                let request = try #require(session).request(stage.url("/status/404"))
                weakRequest = request
                request.validate().response(queue: DispatchQueue(label: "h")) { ended.add(brief($0.error)) }
            }
            await retries.wait(for: 1)
            await session?.settle(recorder)
            #expect(weakRequest?.retryCount == 0 && ended.all.isEmpty)
            if releasesSession { session = nil } else { weakRequest?.cancel() }
            await ended.wait(for: 1)
            for _ in 0..<1000 where weakRequest != nil { await stage.settle() }
            #expect(weakRequest == nil)
        }
    }

    @Test(
        "[S-10, S-42] resuming a request during the delay of a retry does not start the retry",
        arguments: TestedHTTP.allCases
    )
    func resumedDuringDelay(over testedHTTP: TestedHTTP) async throws {
        let calls = Protected(0)
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.session.request(
                stage.url(), interceptor: ScriptedInterceptor(answers: [.retryWithDelay(3_600)]),
                requestModifier: { _ in
                    calls.write { $0 += 1 }
                    throw BriefError("no")
                })
            async let response = request.answered()
            await stage.recorder.heard.wait(untilRecorded: "r3(create no)")
            await stage.settle()
            request.suspend()
            request.resume()
            await stage.settle()
            #expect(calls.read { $0 } == 1)
            request.cancel()
            #expect(brief(await response.error) == "create no")
            #expect(request.retryCount == 0)
        }
    }
}
