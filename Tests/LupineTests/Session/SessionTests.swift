// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// The creation of sessions, and their queues, delegates and monitors.
struct SessionTests {
    /// Returns whether `queue` runs its work on `root`, directly or through its targets.
    private static func runs(on queue: DispatchQueue, within root: DispatchQueue) -> Bool {
        let key = DispatchSpecificKey<Bool>()
        root.setSpecific(key: key, value: true)
        defer { root.setSpecific(key: key, value: nil) }
        return queue.sync { DispatchQueue.getSpecific(key: key) == true }
    }

    @Test("`Session.default` has the default settings, and is `AF`")
    func defaults() {
        let session = Session.default
        #expect(session === AF && session === Session.default)
        #expect(session.startRequestsImmediately && session.startImmediately)
        #expect(session.requestSetup == .lazy)
        #expect(session.interceptor == nil && session.serverTrustManager == nil)
        #expect(session.redirectHandler == nil && session.cachedResponseHandler == nil)
        #expect(session.eventMonitor.monitors.count == 1)
        #expect(session.eventMonitor.monitors.first is AlamofireNotifications)
        #expect(session.sessionConfiguration.headers["User-Agent"] != nil)
        #expect(!AFInfo.version.isEmpty)
    }

    @Test("[S-1] a background configuration traps")
    func background() async {
        await #expect(processExitsWith: .failure) {
            _ = Session(configuration: .background(withIdentifier: "background"))
        }
        await #expect(processExitsWith: .failure) {
            let root = DispatchQueue(label: "root")
            let queue = OperationQueue(maxConcurrentOperationCount: 1, underlyingQueue: root)
            let delegate = SessionDelegate()
            _ = Session(
                session: URLSession(
                    configuration: .background(withIdentifier: "background"), delegate: delegate,
                    delegateQueue: queue), delegate: delegate, rootQueue: root)
        }
    }

    @Test("[S-2] a delegate queue whose underlying queue is not the root queue traps")
    func otherQueue() async {
        await #expect(processExitsWith: .failure) {
            let delegate = SessionDelegate()
            let queue = OperationQueue(
                maxConcurrentOperationCount: 1, underlyingQueue: DispatchQueue(label: "other"))
            _ = Session(
                session: URLSession(
                    configuration: .ephemeral, delegate: delegate, delegateQueue: queue),
                delegate: delegate, rootQueue: DispatchQueue(label: "root"))
        }
    }

    @Test("[S-3] the root queue is a serial queue that targets the given queue, which may be concurrent")
    func rootQueue() async {
        let given = DispatchQueue(label: "given", attributes: .concurrent)
        let session = Session(rootQueue: given)
        #expect(session.rootQueue !== given && session.rootQueue.label == "given")
        #expect(Self.runs(on: session.rootQueue, within: given))
        let running = Protected((count: 0, maximum: 0))
        for _ in 0..<50 {
            session.rootQueue.async {
                running.write { running in
                    running.count += 1
                    running.maximum = max(running.maximum, running.count)
                }
                running.write { $0.count -= 1 }
            }
        }
        await session.rootQueue.flush()
        #expect(running.read { $0.maximum } == 1)
        #expect(Session(rootQueue: .main).rootQueue.isSame(as: .main))
        #expect(Session().rootQueue.label == "org.alamofire.session.rootQueue")
    }

    @Test("[S-4] the delegate queue is serial, runs on the root queue, and is named after it")
    func delegateQueue() {
        let session = Session(rootQueue: DispatchQueue(label: "given"))
        let queue = session.session.delegateQueue
        #expect(queue.maxConcurrentOperationCount == 1)
        #expect(unsafe queue.underlyingQueue === session.rootQueue)
        #expect(queue.name == "given.sessionDelegate")
    }

    @Test("[S-5] queues that are not given target the root queue, and are named after it")
    func otherQueues() {
        let session = Session(rootQueue: DispatchQueue(label: "given"))
        #expect(session.requestQueue.label == "given.requestQueue")
        #expect(session.serializationQueue.label == "given.serializationQueue")
        #expect(Self.runs(on: session.requestQueue, within: session.rootQueue))
        #expect(Self.runs(on: session.serializationQueue, within: session.rootQueue))
    }

    @Test(
        "[S-5] queues that are given are used unchanged, even if they are concurrent",
        arguments: TestedHTTP.allCases)
    func givenQueues(over testedHTTP: TestedHTTP) async throws {
        let requests = DispatchQueue(label: "requests", attributes: .concurrent)
        let serializers = DispatchQueue(label: "serializers", attributes: .concurrent)
        let setUp = PipelineSetUp(requestQueue: requests, serializationQueue: serializers)
        try await withPipeline(setUp, over: testedHTTP) { stage in
            #expect(stage.session.requestQueue === requests)
            #expect(stage.session.serializationQueue === serializers)
            let ended = ValueLog<String>()
            stage.session.request(
                stage.url(), requestModifier: { _ in dispatchPrecondition(condition: .onQueue(requests)) }
            ).response(
                responseSerializer: ClosureSerializer { _ in
                    dispatchPrecondition(condition: .onQueue(serializers))
                    return "done"
                }
            ) { ended.add($0.value ?? "none") }
            #expect(await ended.wait(for: 1) == ["done"])
        }
    }

    @Test("[S-6] the session's delegate forwards events to the session's monitors")
    func delegate() async throws {
        let delegate = SessionDelegate()
        let recorder = EventRecorder()
        let session = Session(
            configuration: .ephemeral, delegate: delegate, eventMonitors: [recorder])
        #expect(session.delegate === delegate && session.session.delegate === delegate)
        #expect(session.eventMonitor.monitors.count == 1 && session.eventMonitor.queue === session.rootQueue)
        session.session.invalidateAndCancel()
        #expect(await recorder.heard.wait(for: 1) == ["s1"])
    }

    @Test("[S-14] performing a bare `Request` traps")
    func unknownKind() async {
        await #expect(processExitsWith: .failure) {
            let session = Session()
            let request = Request(
                underlyingQueue: session.rootQueue, serializationQueue: session.serializationQueue,
                eventMonitor: nil, interceptor: nil, shouldAutomaticallyResume: nil, delegate: session)
            request.resume()
            session.rootQueue.sync {}
        }
    }

    @Test(
        "[S-14] `cleanup` releases a request, and `readyToPerform` performs it",
        arguments: TestedHTTP.allCases)
    func requestDelegate(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(PipelineSetUp(startsImmediately: false), over: testedHTTP) { stage in
            let request = stage.get()
            stage.session.readyToPerform(request: request)
            await stage.recorder.heard.wait(untilRecorded: "r7")
            #expect(stage.session.mutableState.read { $0.activeRequests } == [request])
            stage.session.cleanup(after: request)
            #expect(stage.session.mutableState.read { $0.activeRequests.isEmpty })
        }
    }
}
