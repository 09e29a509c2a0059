// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Requests whose attempts call none of the program's code, and requests to which such code is added during an attempt.
struct RequestStepTests {
    private static let key = DispatchSpecificKey<Bool>()

    /// Marks the root queue, so that `isOnRoot` can recognize it.
    private func markRoot(of session: Session) { session.rootQueue.setSpecific(key: Self.key, value: true) }

    private static var isOnRoot: Bool { DispatchQueue.getSpecific(key: key) ?? false }

    /// Runs `body` while the session's root queue is blocked.
    private func whileRootIsBlocked(_ session: Session, _ body: () async throws -> Void) async rethrows {
        let release = DispatchSemaphore(value: 0)
        session.rootQueue.async { release.wait() }
        defer { release.signal() }
        try await body()
    }

    @Test("[S-29, R-20] an awaited request finishes without the root queue", arguments: TestedHTTP.allCases)
    func withoutRootQueue(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(monitors: [AlamofireNotifications()], over: testedHTTP) { stage async throws in
            try await whileRootIsBlocked(stage.session) {
                let request = stage.session.request(stage.url("/bytes/300"))
                #expect(try await request.serializingData().value.count == 300)
                #expect(request.isFinished && request.tasks.count == 1 && request.metrics != nil)
                let other = stage.session.request(try URLRequest(url: stage.url("/bytes/20"), method: .post))
                #expect(await other.serializingData().response.response?.statusCode != nil)
            }
        }
    }

    @Test("[S-29, R-50] a failure is processed on the root queue, once the queue continues")
    func failure() async throws {
        try await withObserved { stage async throws in
            let plan = ScriptPlan(.signal("asked"), .send("no HTTP\r\n\r\n"), .close)
            stage.origin.answer("GET", "/broken", plan)
            var response: Task<AFDataResponse<Data>, Never>?
            await whileRootIsBlocked(stage.session) {
                let request = stage.session.request(stage.url("/broken"))
                response = Task { await request.serializingData().response }
                await stage.waitForRequest()
            }
            #expect(await response?.value.error?.isSessionTaskError == true)
        }
    }

    @Test(
        "[S-29] the program's code runs on the root queue also if it is added during an attempt"
    )
    func addedLater() async throws {
        let seen = ValueLog<String>()
        try await withObserved { stage async throws in
            markRoot(of: stage.session)
            let request = stage.held("HTTP/1.1 503 Late\r\nContent-Length: 2\r\n\r\nok")
            let task = request.serializingData()
            await stage.waitForRequest()
            request.validate { _, _, data in
                seen.add("validator \(Self.isOnRoot) \(data?.count ?? 0)")
                return .failure(AFError.explicitlyCancelled)
            }
            request.retry(
                using: Retrier { _, _, _, completion in
                    seen.add("retrier \(Self.isOnRoot)")
                    completion(.doNotRetry)
                })
            stage.sendResponse()
            #expect(await task.response.error?.isExplicitlyCancelledError == true)
        }
        // The retrier is asked about the task and about the serializer.
        #expect(seen.all == ["validator true 2", "retrier true", "retrier true"])
    }

    @Test(
        "[S-29, R-61] a progress handler that is added during an attempt is called before the response handler"
    )
    func progressLater() async throws {
        let seen = ValueLog<String>()
        let queue = DispatchQueue(label: "seen")
        try await withObserved { stage async throws in
            let request = stage.held()
            request.response(queue: queue) { _ in seen.add("response") }
            await stage.waitForRequest()
            request.downloadProgress(queue: queue) { seen.add("\($0.completedUnitCount)") }
            stage.sendResponse()
            #expect(await seen.wait(for: 2) == ["2", "response"])
        }
    }

    @Test("[S-29] an `onHTTPResponse` handler that is added during an attempt decides about the content")
    func gateLater() async throws {
        try await withObserved { stage async throws in
            let request = stage.held()
            let task = request.serializingData()
            await stage.waitForRequest()
            request.onHTTPResponse(on: .global()) { _, answer in answer(.cancel) }
            stage.sendResponse()
            #expect(await task.response.error?.isExplicitlyCancelledError == true)
            #expect(request.data == nil)
        }
    }

    @Test(
        "[S-29, E-1, N-3] each event of such a request is reported once and in order, before the handler is called"
    )
    func events() async throws {
        let queue = DispatchQueue(label: "seen")
        let seen = ValueLog<String>()
        let monitor = ClosureEventMonitor(queue: queue)
        monitor.requestDidGatherMetrics = { _, _ in seen.add("r13") }
        monitor.requestDidCompleteTaskWithError = { _, _, _ in seen.add("r15") }
        monitor.requestDidFinish = { _ in seen.add("r17") }
        monitor.requestDidParseResponse = { _, _ in seen.add("d2") }
        try await withObserved { stage async throws in
            let request = stage.held()
            request.response(queue: queue) { _ in seen.add("handler") }
            await stage.waitForRequest()
            request.eventMonitor(monitor)
            stage.sendResponse()
            #expect(await seen.wait(for: 5) == ["r13", "r15", "r17", "d2", "handler"])
        }
    }

