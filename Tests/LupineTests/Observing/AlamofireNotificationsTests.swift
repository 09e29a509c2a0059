// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// The notifications about requests.
struct AlamofireNotificationsTests {
    /// Records the notifications about one request, and whether each was posted on the main queue.
    private final class Listener: Sendable {
        struct Posted: Sendable {
            let name: String
            let isOnMainQueue: Bool
            let isWithoutObject: Bool
            let request: ObjectIdentifier?
        }

        static let names: [(Notification.Name, String)] = [
            (Request.didResumeNotification, "didResume"), (Request.didSuspendNotification, "didSuspend"),
            (Request.didCancelNotification, "didCancel"), (Request.didFinishNotification, "didFinish"),
            (Request.didResumeTaskNotification, "didResumeTask"),
            (Request.didSuspendTaskNotification, "didSuspendTask"),
            (Request.didCancelTaskNotification, "didCancelTask"),
            (Request.didCompleteTaskNotification, "didCompleteTask"),
        ]

        /// Marks the main queue. The queue is checked, not the thread: in a test another thread may run the main queue.
        private static let mainKey = DispatchSpecificKey<Bool>()

        let heard = ValueLog<Posted>()
        private let tokens = Protected<[any NSObjectProtocol]>([])

        /// Listens for one request, because other tests post notifications too.
        init(to request: Request) {
            let id = ObjectIdentifier(request)
            let heard = heard
            DispatchQueue.main.setSpecific(key: Self.mainKey, value: true)
            for (name, short) in Self.names {
                let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                    posted in
                    guard posted.request.map(ObjectIdentifier.init) == id else { return }
                    heard.add(
                        Posted(
                            name: short, isOnMainQueue: DispatchQueue.getSpecific(key: Self.mainKey) == true,
                            isWithoutObject: posted.object == nil,
                            request: (posted.userInfo?["org.alamofire.notification.key.request"] as? Request)
                                .map(ObjectIdentifier.init)))
                }
                tokens.write { $0.append(token) }
            }
        }

        func stop() {
            for token in tokens.read({ $0 }) { NotificationCenter.default.removeObserver(token) }
        }
    }

    @Test("the notifications have Alamofire's names", arguments: Listener.names)
    func rawNames(name: Notification.Name, short: String) {
        #expect(name.rawValue == "org.alamofire.notification.name.request.\(short)")
    }

    @Test(
        "[N-1] notifications are posted on the main queue, with the request as their only data",
        arguments: TestedHTTP.allCases)
    func posted(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(monitors: [AlamofireNotifications()], over: testedHTTP) { stage in
            let request = stage.session.request(stage.url("/get"))
            let listener = Listener(to: request)
            defer { listener.stop() }
            #expect(await request.serializingData().response.error == nil)
            let posted = await listener.heard.wait(for: 4)
            #expect(posted.map(\.name) == ["didResume", "didResumeTask", "didCompleteTask", "didFinish"])
            #expect(posted.allSatisfy { $0.isOnMainQueue && $0.isWithoutObject })
            #expect(posted.allSatisfy { $0.request == ObjectIdentifier(request) })
        }
    }

    @Test("[N-1] suspending and cancelling a request is posted as well", arguments: TestedHTTP.allCases)
    func suspendedAndCancelled(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(monitors: [AlamofireNotifications()], over: testedHTTP) { stage in
            let request = stage.held()
            let listener = Listener(to: request)
            defer { listener.stop() }
            let task = request.serializingData()
            await stage.waitForRequest()
            request.suspend()
            request.cancel()
            _ = await task.response
            let posted = await listener.heard.wait(for: 8)
            #expect(Set(posted.map(\.name)) == Set(Listener.names.map(\.1)))
        }
    }

    @Test(
        "[N-1] a session whose monitors do not include the default one posts nothing",
        arguments: TestedHTTP.allCases)
    func turnedOff(over testedHTTP: TestedHTTP) async throws {
        let monitor = RecordingMonitor(queue: .main)
        try await withObserved(monitors: [monitor], over: testedHTTP) { stage in
            let request = stage.session.request(stage.url("/get"))
            let listener = Listener(to: request)
            defer { listener.stop() }
            #expect(await request.serializingData().response.error == nil)
            // A notification would have been posted before this event.
            await monitor.heard.wait(untilRecorded: "d3")
            #expect(listener.heard.all.isEmpty)
        }
    }

    @Test("[N-2] a notification of another kind has no request")
    func withoutRequest() {
        #expect(Notification(name: Notification.Name("other")).request == nil)
        let key = "org.alamofire.notification.key.request"
        let wrong = Notification(name: Request.didResumeNotification, object: nil, userInfo: [key: "text"])
        #expect(wrong.request == nil)
    }

    @Test(
        "[N-3] a task's end is posted once per attempt, the request's once per finishing pass",
        arguments: TestedHTTP.allCases)
    func retried(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(
            monitors: [AlamofireNotifications()], interceptor: Retrying(times: 2), over: testedHTTP
        ) {
            stage in
            let request = stage.session.request(stage.url("/status/503")).validate()
            let listener = Listener(to: request)
            defer { listener.stop() }
            #expect(await request.serializingData().response.error != nil)
            let posted = await listener.heard.wait(for: 8)
            #expect(
                posted.map(\.name) == [
                    "didResume", "didResumeTask", "didCompleteTask", "didResumeTask", "didCompleteTask",
                    "didResumeTask", "didCompleteTask", "didFinish",
                ])
        }
    }

    @Test("[N-1] batched notifications keep their order among the others", arguments: [false, true])
    func batched(ofSession hasLoops: Bool) async throws {
        let session = Session(startRequestsImmediately: false)
        let composite = CompositeEventMonitor(
            monitors: [AlamofireNotifications()], session: hasLoops ? session.session : nil)
        let request = session.request("http://127.0.0.1/")
        let listener = Listener(to: request)
        defer { listener.stop() }
        var names: [String] = []
        for _ in 0..<20 {
            composite.forward(.didSuspend, about: request)
            composite.forwardBatched([.didFinish, .didCompleteTask], about: request)
            composite.forwardBatched(.didResume, about: request)
            composite.forward(notificationEvent: .cancelled(request))
            names += ["didSuspend", "didCompleteTask", "didFinish", "didResume", "didCancel"]
        }
        #expect(await listener.heard.wait(for: names.count).map(\.name) == names)
        // Nothing else enqueues a delivery after these.
        composite.forwardBatched([.didResume, .didResumeTask], about: request)
        composite.forwardBatched(.didFinish, about: request)
        names += ["didResume", "didResumeTask", "didFinish"]
        #expect(await listener.heard.wait(for: names.count).map(\.name) == names)
    }

    @Test("a set takes only notifications that follow those it contains")
    func order() {
        let all = RequestNotifications.all.map(\.notification)
        for (index, notification) in all.enumerated() {
            var notifications: RequestNotifications = []
            for earlier in all[..<index] { #expect(notifications.append(earlier) == true) }
            #expect(notifications.append(notification) == true)
            for refused in all[...index] {
                let before = notifications
                #expect(notifications.append(refused) == false)
                #expect(notifications == before)
            }
        }
        #expect(Set(RequestNotifications.all.map(\.name)) == Set(Listener.names.map(\.0)))
    }

    @Test("the default monitor of a session posts notifications")
    func defaultMonitors() {
        let session = Session()
        #expect(session.eventMonitor.monitors.count == 1)
        #expect(session.eventMonitor.monitors.first is AlamofireNotifications)
    }
}
