// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The events that monitors receive for requests that are cancelled at each stage, and for requests that are suspended.
struct CancelSequenceTests {
    /// The events after the cancellation of a running task.
    private static let completionEvents = "s6 r13 s7(cancelled) r15(task cancelled) r17 d2(explicit)"

    /// Cancels a request a few more times.
    private static func cancelAgain(_ request: Request) {
        for _ in 0..<3 { request.cancel() }
    }

    @Test("[R-4, R-5, R-6, S-13] a request that was never performed", arguments: TestedHTTP.allCases)
    func neverPerformed(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(PipelineSetUp(startsImmediately: false), over: testedHTTP) { stage in
            let request = stage.get()
            async let response = request.answered()
            await stage.settle()
            Self.cancelAgain(request)
            request.resume()
            let result = await response
            #expect(brief(result.error) == "explicit")
            #expect(
                result.request == nil && result.response == nil && result.data == nil && result.metrics == nil
            )
            await stage.settle()
            #expect(stage.events == "r11 r17 d2(explicit)")
            #expect(request.tasks.isEmpty && request.isCancelled)
        }
    }

    @Test(
        "[R-4, I-1.12, R-36, S-26] before the task is created: the adapter's later result has no effect",
        arguments: TestedHTTP.allCases)
    func withoutTask(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(adapt: { _ in })
        try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) { stage in
            let request = stage.get()
            async let response = request.answered()
            await interceptor.adaptations.wait(for: 1)
            await stage.settle()
            Self.cancelAgain(request)
            #expect(brief(await response.error) == "explicit")
            let adaptation = try #require(interceptor.adaptations.all.first)
            adaptation.answer(.success(adaptation.request))
            await stage.settle()
            #expect(stage.events == "r1 r2 r11 r17 d2(explicit) r4 r6")
            #expect(request.tasks.isEmpty && request.requests.count == 2 && request.isCancelled)
            #expect(interceptor.questions.all.isEmpty)
        }
    }

    @Test(
        "[R-36, R-45, I-1.20] before the task is created: the adapter's later failure has no effect",
        arguments: TestedHTTP.allCases
    )
    func withoutTaskThenFailure(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(adapt: { _ in })
        try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) { stage in
            let request = stage.get()
            async let response = request.answered()
            await interceptor.adaptations.wait(for: 1)
            await stage.settle()
            request.cancel()
            #expect(brief(await response.error) == "explicit")
            interceptor.adaptations.all.first?.answer(.failure(BriefError("late")))
            await stage.settle()
            #expect(stage.events == "r1 r2 r11 r17 d2(explicit) r5(adapt late)")
            #expect(brief(request.error) == "explicit")
            #expect(brief(await request.answered().error) == "explicit")
            #expect(interceptor.questions.all.isEmpty)
        }
    }

    @Test("[R-4, R-5, R-9, R-56, M-6, T-4, T-5, E-10] while the task runs", arguments: TestedHTTP.allCases)
    func running(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.held()
            async let response = request.answered()
            await stage.waitForRequest()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<100 { group.addTask { request.cancel() } }
            }
            let answer = await response
            #expect(brief(answer.error) == "explicit")
            #expect(answer.metrics != nil && answer.response == nil && answer.request != nil)
            await stage.settle()
            #expect(stage.events == "r1 r2 r6 r7 r8 r11 r12 " + Self.completionEvents)
            #expect(request.isCancelled)
        }
    }

    @Test("[R-4] while content arrives: the response is kept", arguments: TestedHTTP.allCases)
    func midway(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            stage.origin.answer(
                "GET", "/part",
                ScriptPlan(.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .stall))
            let request = stage.get("/part")
            async let response = request.answered()
            await stage.recorder.heard.wait(untilRecorded: "s10")
            request.cancel()
            let answer = await response
            #expect(answer.response?.statusCode == 200 && answer.data == Data("abc".utf8))
            await stage.settle()
            #expect(stage.events == "r1 r2 r6 r7 r8 s9 s10 r11 r12 " + Self.completionEvents)
        }
    }

    @Test("[R-4, S-11, T-4] a task that was never resumed", arguments: TestedHTTP.allCases)
    func eager(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(
            PipelineSetUp(startsImmediately: false, requestSetup: .eager), over: testedHTTP
        ) {
            stage in
            // The task is resumed to be cancelled: on a busy machine a response could arrive in between.
            let request = stage.get("/delay/3600")
            async let response = request.answered()
            await stage.recorder.heard.wait(untilRecorded: "r7")
            await stage.settle()
            request.cancel()
            #expect(await response.metrics != nil)
            await stage.settle()
            #expect(stage.events == "r2 r6 r7 r11 r12 " + Self.completionEvents)
        }
    }

    @Test("[DR-5, T-6] by the handler of the response's head", arguments: TestedHTTP.allCases)
    func byHead(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get().onHTTPResponse(on: DispatchQueue(label: "head")) { _, answer in
                answer(.cancel)
            }
            let response = await request.answered()
            #expect(brief(response.error) == "explicit")
            #expect(response.response?.statusCode == 200 && response.data == nil)
            await stage.settle()
            #expect(stage.events == "r1 r2 r6 r7 r8 s9 r11 r12 " + Self.completionEvents)
            #expect(request.isCancelled)
        }
    }

    @Test(
        "[R-8] while serializers run: the remaining ones get the error, and no retrier is called",
        arguments: TestedHTTP.allCases)
    func serializing(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor()
        try await withPipeline(over: testedHTTP) { stage in
            let ended = ValueLog<String>()
            let request = stage.get(interceptor: interceptor, resumes: false)
            let cancelling = ClosureSerializer { [weak request] _ in
                request?.cancel()
                return "done"
            }
            let failing = ClosureSerializer { error in
                if let error { throw error }
                return "done"
            }
            request.response(responseSerializer: cancelling) { ended.add(brief($0.error)) }
                .response(responseSerializer: failing) { ended.add(brief($0.error)) }
                .response { ended.add(brief($0.error)) }
            request.resume()
            #expect(await ended.wait(for: 3) == ["nil", "explicit", "explicit"])
            await stage.settle()
            #expect(
                stage.events
                    == "r1 r2 r4 r6 r7 r8 s9 s10 s11 s6 r13 s7 r15 r17 r11 d3 d3(explicit) d2(explicit)")
            #expect(request.isCancelled && interceptor.questions.all.isEmpty)
        }
    }

    @Test(
        "[R-35] before a retrier has answered for a task: its later answer is ignored", arguments: [0, 1, 2],
        TestedHTTP.allCases)
    func beforeRetryAnswer(_ answerIndex: Int, over testedHTTP: TestedHTTP) async throws {
        let answers: [RetryResult] = [.retry, .doNotRetry, .doNotRetryWithError(BriefError("late"))]
        let interceptor = ScriptedInterceptor(retry: { _ in })
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get("/status/500", interceptor: interceptor, resumes: false)
                .validate(statusCode: [200])
            let ended = ValueLog<String>()
            request.response { ended.add(brief($0.error)) }.response { ended.add(brief($0.error)) }
                .resume()
            await interceptor.questions.wait(for: 1)
            await stage.settle()
            request.cancel()
            // An earlier error is kept.
            #expect(await ended.wait(for: 2) == ["status 500", "status 500"])
            interceptor.questions.all.first?.answer(answers[answerIndex])
            await stage.settle()
            #expect(stage.events.hasSuffix("d1(failed) r15 r11 r17 d2(status 500) d2(status 500)"))
            #expect(request.tasks.count == 1 && request.retryCount == 0 && request.isCancelled)
            #expect(ended.all.count == 2)
        }
    }

    @Test(
        "[R-35, I-1.24] during the delay of a retry: the request is not retried",
        arguments: TestedHTTP.allCases)
    func waiting(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(answers: [.retryWithDelay(3_600)])
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.session.request("", interceptor: interceptor)
            async let response = request.answered()
            await interceptor.questions.wait(for: 1)
            await stage.settle()
            request.cancel()
            #expect(brief(await response.error) == "invalidURL")
            await stage.settle()
            #expect(stage.events == "r1 r3(invalidURL) r11 r17 d2(invalidURL)")
            #expect(request.retryCount == 0 && request.isCancelled)
            #expect(stage.session.mutableState.read { $0.activeRequests.isEmpty })
        }
    }

    @Test(
        "[R-35] while a retry is set up: no task is created, and the error is the cancellation, not the failure",
        arguments: TestedHTTP.allCases
    )
    func preparing(over testedHTTP: TestedHTTP) async throws {
        let adaptations = ValueLog<ScriptedInterceptor.Adaptation>()
        let interceptor = ScriptedInterceptor(
            adapt: { adaptation in
                if adaptations.all.isEmpty {
                    adaptation.answer(.success(adaptation.request))
                }
                adaptations.add(adaptation)
            }, retry: { $0.answer(.retry) })
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get("/status/500", interceptor: interceptor).validate(statusCode: [200])
            async let response = request.answered()
            await adaptations.wait(for: 2)
            await stage.settle()
            request.cancel()
            #expect(brief(await response.error) == "explicit")
            adaptations.all.last.map { $0.answer(.success($0.request)) }
            await stage.settle()
            #expect(stage.events.hasSuffix("d1(failed) r15 r16 r2 r11 r17 d2(explicit) r4 r6"))
            #expect(request.tasks.count == 1 && request.retryCount == 1)
        }
    }

    @Test(
        "[R-35, R-52] before a retrier has answered for a serializer: all serializers run again, each handler once",
        arguments: TestedHTTP.allCases)
    func beforeSerializerRetryAnswer(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(retry: { _ in })
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get(interceptor: interceptor, resumes: false)
            let ended = ValueLog<String>()
            request.response { ended.add(brief($0.error)) }
                .response(responseSerializer: ClosureSerializer { throw $0 ?? BriefError("no") }) {
                    ended.add(brief($0.error))
                }
            request.resume()
            await interceptor.questions.wait(for: 1)
            await stage.settle()
            request.cancel()
            #expect(await ended.wait(for: 2) == ["explicit", "explicit"])
            interceptor.questions.all.first?.answer(.retry)
            await stage.settle()
            #expect(stage.events.hasSuffix("r17 d2 d3(custom no) r11 r17 d2(explicit) d3(explicit)"))
            #expect(ended.all.count == 2 && interceptor.questions.all.count == 1)
        }
    }

    @Test("[R-7] in a response handler: no effect", arguments: TestedHTTP.allCases)
    func inHandler(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor()
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get(interceptor: interceptor)
            let ended = ValueLog<Request.State>()
            request.response { [unowned request] _ in
                request.cancel()
                ended.add(request.state)
            }
            #expect(await ended.wait(for: 1) == [.finished])
            await stage.settle()
            #expect(ended.all.count == 1 && stage.recorder.count("r11") == 0 && request.isFinished)
        }
    }

    @Test("[O-3, R-26] by a monitor, when the final request was created", arguments: TestedHTTP.allCases)
    func whenTaskIsMade(over testedHTTP: TestedHTTP) async throws {
        let recorder = EventRecorder { event, request in if event == "r6" { request.cancel() } }
        try await withPipeline(PipelineSetUp(recorder: recorder), over: testedHTTP) { stage in
            let request = stage.held()
            #expect(brief(await request.answered().error) == "explicit")
            await stage.settle()
            #expect(recorder.count("r11") == 1 && recorder.count("r17") == 1 && recorder.count("d2") == 1)
            #expect(stage.session.mutableState.read { $0.requestTaskMap.isEmpty })
        }
    }

    // MARK: suspending and resuming

    @Test("[R-2, R-3, R-5, E-10] a running task is suspended and resumed", arguments: TestedHTTP.allCases)
    func suspendedTask(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.held()
            async let response = request.answered()
            await stage.waitForRequest()
            await stage.settle()
            for _ in 0..<9 { request.suspend() }
            #expect(request.isSuspended && request.task?.state == .suspended)
            for _ in 0..<9 { request.resume() }
            #expect(request.isResumed && request.task?.state == .running)
            stage.sendResponse()
            #expect(await response.error == nil)
            await stage.settle()
            #expect(
                stage.events == "r1 r2 r6 r7 r8 r9 r10 r1 r8 s9 s10 s11 s6 r13 s7 r15 r17 d2")
        }
    }

    @Test(
        "[R-3, R-26] a request that is suspended before its task exists: the task is created suspended",
        arguments: TestedHTTP.allCases)
    func suspendedEarly(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(adapt: { _ in })
        try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) { stage in
            let request = stage.get()
            async let response = request.answered()
            await interceptor.adaptations.wait(for: 1)
            await stage.settle()
            request.suspend()
            interceptor.adaptations.all.first.map { $0.answer(.success($0.request)) }
            await stage.recorder.heard.wait(untilRecorded: "r10")
            #expect(request.isSuspended && request.task?.state == .suspended)
            request.resume()
            #expect(await response.error == nil)
            await stage.settle()
            #expect(
                stage.events == "r1 r2 r9 r4 r6 r7 r10 r1 r8 s9 s10 s11 s6 r13 s7 r15 r17 d2")
        }
    }

    @Test("[R-2, S-12] a request that many threads resume is started once", arguments: TestedHTTP.allCases)
    func resumedOften(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.held()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<100 { group.addTask { request.resume() } }
            }
            await stage.waitForRequest()
            stage.sendResponse()
            #expect(await request.answered().error == nil)
            await stage.settle()
            #expect(stage.recorder.count("r1") == 1 && stage.recorder.count("r8") == 1)
            #expect(request.tasks.count == 1 && request.requests.count == 1)
        }
    }
}
