// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The complete sequences of events that a session's monitor receives. A monitor of the request receives the same events, except
/// those of the `URLSession`. `EventRecorder` explains the names of the events.
struct EventSequenceTests {
    /// Runs `body`, and then checks the events that the session's monitor and the monitor of a request have received. `body` adds
    /// the recorder that it is passed to its request.
    private static func expect(
        _ expected: String, _ setUp: PipelineSetUp = PipelineSetUp(),
        sourceLocation: SourceLocation = #_sourceLocation,
        of body: (PipelineStage, EventRecorder) async throws -> Void
    ) async throws {
        let monitor = EventRecorder()
        try await withPipeline(setUp) { stage in
            try await body(stage, monitor)
            await stage.settle()
            await monitor.queue.flush()
            #expect(stage.events == expected, sourceLocation: sourceLocation)
        }
        #expect(monitor.text == Self.requestEvents(in: expected), sourceLocation: sourceLocation)
    }

    /// Returns the events without those of the `URLSession`. The text in parentheses may contain spaces.
    private static func requestEvents(in text: String) -> String {
        var words: [Substring] = []
        var isSessionEvent = false
        var depth = 0
        for word in text.split(separator: " ") {
            if depth == 0 { isSessionEvent = word.first == "s" }
            if !isSessionEvent { words.append(word) }
            for character in word {
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
            }
        }
        return words.joined(separator: " ")
    }

    // MARK: success

