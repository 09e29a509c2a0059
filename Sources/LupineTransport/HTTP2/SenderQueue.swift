// SPDX-License-Identifier: MIT

import LupineHTTP2

/// The streams that have something to send: the most urgent first, round-robin among equals (RFC 9218 §10).
///
/// While less urgent streams wait, every eighth removal is from one of their levels, each level in turn. So an endless urgent
/// upload slows the less urgent streams down but does not starve them.
struct SenderQueue<Sender: AnyObject> {
    /// One of this many removals is from a less urgent level.
    static var removalsPerShare: Int { 8 }

    /// A FIFO queue of the senders of one urgency.
    private struct Level {
        private var senders: [Sender] = []
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

    private var levels = InlineArray<8, Level>(repeating: Level())
    /// A bit for each level that is not empty; bit 0 is the most urgent level.
    private var occupied: UInt8 = 0
    /// The number of removals since the last one from a less urgent level.
    private var removalsWithoutShare = 0
    /// The bit of the less urgent level from which a sender was last removed; 0 before the first such removal.
    private var lastSharedLevel: UInt8 = 0

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
            removalsWithoutShare = 0
            return first
        }
        removalsWithoutShare += 1
        guard removalsWithoutShare >= Self.removalsPerShare else { return first }
        removalsWithoutShare = 0
        // The levels after `lastSharedLevel`: the mask clears its bit and all lower ones, or all bits if it is 0. If no level is
        // left, the most urgent of the others comes next.
        let following = others & ~(lastSharedLevel | (lastSharedLevel &- 1))
        let chosen = (following == 0 ? others : following).trailingZeroBitCount
        lastSharedLevel = 1 << UInt8(chosen)
        return chosen
    }
}
