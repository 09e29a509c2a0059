// SPDX-License-Identifier: MIT

import Dispatch
import LupineLoading
import Testing

@testable import Lupine

/// Events that may wait until a root queue is through with what it has.
struct EventBurstTests {
    private let root = DispatchQueue(label: "root")
    private let told = DispatchQueue(label: "told")
    private let heard = Heard<String>()

    init() { EventBurst.begin(on: root) }

    /// Tells of an event, behind the root queue's work.
    private func tell() {
        let monitor = ClosureEventMonitor(queue: told)
        let heard = heard
        monitor.sessionDidBecomeInvalidWithError = { _, _ in heard.add("event") }
        EventMailbox.mailbox(of: told).add(
            .sessionBecameInvalid(URLSession(configuration: .ephemeral), nil), for: [EventListener(monitor)],
            on: told, behind: root)
    }

    @Test("what is told in a block of the root queue waits for its end, and for that of the blocks behind it")
    func burst() {
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

    @Test("elsewhere than on a root queue an event is told at once")
    func elsewhere() {
        tell()
        told.sync {}
        #expect(heard.all == ["event"])
    }
}
