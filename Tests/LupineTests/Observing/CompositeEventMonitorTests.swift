// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import Testing

@testable import Lupine

/// The delivery of events to several monitors, tested without a server, with the one event that needs no request.
final class CompositeEventMonitorTests {
    let session = URLSession(configuration: .ephemeral)

    /// The tasks never start, and retain the session while it is valid.
    deinit { session.invalidateAndCancel() }

    /// Returns a task with a name that a `RecordingMonitor` includes in its record.
    private func task(_ name: String) throws -> URLSessionTask {
        let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1/")))
        task.taskDescription = name
        return task
    }

    private func emit(_ name: String, through monitor: CompositeEventMonitor) throws {
        monitor.urlSession(session, taskIsWaitingForConnectivity: try task(name))
    }

    /// Returns a suspended queue, which the caller resumes.
    private func suspendedQueue() -> DispatchQueue {
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        return queue
    }

    @Test("[E-1] each monitor is called on its own queue, never synchronously by the emitter")
    func neverSynchronous() async throws {
        let suspended = RecordingMonitor(queue: suspendedQueue())
        let active = RecordingMonitor(queue: DispatchQueue(label: "active"))
        let composite = CompositeEventMonitor(monitors: [suspended, active])
        try emit("a", through: composite)
        #expect(await active.heard.wait(for: 1) == ["s8 a"])
        #expect(suspended.heard.all.isEmpty)
        suspended.queue.resume()
        #expect(await suspended.heard.wait(for: 1) == ["s8 a"])
    }

    @Test("[E-1] an event that a monitor emits during its call is delivered after the call")
    func emittingInCallback() async throws {
        let queue = DispatchQueue(label: "monitor")
        let heard = ValueLog<String>()
        let box = Protected<CompositeEventMonitor?>(nil)
        let monitor = RecordingMonitor(queue: queue, heard: heard) { [unowned self] event, _ in
            guard event == "s8 a" else { return }
            heard.add("begin")
            try? emit("b", through: #require(box.read { $0 }))
            heard.add("end")
        }
        box.write(CompositeEventMonitor(monitors: [monitor]))
        try emit("a", through: #require(box.read { $0 }))
        #expect(await heard.wait(for: 4) == ["begin", "end", "s8 a", "s8 b"])
        box.write(nil)
    }

    @Test("[E-2] a monitor on a serial queue receives all events in the order of emission")
    func emissionOrder() async throws {
        let monitor = RecordingMonitor()
        let composite = CompositeEventMonitor(monitors: [monitor])
        let names = (0..<5_000).map(String.init)
        for name in names { try emit(name, through: composite) }
        #expect(await monitor.heard.wait(for: names.count) == names.map { "s8 \($0)" })
    }

    @Test("[E-2] the order holds when a session's and a request's composite alternate and share a batch")
    func twoComposites() async throws {
        let monitor = RecordingMonitor(queue: suspendedQueue())
        let sessionComposite = CompositeEventMonitor(monitors: [monitor])
        let requestComposite = CompositeEventMonitor(monitors: [monitor, RecordingMonitor()])
        let names = (0..<1_000).map(String.init)
        for (index, name) in names.enumerated() {
            try emit(name, through: index % 3 == 1 ? requestComposite : sessionComposite)
            if index == 500 { monitor.queue.resume() }
        }
        #expect(await monitor.heard.wait(for: names.count) == names.map { "s8 \($0)" })
    }

    @Test("[E-2] two monitors on one queue receive each event in the order of `monitors`")
    func sameQueue() async throws {
        let queue = suspendedQueue()
        let heard = ValueLog<String>()
        let first = RecordingMonitor("1 ", queue: queue, heard: heard)
        let second = RecordingMonitor("2 ", queue: queue, heard: heard)
        let other = RecordingMonitor("3 ")
        let composite = CompositeEventMonitor(monitors: [first, other, second])
        try emit("a", through: composite)
        try emit("b", through: composite)
        queue.resume()
        #expect(await heard.wait(for: 4) == ["1 s8 a", "2 s8 a", "1 s8 b", "2 s8 b"])
        #expect(await other.heard.wait(for: 2) == ["3 s8 a", "3 s8 b"])
    }

    @Test("[E-2] an event is delivered before any block that is enqueued after it was emitted")
    func beforeLaterBlocks() async throws {
        let monitor = RecordingMonitor()
        let composite = CompositeEventMonitor(monitors: [monitor])
        for index in 0..<500 {
            try emit("\(index)", through: composite)
            monitor.queue.async { monitor.heard.add("after \(index)") }
        }
        let heard = await monitor.heard.wait(for: 1_000)
        let positions = Dictionary(uniqueKeysWithValues: zip(heard, 0...))
        for index in 0..<500 {
            let event = try #require(positions["s8 \(index)"])
            #expect(event < (try #require(positions["after \(index)"])), "event \(index)")
        }
    }

    @Test("two objects that represent one queue have the same mailbox")
    func mainQueueIsOne() {
        #expect(EventMailbox.mailbox(of: .main) === EventMailbox.mailbox(of: .main))
        let queue = DispatchQueue(label: "one")
        #expect(EventMailbox.mailbox(of: queue) === EventMailbox.mailbox(of: queue))
        #expect(EventMailbox.mailbox(of: queue) !== EventMailbox.mailbox(of: .main))
    }

    /// Emits an event without a notification. Returns whether it waits for delivery on the main queue, and so retains its
    /// payload.
    @MainActor private func isEnqueued(for monitors: [any EventMonitor]) throws -> Bool {
        let composite = CompositeEventMonitor(monitors: monitors)
        weak var payload: CachedURLResponse?
        do {
            let url = try #require(URL(string: "http://127.0.0.1/"))
            let response = URLResponse(
                url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            let cached = CachedURLResponse(response: response, data: Data())
            payload = cached
            composite.urlSession(session, dataTask: session.dataTask(with: url), willCacheResponse: cached)
        }
        return payload != nil
    }

    @MainActor
    @Test(
        "[E-4] an event is not dispatched without monitors, nor to the default monitor if it has no notification"
    )
    func nothingIsDispatched() throws {
        #expect(try isEnqueued(for: []) == false)
        #expect(try isEnqueued(for: [AlamofireNotifications()]) == false)
        #expect(try isEnqueued(for: [AlamofireNotifications(), ClosureEventMonitor()]))
    }

    @Test("a composite has the monitors and the queue of its initializer")
    func properties() {
        let monitor = RecordingMonitor()
        #expect(CompositeEventMonitor(queue: monitor.queue, monitors: []).queue === monitor.queue)
        let composite = CompositeEventMonitor(monitors: [monitor])
        #expect(composite.queue.label == "org.alamofire.compositeEventMonitor")
        #expect(composite.monitors.count == 1 && composite.monitors.first as AnyObject === monitor)
    }
}
