// SPDX-License-Identifier: MIT

import LupineHTTP2

/// The streams that have something to send: the most urgent first, round-robin among those of the same urgency (RFC 9218 §10).
///
/// While less urgent streams wait, every eighth removal is from one of their levels, one level after the other. So an endless
/// urgent upload slows the less urgent streams down but does not starve them.
struct SenderQueue<Sender: AnyObject> {
    /// One of this many removals is from a level other than the most urgent one.
    static var lessUrgentInterval: Int { 8 }

    /// A FIFO queue of the senders of one urgency.
    private struct Level {
        private var senders: [Sender] = []
        /// The number of removed senders at the beginning of `senders`.
        private var start = 0

        var isEmpty: Bool { start == senders.count }

        mutating func append(_ sender: Sender) { senders.append(sender) }

        /// Removes the first sender; the level must not be empty.
        mutating func removeFirst() -> Sender {
            let sender = senders[start]
            start += 1
            // Removed senders occupy at most half of the array.
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

    /// A level for each of the eight urgencies, the most urgent first.
    private var levels = InlineArray<8, Level>(repeating: Level())
    /// A bit for each level that is not empty; bit 0 is the most urgent level.
    private var occupied: UInt8 = 0
    /// The number of removals since the last removal from a less urgent level.
    private var removalsSinceLessUrgent = 0
    /// The bit of the less urgent level from which a sender was last removed; 0 before the first such removal.
    private var lastLessUrgentBit: UInt8 = 0

    var isEmpty: Bool { occupied == 0 }

    mutating func append(_ sender: Sender, as urgency: Urgency) {
        levels[Int(urgency.rawValue)].append(sender)
        occupied |= 1 << urgency.rawValue
    }

    /// Removes a sender that was appended with that urgency.
    mutating func remove(_ sender: Sender, as urgency: Urgency) {
        let level = Int(urgency.rawValue)
        levels[level].remove(sender)
        if levels[level].isEmpty { occupied &= ~(1 << urgency.rawValue) }
    }

    /// Removes the next sender; the queue must not be empty.
    mutating func removeFirst() -> Sender {
        let level = nextLevel()
        let sender = levels[level].removeFirst()
        if levels[level].isEmpty { occupied &= ~(1 << UInt8(level)) }
        return sender
    }

    /// Chooses the level of the next removal.
    private mutating func nextLevel() -> Int {
        let first = occupied.trailingZeroBitCount
        // All occupied levels except the most urgent one: this clears the lowest set bit.
        let others = occupied & (occupied &- 1)
        guard others != 0 else {
            removalsSinceLessUrgent = 0
            return first
        }
        removalsSinceLessUrgent += 1
        guard removalsSinceLessUrgent >= Self.lessUrgentInterval else { return first }
        removalsSinceLessUrgent = 0
        // The levels after the last chosen one: the mask clears its bit and all lower bits. If `lastLessUrgentBit` is 0, the mask
        // clears all bits. If no level remains, the most urgent of the others comes next.
        let following = others & ~(lastLessUrgentBit | (lastLessUrgentBit &- 1))
        let chosen = (following == 0 ? others : following).trailingZeroBitCount
        lastLessUrgentBit = 1 << UInt8(chosen)
        return chosen
    }
}
