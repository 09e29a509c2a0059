// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// The creation of sessions, and their parts.
struct SessionTests {
    /// Returns whether `queue` runs its work on `root`, directly or through its targets.
    private static func runs(on queue: DispatchQueue, within root: DispatchQueue) -> Bool {
        let key = DispatchSpecificKey<Bool>()
        root.setSpecific(key: key, value: true)
        defer { root.setSpecific(key: key, value: nil) }
        return queue.sync { DispatchQueue.getSpecific(key: key) == true }
    }

    @Test("the default session has the defaults, and is the same each time")
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

    @Test("[S-1] a background configuration stops the program")
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

    @Test("[S-2] a delegate queue that is not on the root queue stops the program")
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

    @Test("[S-3] the root queue is a serial one that targets what was given, a concurrent queue too")
    func rootQueue() async {
        let given = DispatchQueue(label: "given", attributes: .concurrent)
        let session = Session(rootQueue: given)
        #expect(session.rootQueue !== given && session.rootQueue.label == "given")
        #expect(Self.runs(on: session.rootQueue, within: given))
        let atOnce = Protected((now: 0, most: 0))
        for _ in 0..<50 {
            session.rootQueue.async {
                atOnce.write { count in
                    count.now += 1
                    count.most = max(count.most, count.now)
                }
                atOnce.write { $0.now -= 1 }
            }
        }
        await session.rootQueue.flush()
        #expect(atOnce.read { $0.most } == 1)
        #expect(Session(rootQueue: .main).rootQueue.isSame(as: .main))
        #expect(Session().rootQueue.label == "org.alamofire.session.rootQueue")
    }

    @Test("[S-4] the delegate queue is one at a time on the root queue, under its name")
    func delegateQueue() {
        let session = Session(rootQueue: DispatchQueue(label: "given"))
        let queue = session.session.delegateQueue
        #expect(queue.maxConcurrentOperationCount == 1)
        #expect(unsafe queue.underlyingQueue === session.rootQueue)
        #expect(queue.name == "given.sessionDelegate")
    }

    @Test("[S-5] queues that are not given target the root queue, under its name")
    func otherQueues() {
        let session = Session(rootQueue: DispatchQueue(label: "given"))
        #expect(session.requestQueue.label == "given.requestQueue")
        #expect(session.serializationQueue.label == "given.serializationQueue")
        #expect(Self.runs(on: session.requestQueue, within: session.rootQueue))
        #expect(Self.runs(on: session.serializationQueue, within: session.rootQueue))
    }

    @Test("[S-5] queues that are given are used as they are, concurrent or not", arguments: Spoken.allCases)
    func givenQueues(over spoken: Spoken) async throws {
        let requests = DispatchQueue(label: "requests", attributes: .concurrent)
        let serializers = DispatchQueue(label: "serializers", attributes: .concurrent)
        let setUp = PipelineSetUp(requestQueue: requests, serializationQueue: serializers)
        try await withPipeline(setUp, over: spoken) { stage in
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

    @Test("[S-6] the session is its delegate's, and the monitors are the session's")
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

    @Test("[S-14] a kind of request that the session does not know stops the program")
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

    @Test("[S-14] cleaning up lets go of a request, and being ready performs it", arguments: Spoken.allCases)
    func requestDelegate(over spoken: Spoken) async throws {
        try await withPipeline(PipelineSetUp(startsImmediately: false), over: spoken) { stage in
            let request = stage.get()
            stage.session.readyToPerform(request: request)
            await stage.recorder.heard.wait(untilRecorded: "r7")
            #expect(stage.session.mutableState.read { $0.activeRequests } == [request])
            stage.session.cleanup(after: request)
            #expect(stage.session.mutableState.read { $0.activeRequests.isEmpty })
        }
    }
}
