// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// A model of the order in which a request's events come, checked against many requests at once.
///
/// Threads start requests, await them, and call methods of each at random: they cancel, suspend, resume, add handlers,
/// validators, retriers and progress, and block the root queue meanwhile. `LUPINE_ORDER_STEPS` sets how many such steps are
/// taken.
@Suite(.serialized, .timeLimit(.minutes(60))) struct RequestOrderTests {
    private static let threads = 4
    private static let rootKey = DispatchSpecificKey<Bool>()

    private enum Event: Sendable {
        case created, adapted, final, task, metrics, completed, retrying, finished, parsed
        case resumed, resumedTask
    }

    /// Records the notifications of requests that have no recorder: a monitor of its own is code of the program's in a request.
    private final class Notices: Sendable {
        private let events = Protected<[ObjectIdentifier: [Event]]>([:])
        private let tokens: UncheckedSendable<[any NSObjectProtocol]>

        init() {
            let names: [(Notification.Name, Event)] = [
                (Request.didResumeNotification, .resumed), (Request.didResumeTaskNotification, .resumedTask),
                (Request.didCompleteTaskNotification, .completed), (Request.didFinishNotification, .finished),
            ]
            tokens = UncheckedSendable(
                names.map { [events] name, event in
                    NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notice in
                        guard let request = notice.request else { return }
                        events.write { $0[ObjectIdentifier(request)]?.append(event) }
                    }
                })
        }

        deinit { for token in tokens.value { NotificationCenter.default.removeObserver(token) } }

        func begin(_ request: Request) { events.write { $0[ObjectIdentifier(request)] = [] } }

        func hasFinished(_ request: Request) -> Bool {
            events.read { $0[ObjectIdentifier(request)]?.contains(.finished) ?? false }
        }

        func end(_ request: Request) -> [Event] {
            events.write { $0.removeValue(forKey: ObjectIdentifier(request)) ?? [] }
        }
    }

    /// Checks what the notifications have told of a request that was not cancelled.
    private static func check(notices events: [Event], _ faults: OrderFaults) {
        var last: Event?
        // Whether the task of the present attempt has completed.
        var hasCompleted = false
        for event in events where event != .resumedTask || last != .resumedTask {
            let isRight =
                switch (last, event) {
                case (nil, .resumed), (.resumed, .resumedTask), (.resumedTask, .resumed),
                    (.resumed, .completed),
                    (.resumed, .resumed), (.resumedTask, .completed), (.completed, .resumedTask),
                    (.completed, .completed), (.completed, .finished), (.completed, .resumed),
                    (.finished, .resumedTask), (.finished, .completed), (.finished, .resumed):
                    true
                // The program may resume the request while a retrier decides about its completed task.
                case (.resumed, .finished): hasCompleted
                default: false
                }
            if !isRight { faults.note("\(event) after \(String(describing: last)) in \(events)") }
            last = event
            if event == .completed || event == .resumedTask { hasCompleted = event == .completed }
        }
    }

    /// Records the events of one request.
    private final class Recorder: EventMonitor {
        let queue = DispatchQueue(label: "recorder")
        let events = Protected<[Event]>([])
        private let faults: OrderFaults

        init(_ faults: OrderFaults) { self.faults = faults }

        private func add(_ event: Event) {
            faults.checkThread("monitor")
            events.write { $0.append(event) }
        }

        func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) { add(.created) }
        func request(
            _ request: Request, didAdaptInitialRequest initialRequest: URLRequest,
            to adaptedRequest: URLRequest
        ) { add(.adapted) }
        func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) { add(.final) }
        func request(_ request: Request, didCreateTask task: URLSessionTask) { add(.task) }
        func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) { add(.metrics) }
        func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
            add(.completed)
        }
        func requestIsRetrying(_ request: Request) { add(.retrying) }
        func requestDidFinish(_ request: Request) { add(.finished) }
        func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
            add(.parsed)
        }
        func request<Value: Sendable>(
            _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
        ) { add(.parsed) }
    }

    private static func checkRoot(_ what: String, _ faults: OrderFaults) {
        faults.checkThread(what)
        if DispatchQueue.getSpecific(key: rootKey) != true { faults.note("\(what) not on root") }
    }

    /// The event that may come after another one of the same attempt, if the request was not cancelled.
    private static func mayFollow(_ last: Event?, _ next: Event) -> Bool {
        switch (last, next) {
        case (nil, .created), (.retrying, .created): true
        case (.created, .adapted): true
        case (.created, .final), (.adapted, .final): true
        case (.final, .task): true
        case (.task, .metrics): true
        case (.metrics, .completed): true
        case (.completed, .retrying), (.parsed, .retrying), (.finished, .retrying): true
        case (.completed, .finished): true
        case (.finished, .parsed), (.parsed, .parsed): true
        default: false
        }
    }

    private static func check(_ events: [Event], wasCancelled: Bool, _ faults: OrderFaults) {
        if wasCancelled {
            // A pass may have begun while a task was still to report its end.
            let ends = events.filter { $0 == .finished }.count
            let tasks = events.filter { $0 == .completed }.count
            if ends < 1 || tasks > events.filter({ $0 == .metrics }).count {
                faults.note("cancelled: \(events)")
            }
            return
        }
        var last: Event?
        for event in events {
            if !mayFollow(last, event) {
                faults.note("\(event) after \(String(describing: last)) in \(events)")
            }
            last = event
        }
        if last != .parsed { faults.note("ends with \(String(describing: last))") }
    }

    /// A retrier that is asked on the root queue, and retries each request once at most.
    private struct Once: RequestInterceptor {
        let faults: OrderFaults

        func retry(
            _ request: Request, for session: Session, dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            RequestOrderTests.checkRoot("retrier", faults)
            completion(request.retryCount < 1 ? .retry : .doNotRetry)
        }
    }

    /// Takes one step. Returns whether it may have cancelled the request.
    private static func step(
        _ request: DataRequest, _ faults: OrderFaults, _ random: inout SeededRandom
    ) -> Bool {
        let queues = [DispatchQueue.global(), request.underlyingQueue, DispatchQueue.main]
        let queue = queues[Int.random(in: 0..<3, using: &random)]
        switch Int.random(in: 0..<40, using: &random) {
        case 0:
            request.cancel()
            return true
        case 1...4: request.suspend().resume()
        case 5...8: request.resume()
        case 9...11:
            request.validate { _, _, _ in
                checkRoot("validator", faults)
                return .success(())
            }
        case 12: request.validate()
        case 13...15: request.retry(using: Once(faults: faults))
        case 16...19: request.downloadProgress(queue: queue) { _ in faults.checkThread("progress") }
        case 20: request.onHTTPResponse(on: queue) { _, answer in answer(.allow) }
        case 21...23: _ = request.cURLDescription()
        default:
            faults.handlers.write { $0.added += 1 }
            request.response(queue: queue) { _ in
                faults.checkThread("handler")
                faults.handlers.write { $0.called += 1 }
            }
        }
        return false
    }

    /// The work of one thread.
    private static func work(
        _ number: Int, _ session: Session, _ origin: String, _ faults: OrderFaults, _ notices: Notices,
        _ left: Protected<Int>
    ) async {
        var random = SeededRandom(seed: UInt64(number))
        let paths = ["/bytes/10", "/status/500", "/redirect/1", "/status/204", "/bytes/70000"]
        while left.read({ $0 }) > 0 {
            let path = paths[Int.random(in: 0..<paths.count, using: &random)]
            let recorder = Bool.random(using: &random) ? Recorder(faults) : nil
            let request = session.request(origin + path)
            if let recorder { request.eventMonitor(recorder) } else { notices.begin(request) }
            var wasCancelled = false
            let count = Int.random(in: 1...12, using: &random)
            let early = Int.random(in: 0...2, using: &random)
            for _ in 0..<min(early, count) {
                wasCancelled = step(request, faults, &random) || wasCancelled
            }
            let task = request.serializingData(emptyResponseCodes: [200, 204, 205, 500])
            let root = DispatchSemaphore(value: 0)
            let blocksRoot = Int.random(in: 0..<4, using: &random) == 0
            if blocksRoot { session.rootQueue.async { root.wait() } }
            let other = Int.random(in: 0..<3, using: &random) == 0 ? request.serializingString() : nil
            for _ in min(early, count)..<count {
                wasCancelled = step(request, faults, &random) || wasCancelled
            }
            if blocksRoot { root.signal() }
            request.resume()
            let response = await task.response
            _ = await other?.response
            let state = request.state
            if response.error == nil, ![.finished, .cancelled, .resumed].contains(state) {
                faults.note("\(state) after a response")
            }
            // Handlers that were added late have passes of their own, which are over when root has nothing left to do.
            await withCheckedContinuation { continuation in
                request.response(queue: session.rootQueue) { _ in continuation.resume() }
            }
            if let recorder {
                await withCheckedContinuation { continuation in
                    recorder.queue.async { continuation.resume() }
                }
                check(recorder.events.read { $0 }, wasCancelled: wasCancelled, faults)
            } else {
                while !notices.hasFinished(request) { await Task.yield() }
                let events = notices.end(request)
                if !wasCancelled { check(notices: events, faults) }
            }
            left.write { $0 -= count + 3 }
        }
    }

    @Test(
        "[S-29, E-5, R-41, R-43, R-48, R-61, O-5, O-7] events are in order, each occurs once, on a permitted thread"
    )
    func model() async throws {
        let faults = OrderFaults()
        let left = Protected(OrderFaults.steps(20_000))
        let notices = Notices()
        try await withObserved(monitors: [AlamofireNotifications()]) { stage async throws in
            stage.session.rootQueue.setSpecific(key: Self.rootKey, value: true)
            let origin = stage.url("")
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<Self.threads {
                    group.addTask {
                        await Self.work(number, stage.session, origin, faults, notices, left)
                    }
                }
            }
            while faults.handlers.read({ $0.called < $0.added }) { await Task.yield() }
            await withCheckedContinuation { continuation in
                stage.session.rootQueue.async { continuation.resume() }
            }
            let kept = stage.session.mutableState.read { $0.activeRequests.count + $0.requestTaskMap.count }
            #expect(kept == 0)
        }
        #expect(faults.all == [])
        #expect(faults.handlers.read { $0.called == $0.added })
    }
}
