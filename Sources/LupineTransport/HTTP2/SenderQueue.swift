// SPDX-License-Identifier: MIT

import LupineHTTP2

/// Streams that have something to send: the most urgent first, in turn among equals (RFC 9218 §10).
///
/// Where less urgent ones wait, every eighth turn is one of theirs, of each level after the other: an upload without end
/// leaves them little, but never nothing.
struct SenderQueue<Sender: AnyObject> {
    /// The share of those that are less urgent: one turn of so many.
    static var share: Int { 8 }

    /// Those of one urgency, first come, first served.
    private struct Lane {
        private var senders: [Sender] = []
        private var start = 0

        var isEmpty: Bool { start == senders.count }

        mutating func append(_ sender: Sender) { senders.append(sender) }

        /// Takes the first, of which there has to be one.
        mutating func removeFirst() -> Sender {
            let sender = senders[start]
            start += 1
            // Half of the array at most is what has gone.
            if 2 * start >= senders.count {
                senders.removeSubrange(..<start)
                start = 0
            }
            return sender
        }

        mutating func remove(_ sender: Sender) {
            senders.removeSubrange(..<start)
            start = 0
            senders.removeAll { $0 === sender }
        }
    }

    private var lanes = InlineArray<8, Lane>(repeating: Lane())
    /// A bit for each lane that is not empty.
    private var occupied: UInt8 = 0
    /// Turns since a lane behind the first had one.
    private var passed = 0
    /// The bit of the lane behind the first that had a turn last.
    private var favoured: UInt8 = 0

    var isEmpty: Bool { occupied == 0 }

    mutating func append(_ sender: Sender, as urgency: Urgency) {
        lanes[Int(urgency.rawValue)].append(sender)
        occupied |= 1 << urgency.rawValue
    }

    /// Takes out one that was appended with that urgency.
    mutating func remove(_ sender: Sender, as urgency: Urgency) {
        let lane = Int(urgency.rawValue)
        lanes[lane].remove(sender)
        if lanes[lane].isEmpty { occupied &= ~(1 << urgency.rawValue) }
    }

    /// Takes whose turn it is; there has to be one.
    mutating func removeFirst() -> Sender {
        let lane = nextLane()
        let sender = lanes[lane].removeFirst()
        if lanes[lane].isEmpty { occupied &= ~(1 << UInt8(lane)) }
        return sender
    }

    private mutating func nextLane() -> Int {
        let first = occupied.trailingZeroBitCount
        let others = occupied & (occupied &- 1)
        guard others != 0 else {
            passed = 0
            return first
        }
        passed += 1
        guard passed >= Self.share else { return first }
        passed = 0
        // The next behind the one that had the last such turn, or the first of them again.
        let behind = others & ~(favoured | (favoured &- 1))
        let chosen = (behind == 0 ? others : behind).trailingZeroBitCount
        favoured = 1 << UInt8(chosen)
        return chosen
    }
}
