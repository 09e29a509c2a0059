// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import Testing

@testable import Lupine

/// The delivery of events to several monitors. Without a server: uses the one event that needs no request.
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
    private func heldQueue() -> DispatchQueue {
        let queue = DispatchQueue(label: "held")
        queue.suspend()
        return queue
    }

    @Test("[E-1] each monitor is called on its own queue, and never by the one who emits")
    func neverInline() async throws {
        let held = RecordingMonitor(queue: heldQueue())
        let free = RecordingMonitor(queue: DispatchQueue(label: "free"))
        let composite = CompositeEventMonitor(monitors: [held, free])
        try emit("a", through: composite)
        #expect(await free.heard.wait(for: 1) == ["s8 a"])
        #expect(held.heard.all.isEmpty)
        held.queue.resume()
        #expect(await held.heard.wait(for: 1) == ["s8 a"])
    }

    @Test("[E-1] an event may be emitted on the monitor's queue, by the monitor itself: it comes afterwards")
    func emittingWhileHearing() async throws {
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

    @Test("[E-2] a monitor on a serial queue hears of everything in the order of emission")
    func emissionOrder() async throws {
        let monitor = RecordingMonitor()
        let composite = CompositeEventMonitor(monitors: [monitor])
        let names = (0..<5_000).map(String.init)
        for name in names { try emit(name, through: composite) }
        #expect(await monitor.heard.wait(for: names.count) == names.map { "s8 \($0)" })
    }

    @Test("[E-2] also when a session's composite and a request's take turns, and their events share a batch")
    func twoComposites() async throws {
        let monitor = RecordingMonitor(queue: heldQueue())
        let ofSession = CompositeEventMonitor(monitors: [monitor])
        let ofRequest = CompositeEventMonitor(monitors: [monitor, RecordingMonitor()])
        let names = (0..<1_000).map(String.init)
        for (index, name) in names.enumerated() {
            try emit(name, through: index % 3 == 1 ? ofRequest : ofSession)
            if index == 500 { monitor.queue.resume() }
        }
        #expect(await monitor.heard.wait(for: names.count) == names.map { "s8 \($0)" })
    }

    @Test("[E-2] two monitors on one queue hear of each event in their order, whatever stands between them")
    func sameQueue() async throws {
        let queue = heldQueue()
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

    @Test("[E-2] an event is told before anything that is put on the monitor's queue after it was emitted")
    func beforeWhatFollows() async throws {
        let monitor = RecordingMonitor()
        let composite = CompositeEventMonitor(monitors: [monitor])
        for index in 0..<500 {
            try emit("\(index)", through: composite)
            monitor.queue.async { monitor.heard.add("after \(index)") }
        }
        let heard = await monitor.heard.wait(for: 1_000)
        let places = Dictionary(uniqueKeysWithValues: zip(heard, 0...))
        for index in 0..<500 {
            let event = try #require(places["s8 \(index)"])
            #expect(event < (try #require(places["after \(index)"])), "event \(index)")
        }
    }

    @Test(
        "[E-2] batched events arrive in order too, also behind a delivery that is on the queue already"
    )
    func batchedEvents() async throws {
        let monitor = RecordingMonitor(queue: heldQueue())
        let composite = CompositeEventMonitor(monitors: [monitor])
        var names: [String] = []
        func emitBatched(_ name: String) throws {
            let event = MonitorEvent.taskIsWaitingForConnectivity(session, try task(name))
            composite.forwardBatched(notificationEvent: event)
        }
        for round in 0..<3 {
            names += ["s8 \(round)", "s8 \(round) too"]
            try emit("\(round)", through: composite)
            try emitBatched("\(round) too")
            if round == 0 { monitor.queue.resume() }
            #expect(await monitor.heard.wait(for: names.count) == names)
        }
        try emitBatched("last")
        #expect(await monitor.heard.wait(for: names.count + 1) == names + ["s8 last"])
    }

    @Test("a queue that is known by two objects is one queue")
    func mainQueueIsOne() {
        #expect(EventMailbox.mailbox(of: .main) === EventMailbox.mailbox(of: .main))
        let queue = DispatchQueue(label: "one")
        #expect(EventMailbox.mailbox(of: queue) === EventMailbox.mailbox(of: queue))
        #expect(EventMailbox.mailbox(of: queue) !== EventMailbox.mailbox(of: .main))
    }

    /// Returns whether an event's payload is retained after the event was emitted, which it is while the event is pending.
    @MainActor private func isKept(by monitors: [any EventMonitor]) throws -> Bool {
        let composite = CompositeEventMonitor(monitors: monitors)
        weak var kept: CachedURLResponse?
        do {
            let url = try #require(URL(string: "http://127.0.0.1/"))
            let response = URLResponse(
                url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            let cached = CachedURLResponse(response: response, data: Data())
            kept = cached
            composite.urlSession(session, dataTask: session.dataTask(with: url), willCacheResponse: cached)
        }
        return kept != nil
    }

    @MainActor
    @Test(
        "[E-4] without monitors nothing is dispatched; with the default one, what it posts nothing for is not either"
    )
    func nothingIsDispatched() throws {
        #expect(try isKept(by: []) == false)
        #expect(try isKept(by: [AlamofireNotifications()]) == false)
        #expect(try isKept(by: [AlamofireNotifications(), ClosureEventMonitor()]))
    }

    @Test("monitors and queue are those that it was made with")
    func properties() {
        let monitor = RecordingMonitor()
        #expect(CompositeEventMonitor(queue: monitor.queue, monitors: []).queue === monitor.queue)
        let composite = CompositeEventMonitor(monitors: [monitor])
        #expect(composite.queue.label == "org.alamofire.compositeEventMonitor")
        #expect(composite.monitors.count == 1 && composite.monitors.first as AnyObject === monitor)
    }
}
