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
        "[U-13.17] when a session has gone, it is still known under whose evaluators its connections were accepted"
    )
    func judgeOfReleased() throws {
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
        "[S-35, S-36, O-2] all requests are those that were performed and have not ended; cancelling them comes before its completion",
        arguments: Spoken.allCases
    )
    func allRequests(over spoken: Spoken) async throws {
        try await withPipeline(over: spoken) { stage in
            let unperformed = stage.get(resumes: false)
            let held = stage.held()
            async let response = held.answered()
            await stage.waitForRequest()
            let seen = ValueLog<Set<Request>>()
            let root = stage.session.rootQueue
            stage.session.withAllRequests { requests in
                dispatchPrecondition(condition: .onQueue(root))
                seen.add(requests)
            }
            #expect(await seen.wait(for: 1) == [[held]])
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
        "[S-33, S-30, S-31] eager requests of a session that goes have tasks that end, and their handlers are called",
        arguments: Spoken.allCases
    )
    func eagerReleased(over spoken: Spoken) async throws {
        try await withPipeline(over: spoken) { stage in
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
        "[O-1, O-2] a request does not hold its session; one that is resumed behind its session's end is answered"
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
        "[S-30] a session that is released on its own root queue waits for nobody", arguments: Spoken.allCases
    )
    func releasedOnRoot(over spoken: Spoken) async throws {
        try await withPipeline(over: spoken) { stage in
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
        "[T-2, T-3, R-62] a task's state and requests, as the pipeline relies on them",
        arguments: Spoken.allCases)
    func taskStates(over spoken: Spoken) async throws {
        let adapter = Adapter { request, _, answer in
            var request = request
            request.setValue("yes", forHTTPHeaderField: "X-Adapted")
            answer(.success(request))
        }
        try await withPipeline(PipelineSetUp(requestSetup: .eager, interceptor: adapter), over: spoken) {
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

    @Test("[O-6, T-1] a task calls nobody back from inside of a call to it", arguments: Spoken.allCases)
    func notInline(over spoken: Spoken) async throws {
        try await withPipeline(over: spoken) { stage in
            let request = stage.held()
            async let response = request.answered()
            await stage.waitForRequest()
            // If a callback were called inline, this would deadlock.
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
        "[T-4, T-5, M-6] an address that nobody can load has metrics and an end; so has one where nobody listens",
        arguments: Spoken.allCases
    )
    func unusableAddresses(over spoken: Spoken) async throws {
        try await withPipeline(over: spoken) { stage in
            let scheme = stage.session.request("other://origin.test/")
            let first = await scheme.answered()
            #expect(brief(first.error) == "task unsupported" && first.metrics != nil)
            await stage.origin.shutdown()
            let second = await stage.get().answered()
            #expect(brief(second.error) == "task cannotConnect" && second.metrics != nil)
            await stage.settle()
            #expect(stage.recorder.count("s6") == 2 && stage.recorder.count("s7") == 2)
        }
    }

    @Test(
        "[T-14] a file is loaded without an HTTP response, and nothing is validated",
        arguments: Spoken.allCases)
    func file(over spoken: Spoken) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "lupine-\(UUID().uuidString)")
        try Data("content".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await withPipeline(over: spoken) { stage in
            let response = await stage.session.request(file).validate().answered()
            #expect(response.error == nil && response.response == nil)
            #expect(response.data == Data("content".utf8))
            await stage.settle()
            #expect(stage.recorder.count("d1") == 0)
        }
    }

    @Test(
        "[T-13, S-32] an invalidated URLSession tells of all tasks, then of itself, and lets its delegate go",
        arguments: Spoken.allCases)
    func invalidation(over spoken: Spoken) async throws {
        try await withPipeline(PipelineSetUp(startsImmediately: false, requestSetup: .eager), over: spoken) {
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