    @Test("[S-29, E-7] notifications are posted before the handler is called, with every serializer")
    @MainActor func notificationsFirst() async throws {
        let seen = ValueLog<String>()
        let names: [(Notification.Name, String)] = [
            (Request.didResumeNotification, "r1"), (Request.didResumeTaskNotification, "r8"),
            (Request.didCompleteTaskNotification, "r15"), (Request.didFinishNotification, "r17"),
        ]
        try await withObserved(monitors: [AlamofireNotifications()]) { stage async throws in
            for round in 0..<30 {
                let request = stage.session.request(stage.url("/bytes/3?\(round)"))
                let tokens = names.map { name, text in
                    NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notice in
                        if notice.request === request { seen.add(text) }
                    }
                }
                switch round % 3 {
                case 0: request.responseString { _ in seen.add("handler") }
                case 1: request.responseData { _ in seen.add("handler") }
                default: request.response { _ in seen.add("handler") }
                }
                let all = await seen.wait(for: 5 * (round + 1))
                #expect(all.suffix(5) == ["r1", "r8", "r15", "r17", "handler"])
                for token in tokens { NotificationCenter.default.removeObserver(token) }
            }
        }
    }

    @Test("[S-29, R-9] user actions are reported before the end, also if the root queue is blocked meanwhile")
    func userActionsFirst() async throws {
        let seen = ValueLog<String>()
        let queue = DispatchQueue(label: "seen")
        try await withObserved(monitors: [AlamofireNotifications()]) { stage async throws in
            let request = stage.held()
            let monitor = ClosureEventMonitor(queue: queue)
            monitor.requestDidResume = { _ in seen.add("r1") }
            monitor.requestDidSuspend = { _ in seen.add("r9") }
            monitor.requestDidFinish = { _ in seen.add("r17") }
            request.eventMonitor(monitor)
            let task = request.serializingData()
            await stage.waitForRequest()
            await whileRootIsBlocked(stage.session) {
                request.suspend().resume()
                stage.sendResponse()
            }
            #expect(await task.response.error == nil)
            #expect(await seen.wait(for: 4) == ["r1", "r9", "r1", "r17"])
        }
    }

    @Test("[S-29, O-5] an awaiting task resumes after the session has removed the request")
    func removedFromSession() async throws {
        try await withObserved { stage async throws in
            for _ in 0..<50 {
                _ = try await stage.session.request(stage.url("/bytes/1")).serializingData().value
                let left = stage.session.mutableState.read {
                    $0.activeRequests.count + $0.requestTaskMap.count
                }
                #expect(left == 0)
            }
        }
    }

    @Test(
        "[S-29, O-3] requests and their tasks do not retain each other after the end, whether started or not")
    func lifetime() async throws {
        weak var started: DataRequest?
        weak var waiting: DataRequest?
        try await withObserved { stage async throws in
            do {
                let request = stage.session.request(stage.url("/bytes/1"))
                started = request
                _ = try await request.serializingData().value
            }
            do {
                let session = Session(
                    configuration: .ephemeral, startRequestsImmediately: false, requestSetup: .eager,
                    eventMonitors: [])
                let request = session.request(stage.url("/bytes/1"))
                await withCheckedContinuation { continuation in
                    request.onURLSessionTaskCreation(on: .global()) { _ in continuation.resume() }
                }
                waiting = request
                request.response(queue: session.rootQueue) { _ in }
                let ended = ValueLog<Int>()
                request.response(queue: .global()) { _ in ended.add(1) }
                request.cancel()
                await ended.wait(for: 1)
                await withCheckedContinuation { continuation in
                    session.rootQueue.async { continuation.resume() }
                }
            }
        }
        #expect(started == nil)
        while waiting != nil { await Task.yield() }
    }

    @Test("[S-29, DR-9] content over the limit fails the request with `dataLengthExceedsMaximum`")
    func tooLong() async throws {
        for path in ["/bytes/300", "/stream-bytes/300"] {
            let configure: (URLSessionConfiguration) -> Void = { $0.lupine.collectedBodyLimit = 200 }
            try await withObserved(configure: configure, over: .http1) { stage async throws in
                let response = await stage.session.request(stage.url(path)).serializingData().response
                #expect(
                    (response.error?.underlyingError as? URLError)?.code == .dataLengthExceedsMaximum,
                    "\(path)")
            }
        }
    }
}
