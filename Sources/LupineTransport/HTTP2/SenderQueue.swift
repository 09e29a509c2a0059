// SPDX-License-Identifier: MIT

import LupineHTTP2

/// The streams that have something to send: the most urgent first, round-robin among equals (RFC 9218 §10).
///
/// While less urgent streams wait, every eighth turn goes to one of their levels, to each level in turn: an endless upload
/// slows them down but does not starve them.
struct SenderQueue<Sender: AnyObject> {
    /// One turn of this many goes to a less urgent level.
    static var turnsPerShare: Int { 8 }

    /// A FIFO queue of the senders of one urgency.
    private struct Level {
        private var senders: [Sender] = []
        private var start = 0

        var isEmpty: Bool { start == senders.count }

        mutating func append(_ sender: Sender) { senders.append(sender) }

        /// Removes the first sender; the lane must not be empty.
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
    /// A bit for each lane that is not empty.
    private var occupied: UInt8 = 0
    /// Turns since a less urgent lane had one.
    private var turnsWithoutShare = 0
    /// The bit of the less urgent lane that had the last such turn.
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

    private mutating func nextLevel() -> Int {
        let first = occupied.trailingZeroBitCount
        let others = occupied & (occupied &- 1)
        guard others != 0 else {
            turnsWithoutShare = 0
            return first
        }
        turnsWithoutShare += 1
        guard turnsWithoutShare >= Self.turnsPerShare else { return first }
        turnsWithoutShare = 0
        // The next lane after the one that had the last such turn, or the first of the less urgent levels again.
        let following = others & ~(lastSharedLevel | (lastSharedLevel &- 1))
        let chosen = (following == 0 ? others : following).trailingZeroBitCount
        lastSharedLevel = 1 << UInt8(chosen)
        return chosen
    }
}