    @Test("[E-5, E-6, E-7, E-8, T-7, T-8, S-24, R-62] a plain request that succeeds")
    func success() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s9 s10 s11 s6 r13 s7 r15 r17 d3") { stage, monitor in
            let request = stage.get().eventMonitor(monitor)
            #expect(await request.parsed().error == nil)
            #expect(request.requests.count == 1 && request.tasks.count == 1)
        }
    }

    @Test("[E-5, E-8, DR-10, S-20, S-24, R-62] with an interceptor, validation and two handlers")
    func fullSuccess() async throws {
        let setUp = PipelineSetUp(interceptor: ScriptedInterceptor())
        try await Self.expect("r1 r2 r4 r6 r7 r8 s9 s10 s11 s6 r13 s7 d1 d1 r15 r17 d2 d3", setUp) {
            stage, monitor in
            let ended = ValueLog<String>()
            let queue = DispatchQueue(label: "handlers")
            // All handlers are added before the request starts.
            let request = stage.get(resumes: false).eventMonitor(monitor).validate()
                .response(queue: queue) { ended.add(brief($0.error)) }
                .responseData(queue: queue) { ended.add(brief($0.error)) }
            request.resume()
            #expect(await ended.wait(for: 2) == ["nil", "nil"])
            #expect(request.requests.count == 2)
        }
    }

    @Test("[E-7, R-23] a request without handlers is finished when `requestDidFinish` is called")
    func noHandlers() async throws {
        let state = ValueLog<Request.State>()
        let recorder = EventRecorder { event, request in if event == "r17" { state.add(request.state) } }
        try await Self.expect(
            "r1 r2 r6 r7 r8 s9 s10 s11 s6 r13 s7 r15 r17", PipelineSetUp(recorder: recorder)
        ) { stage, monitor in
            let request = stage.get().eventMonitor(monitor).resume()
            #expect(await state.wait(for: 1) == [.finished])
            #expect(request.isFinished)
        }
    }

    @Test(
        "[DR-2] a data request's task is a data task of its request, and no upload",
        arguments: TestedHTTP.allCases)
    func dataTask(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get()
            _ = await request.answered()
            let task = try #require(request.task as? URLSessionDataTask)
            #expect(!(task is URLSessionUploadTask) && task.originalRequest == request.request)
        }
    }

    @Test("[T-7, DR-1] an empty response has no data event")
    func empty() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s9 s11 s6 r13 s7 r15 r17 d2") { stage, monitor in
            let request = stage.get("/bytes/0").eventMonitor(monitor)
            #expect(await request.answered().data == nil)
        }
    }

    @Test("[E-9, S-11] an eager request is set up before it is resumed")
    func eager() async throws {
        let setUp = PipelineSetUp(startsImmediately: false, requestSetup: .eager)
        try await Self.expect("r2 r6 r7 r1 r8 s9 s10 s11 s6 r13 s7 r15 r17 d2", setUp) { stage, monitor in
            let semaphore = DispatchSemaphore(value: 0)
            stage.session.rootQueue.async { semaphore.wait() }
            let request = stage.get().eventMonitor(monitor)
            semaphore.signal()
            await monitor.heard.wait(untilRecorded: "r7")
            async let response = request.answered()
            await stage.settle()
            #expect(request.task?.state == .suspended && request.isInitialized)
            request.resume()
            #expect(await response.error == nil)
        }
    }

    // MARK: redirects

    @Test("[I-6.3, E-5] a redirect that is followed")
    func redirect() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s5 s9 s10 s11 s6 r13 s7 r15 r17 d2") { stage, monitor in
            let response = await stage.get("/redirect/1").eventMonitor(monitor).answered()
            #expect(response.response?.statusCode == 200)
        }
    }

    @Test(
        "[T-12, I-6.4] a refused redirect becomes the response; an empty one has no content event"
    )
    func refusedRedirect() async throws {
        let setUp = PipelineSetUp(redirects: FixedRedirect(request: nil))
        try await Self.expect("r1 r2 r6 r7 r8 s5 s9 s6 r13 s7 r15 r17 d2", setUp) { stage, monitor in
            stage.origin.script(
                "GET", "/moved",
                ScriptPlan(
                    .send("HTTP/1.1 302 Found\r\nLocation: /get\r\nContent-Length: 0\r\n\r\n"), .close))
            let response = await stage.get("/moved").eventMonitor(monitor).answered()
            #expect(response.response?.statusCode == 302)
            #expect(response.response?.url?.path == "/moved")
            #expect(response.error == nil && response.data == nil)
        }
    }

    // MARK: challenges

    @Test("[D-1, I-8.2] a challenge that is answered")
    func challenge() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s2 s9 s10 s11 s6 r13 s7 r15 r17 d2") { stage, monitor in
            let request = stage.get("/basic-auth/user/password").eventMonitor(monitor)
                .authenticate(username: "user", password: "password")
            #expect(await request.answered().response?.statusCode == 200)
        }
    }

    @Test("[D-2, D-4, R-56, I-1.18, I-8.5] a server that an evaluator refuses")
    func trustFailure() async throws {
        let manager = ServerTrustManager(
            evaluators: ["good.test": ClosureEvaluator { _ in throw BriefError("no") }])
        let setUp = PipelineSetUp(trust: manager, leaf: "good")
        try await Self.expect(
            "r1 r2 r6 r7 r8 s2 r14(trust no) s6 r13 s7(cancelled) r15(task cancelled) r17 d3(trust no)", setUp
        ) { stage, monitor in
            let request = stage.session.request(stage.url(host: "good.test")).eventMonitor(monitor).validate()
            let response = await request.parsed()
            #expect(brief(response.error) == "trust no")
            #expect(response.metrics != nil)
        }
    }

    // MARK: failures

    @Test("[S-21, S-28] an invalid URL")
    func invalidURL() async throws {
        try await Self.expect("r1 r3(invalidURL) r17 d3(invalidURL)") { stage, monitor in
            let request = stage.session.request("").eventMonitor(monitor)
            let response = await request.parsed()
            #expect(brief(response.error) == "invalidURL")
            #expect(request.requests.isEmpty && request.tasks.isEmpty && response.metrics == nil)
        }
    }

    @Test("[S-22] an adapter that fails, with an AFError")
    func adapterFailure() async throws {
        let setUp = PipelineSetUp(
            interceptor: ScriptedInterceptor(adapt: { $0.answer(.failure(AFError.explicitlyCancelled)) }))
        try await Self.expect("r1 r2 r5(adapt explicit) r17 d3(adapt explicit)", setUp) { stage, monitor in
            let request = stage.get().eventMonitor(monitor)
            #expect(await request.parsed().response == nil)
            #expect(request.requests.count == 1 && request.tasks.isEmpty)
        }
    }

    @Test("[D-5, M-6, R-58] after a lost connection no validator runs")
    func networkFailure() async throws {
        try await Self.expect(
            "r1 r2 r6 r7 r8 s9 s10 s6 r13 s7(lost) r15(task lost) r17 d3(task lost)"
        ) { stage, monitor in
            stage.origin.script(
                "GET", "/cut", ScriptPlan(.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .close))
            let response = await stage.get("/cut").eventMonitor(monitor).validate().parsed()
            #expect(response.request != nil && response.metrics != nil)
            #expect(response.error?.underlyingError is URLError)
        }
    }

    @Test("[R-57, R-58] the second of three validators fails")
    func validationFailure() async throws {
        try await Self.expect(
            "r1 r2 r6 r7 r8 s9 s10 s11 s6 r13 s7 d1 d1(failed) r15 r17 d2(validate no)"
        ) { stage, monitor in
            let request = stage.get().eventMonitor(monitor).validate { _, _, _ in .success(()) }
                .validate { _, _, _ in .failure(BriefError("no")) }
                .validate { _, _, _ in .failure(BriefError("never")) }
            #expect(await request.answered().response?.statusCode == 200)
        }
    }

    @Test("[DR-7, R-52] a serializer that fails")
    func serializerFailure() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s9 s10 s11 s6 r13 s7 r15 r17 d3(custom no)") { stage, monitor in
            let ended = ValueLog<String>()
            let serializer = ClosureSerializer { _ in throw BriefError("no") }
            let request = stage.get().eventMonitor(monitor)
            request.response(responseSerializer: serializer) { ended.add(brief($0.error)) }
            #expect(await ended.wait(for: 1) == ["custom no"])
            #expect(request.error == nil)
        }
    }

    // MARK: the end

    @Test("[R-45] handlers that are added to a finished request cause only parse events")
    func lateHandlers() async throws {
        try await Self.expect("r1 r2 r6 r7 r8 s9 s10 s11 s6 r13 s7 r15 r17 d2 d3 d2") { stage, monitor in
            let request = stage.get().eventMonitor(monitor)
            let first = await request.answered()
            #expect(await request.parsed().data == first.data)
            #expect(await request.answered().data == first.data)
            #expect(request.isFinished)
        }
    }

    @Test("[S-30, S-31] a session that is released while its request runs", arguments: TestedHTTP.allCases)
    func sessionReleased(over testedHTTP: TestedHTTP) async throws {
        let monitor = EventRecorder()
        let recorder = EventRecorder()
        try await withPipeline(over: testedHTTP) { stage in
            var session: Session? = try PipelineSetUp(recorder: recorder).session(of: stage.origin)
            stage.origin.answer("GET", "/held", ScriptPlan(.signal("asked"), .stall))
            let request = try #require(session).request(stage.url("/held")).eventMonitor(monitor)
            async let response = request.answered()
            await stage.waitForRequest()
            await session?.settle(recorder)
            session = nil
            #expect(brief(await response.error) == "deinitialized")
            #expect(request.isFinished)
            await recorder.heard.wait(untilRecorded: "d2(deinitialized)")
            #expect(recorder.text == "r1 r2 r6 r7 r8 s6 s7(cancelled) s1 r17 d2(deinitialized)")
            await monitor.heard.wait(untilRecorded: "d2(deinitialized)")
            #expect(monitor.text == "r1 r2 r6 r7 r8 r17 d2(deinitialized)")
        }
    }

    @Test("[S-32] a URLSession that is invalidated while a retrier has not answered")
    func invalidated() async throws {
        let interceptor = ScriptedInterceptor(retry: { _ in })
        try await Self.expect(
            """
            r1 r2 r4 r6 r7 r8 s6 r13 s7(cancelled) r15(task cancelled) s1 r17 d2(invalidated)
            """, PipelineSetUp(interceptor: interceptor)
        ) { stage, monitor in
            let request = stage.held().eventMonitor(monitor)
            async let response = request.answered()
            await stage.waitForRequest()
            stage.session.session.invalidateAndCancel()
            #expect(brief(await response.error) == "invalidated")
            #expect(interceptor.errors == ["task cancelled"])
            interceptor.questions.all.first?.answer(.retry)
        }
    }

    @Test(
        "[S-32] invalidating the URLSession finishes a request once, with either error",
        arguments: TestedHTTP.allCases)
    func invalidatedWithoutRetrier(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.held()
            async let response = request.answered()
            await stage.waitForRequest()
            stage.session.session.invalidateAndCancel()
            #expect(["invalidated", "task cancelled"].contains(brief(await response.error)))
            await stage.recorder.heard.wait(untilRecorded: "s1")
            await stage.settle()
            #expect(stage.recorder.count("r17") == 1 && stage.recorder.count("d2") == 1)
        }
    }

    @Test("[S-32] a request on an invalid URLSession fails", arguments: TestedHTTP.allCases)
    func performedOnInvalid(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            stage.session.session.invalidateAndCancel()
            await stage.recorder.heard.wait(untilRecorded: "s1")
            let response = await stage.get().answered()
            #expect(brief(response.error) == "invalidated")
            await stage.settle()
            #expect(stage.events == "s1 r1 r2 r6 r17 d2(invalidated)")
        }
    }

    @Test(
        "[S-32, U-4.4] a request on a URLSession that is finishing its tasks fails; the earlier one completes",
        arguments: TestedHTTP.allCases)
    func performedWhileClosing(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let held = stage.held()
            async let response = held.answered()
            await stage.waitForRequest()
            stage.session.session.finishTasksAndInvalidate()
            #expect(brief(await stage.get().answered().error) == "invalidated")
            stage.sendResponse()
            #expect(await response.error == nil)
            await stage.recorder.heard.wait(untilRecorded: "s1")
        }
    }

    @Test(
        "[S-30, S-31] releasing a session after its URLSession is invalid finishes a request that waits for a retry",
        arguments: TestedHTTP.allCases)
    func releasedWhenInvalid(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let recorder = EventRecorder()
            let setUp = PipelineSetUp(
                interceptor: Retrier { _, _, error, answer in
                    answer(brief(error) == "custom no" ? .retryWithDelay(3_600) : .doNotRetry)
                }, recorder: recorder)
            var session: Session? = try setUp.session(of: stage.origin)
            session?.session.invalidateAndCancel()
            await recorder.heard.wait(untilRecorded: "s1")
            let request = try #require(session).request(stage.url())
            #expect(brief(await request.answered().error) == "invalidated")
            let ended = ValueLog<String>()
            request.response(responseSerializer: ClosureSerializer { _ in throw BriefError("no") }) {
                ended.add(brief($0.error))
            }
            await recorder.heard.wait(untilRecorded: "d3(custom no)")
            await session?.settle()
            session = nil
            #expect(await ended.wait(for: 1) == ["custom no"])
            #expect(brief(request.error) == "deinitialized")
        }
    }
}
