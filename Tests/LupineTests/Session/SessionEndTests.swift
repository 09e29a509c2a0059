// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Operations on all requests of a session, and the release of a session.
struct SessionEndTests {
    @Test(
        "[U-13.17] the delegate of a deallocated session still has the evaluators that accepted its connections"
    )
    func trustJudgeOfReleased() throws {
        let manager = ServerTrustManager(evaluators: ["localhost": DisabledTrustEvaluator()])
        let delegate = SessionDelegate()
        weak var released: Session?
        do {
            let session = Session(
                configuration: .ephemeral, delegate: delegate, serverTrustManager: manager)
            released = session
            #expect(delegate.trustJudge === manager)
        }
        #expect(released == nil)
        #expect(delegate.trustJudge === manager)
    }

    @Test(
        "[S-35, S-36, O-2] `withAllRequests` gets the performed, unfinished requests; `cancelAllRequests` cancels first",
        arguments: TestedHTTP.allCases
    )
    func allRequests(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let unperformed = stage.get(resumes: false)
            let held = stage.held()
            async let response = held.answered()
            await stage.waitForRequest()
            let allRequests = ValueLog<Set<Request>>()
            let root = stage.session.rootQueue
            stage.session.withAllRequests { requests in
                dispatchPrecondition(condition: .onQueue(root))
                allRequests.add(requests)
            }
            #expect(await allRequests.wait(for: 1) == [[held]])
            let queue = DispatchQueue(label: "completion")
            let cancelled = ValueLog<Bool>()
            stage.session.cancelAllRequests(completingOnQueue: queue) {
                dispatchPrecondition(condition: .onQueue(queue))
                cancelled.add(held.isCancelled)
            }
            #expect(await cancelled.wait(for: 1) == [true])
            #expect(brief(await response.error) == "explicit")
            #expect(unperformed.isInitialized)
            #expect(await stage.get().answered().error == nil)
        }
    }

    @Test(
        "[S-33, S-30, S-31] when a session is released, the tasks of eager requests end, and handlers are called",
        arguments: TestedHTTP.allCases
    )
    func eagerReleased(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let recorder = EventRecorder()
            var session: Session? = try PipelineSetUp(
                startsImmediately: false, requestSetup: .eager, recorder: recorder
            ).session(of: stage.origin)
            let requests = (0..<10).compactMap { _ in session?.request(stage.url()) }
            let ended = ValueLog<String>()
            for request in requests {
                request.response(queue: DispatchQueue(label: "h")) { ended.add(brief($0.error)) }
            }
            await session?.settle(recorder)
            #expect(requests.allSatisfy { $0.task?.state == .suspended })
            requests[0].cancel()
            session = nil
            #expect(await ended.wait(for: 10).allSatisfy { $0 == "deinitialized" || $0 == "explicit" })
            #expect(requests[0].isCancelled && requests.dropFirst().allSatisfy { $0.isFinished })
            #expect(requests.allSatisfy { [.canceling, .completed].contains($0.task?.state) })
        }
    }

    @Test(
        "[O-1, O-2] a request does not retain its session; one that is resumed after the session's release fails"
    )
    func weakSession() async throws {
        weak var weakSession: Session?
        let request: DataRequest
        do {
            let session = Session(startRequestsImmediately: false, eventMonitors: [])
            weakSession = session
            request = session.request("http://origin.test/")
        }
        #expect(weakSession == nil && request.delegate == nil)
        async let response = request.answered()
        request.resume()
        #expect(brief(await response.error) == "deinitialized")
        #expect(request.cURLDescription() == "$ curl command could not be created")
    }

    @Test(
        "[S-30] releasing a session on its own root queue does not block", arguments: TestedHTTP.allCases
    )
    func releasedOnRoot(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let box = Protected<Session?>(try PipelineSetUp().session(of: stage.origin))
            stage.origin.answer("GET", "/stall", ScriptPlan(.signal("asked"), .stall))
            let request = try #require(box.read { $0?.request(stage.url("/stall")) })
            async let response = request.answered()
            await stage.waitForRequest()
            let root = request.underlyingQueue
            root.async { box.write { $0 = nil } }
            #expect(brief(await response.error) == "deinitialized")
        }
    }

    @Test(
        "[T-2, T-3, R-62] the pipeline relies on a task's state and requests",
        arguments: TestedHTTP.allCases)
    func taskStates(over testedHTTP: TestedHTTP) async throws {
        let adapter = Adapter { request, _, answer in
            var request = request
            request.setValue("yes", forHTTPHeaderField: "X-Adapted")
            answer(.success(request))
        }
        try await withPipeline(PipelineSetUp(requestSetup: .eager, interceptor: adapter), over: testedHTTP) {
            stage in
            let states = ValueLog<URLSessionTask.State?>()
            let request = stage.get("/redirect/1", resumes: false)
            await stage.recorder.heard.wait(untilRecorded: "r7")
            #expect(request.task?.state == .suspended)
            request.suspend().suspend()
            request.validate { [unowned request] _, _, _ in
                states.add(request.task?.state)
                return .success(())
            }
            request.resume()
            _ = await request.answered()
            #expect(states.all == [.completed])
            #expect(request.task?.originalRequest?.value(forHTTPHeaderField: "X-Adapted") == "yes")
            #expect(request.task?.originalRequest?.value(forHTTPHeaderField: "User-Agent") == nil)
            #expect(request.task?.currentRequest?.url?.path == "/get")
        }
    }

    @Test("[O-6, T-1] no method of a task calls back synchronously", arguments: TestedHTTP.allCases)
    func notSynchronous(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.held()
            async let response = request.answered()
            await stage.waitForRequest()
            // If a callback were called synchronously, this would deadlock.
            stage.session.rootQueue.sync {
                request.suspend()
                request.resume()
                request.cancel()
                #expect(request.task?.state == .canceling && request.isCancelled)
            }
            #expect(brief(await response.error) == "explicit")
        }
    }

    @Test(
        "[T-4, T-5, M-6] an unsupported URL and a refused connection lead to metrics and a completion",
        arguments: TestedHTTP.allCases
    )
    func unusableAddresses(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let unsupported = stage.session.request("other://origin.test/")
            let first = await unsupported.answered()
            #expect(brief(first.error) == "task unsupported" && first.metrics != nil)
            await stage.origin.shutdown()
            let second = await stage.get().answered()
            #expect(brief(second.error) == "task cannotConnect" && second.metrics != nil)
            await stage.settle()
            #expect(stage.recorder.count("s6") == 2 && stage.recorder.count("s7") == 2)
        }
    }

    @Test(
        "[T-14] a file is loaded without an HTTP response, and no validator runs",
        arguments: TestedHTTP.allCases)
    func file(over testedHTTP: TestedHTTP) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "lupine-\(UUID().uuidString)")
        try Data("content".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await withPipeline(over: testedHTTP) { stage in
            let response = await stage.session.request(file).validate().answered()
            #expect(response.error == nil && response.response == nil)
            #expect(response.data == Data("content".utf8))
            await stage.settle()
            #expect(stage.recorder.count("d1") == 0)
        }
    }

    @Test(
        "[T-13, S-32] an invalidated URLSession reports all tasks, then itself, and releases its delegate",
        arguments: TestedHTTP.allCases)
    func invalidation(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(
            PipelineSetUp(startsImmediately: false, requestSetup: .eager), over: testedHTTP
        ) {
            stage in
            let requests = (0..<5).map { _ in stage.get() }
            await stage.settle()
            #expect(requests.allSatisfy { $0.task != nil })
            stage.session.session.invalidateAndCancel()
            await stage.recorder.heard.wait(untilRecorded: "s1")
            let events = stage.recorder.heard.all.filter { $0.hasPrefix("s") }
            #expect(events.last == "s1" && events.filter { $0 == "s7(cancelled)" }.count == 5)
            await stage.settle()
            #expect(stage.recorder.count("s1") == 1 && stage.session.session.delegate == nil)
            #expect(requests.allSatisfy { $0.isFinished })
        }
    }
}
