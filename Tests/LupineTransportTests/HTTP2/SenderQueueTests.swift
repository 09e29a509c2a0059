// SPDX-License-Identifier: MIT

import LupineHTTP2
import Testing

@testable import LupineTransport

/// The order in which streams with something to send take turns.
@Suite struct SenderQueueTests {
    private final class Sender {
        let name: Character
        let urgency: Urgency
        init(_ name: Character, _ urgency: UInt8) {
            self.name = name
            self.urgency = Urgency(urgency)
        }
    }

    /// Returns the names of the senders of `count` turns; each sender always has more to send.
    private func turns(_ count: Int, _ senders: [(Character, UInt8)]) -> String {
        var queue = SenderQueue<Sender>()
        for (name, urgency) in senders { queue.append(Sender(name, urgency), as: Urgency(urgency)) }
        var turns = ""
        for _ in 0..<count {
            let sender = queue.removeFirst()
            turns.append(sender.name)
            queue.append(sender, as: sender.urgency)
        }
        return turns
    }

    @Test("[H-12.7] equals send in turn") func inTurn() {
        #expect(turns(9, [("a", 3), ("b", 3), ("c", 3)]) == "abcabcabc")
    }

    @Test("[H-12.7] the most urgent ones send first, and every eighth turn is another's") func urgentFirst() {
        #expect(turns(24, [("z", 7), ("a", 0), ("b", 0)]) == "abababaz" + "bababab" + "z" + "abababaz")
    }

    @Test("[H-12.7] each level that waits gets some of the turns") func everyLevelGetsTurns() {
        let turns = turns(48, [("x", 7), ("m", 4), ("n", 5), ("a", 1)])
        let others = turns.filter { $0 != "a" }
        #expect(others == "mnxmnx")
        #expect(turns.count - others.count == 42)
    }

    @Test("a sender that is alone has every turn") func alone() {
        #expect(turns(20, [("a", 6)]) == String(repeating: "a", count: 20))
    }

    @Test func aRemovedSenderHasNoTurn() {
        var queue = SenderQueue<Sender>()
        let senders = [Sender("a", 2), Sender("b", 2), Sender("c", 5)]
        for sender in senders { queue.append(sender, as: sender.urgency) }
        queue.remove(senders[0], as: Urgency(2))
        queue.append(senders[0], as: Urgency(7))
        queue.remove(senders[1], as: Urgency(2))
        #expect(queue.removeFirst().name == "c")
        #expect(queue.removeFirst().name == "a")
        #expect(queue.isEmpty)
    }

    @Test func thousandsKeepTheirOrder() {
        var queue = SenderQueue<Sender>()
        let senders = (0..<5_000).map { _ in Sender("s", 3) }
        for sender in senders { queue.append(sender, as: sender.urgency) }
        for sender in senders { #expect(queue.removeFirst() === sender) }
        #expect(queue.isEmpty)
    }
}
