// SPDX-License-Identifier: MIT

import Dispatch
import LupineLoading
import Testing

@testable import Lupine

/// Events whose delivery may wait until the root queue is idle.
struct ResumptionBatchTests {
    private let root = DispatchQueue(label: "root")
    private let told = DispatchQueue(label: "told")
    private let heard = Heard<String>()

    init() { ResumptionBatch.begin(on: root) }

    /// Delivers an event, after the work of the root queue.
    private func tell() {
        let monitor = ClosureEventMonitor(queue: told)
        let heard = heard
        monitor.sessionDidBecomeInvalidWithError = { _, _ in heard.add("event") }
        EventRoute(
            queue: told, listeners: [EventListener(monitor)], batch: ResumptionBatch.batch(of: root),
            of: root,
            mailbox: EventMailbox.mailbox(of: told)
        ).send(.sessionBecameInvalid(URLSession(configuration: .ephemeral), nil))
    }

    @Test("what is told in a block of the root queue waits for its end, and for that of the blocks behind it")
    func batch() {
        root.sync {
            root.async {
                tell()
                told.sync {}
                heard.add("second block")
            }
            tell()
            told.sync {}
            heard.add("first block")
        }
        root.sync {}
        root.sync {}
        told.sync {}
        #expect(heard.all == ["first block", "second block", "event", "event"])
    }

    @Test("a handler does not overtake what was told before it")
    func order() {
        root.sync {
            tell()
            told.deliver { heard.add("handler") }
            told.sync {}
            heard.add("block")
        }
        root.sync {}
        told.sync {}
        #expect(heard.all == ["event", "handler", "block"])
    }

    @Test("turns that follow closely on others wait, and a handler takes along what is told before it")
    func pace() async {
        for round in 1...3 {
            root.sync { tell() }
            root.sync {}
            root.sync {
                tell()
                told.deliver { heard.add("handler \(round)") }
            }
        }
        root.sync { tell() }
        let all = await heard.wait(for: 10)
        let handlers = all.indices.filter { all[$0] != "event" }
        #expect(handlers.map { all[$0] } == ["handler 1", "handler 2", "handler 3"])
        // An event may be delivered before a handler that precedes it, but never after a handler that follows it.
        for (round, place) in handlers.enumerated() {
            #expect(all[..<place].filter { $0 == "event" }.count >= 2 * (round + 1))
        }
    }

    @Test(
        "a task that waits goes on when the root queue has come to the end of what it has, not in the block it is told in"
    )
    func tasks() async {
        let root = root
        let heard = heard
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    await WaitingTask.wait { task in
                        root.async {
                            ResumptionBatch.current?.letGo(task, [], behind: root)
                            heard.add("block")
                        }
                        return true
                    }
                    heard.add("task")
                }
            }
        }
        #expect(heard.all.filter { $0 == "task" }.count == 3)
        #expect(heard.all.first == "block")
    }

    @Test("of more tasks than may wait, and of those that wait longer than they may, none is forgotten")
    func company() async {
        let root = root
        let count = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    await WaitingTask.wait { task in
                        root.async { ResumptionBatch.current?.letGo(task, [], behind: root) }
                        return true
                    }
                    return 1
                }
            }
            return await group.reduce(0, +)
        }
        #expect(count == 200)
    }

    @Test(
        "elsewhere than on a root queue an event is told at once, with those that wait for the root queue",
        arguments: [0, 1])
    func elsewhere(waiting: Int) {
        // This block keeps the root queue busy until the event has been delivered.
        root.sync {
            for _ in 0..<waiting { tell() }
            let elsewhere = DispatchQueue(label: "elsewhere")
            let isTold = DispatchSemaphore(value: 0)
            elsewhere.async {
                tell()
                told.sync {}
                isTold.signal()
            }
            isTold.wait()
            #expect(heard.all.count == waiting + 1)
        }
    }
}
