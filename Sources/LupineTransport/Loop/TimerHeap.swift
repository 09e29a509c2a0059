// SPDX-License-Identifier: MIT

/// Timers ordered by deadline: the earliest is found in O(1), insertion and removal take O(log n), with no allocation per timer.
///
/// The entries of the heap (deadline and slot) form a tree with four children per node; the payloads are in an array of slots. A
/// slot stores the index of its entry in the heap, so that cancelling needs no search. A token contains the generation of its
/// slot: the token of a timer that has fired or was cancelled has no effect. Timers with the same deadline fire in the order in
/// which they were set. The heap has no clock and no thread; its owner passes the time.
package struct TimerHeap<Payload> {
    /// Identifies one timer until it fires or is cancelled.
    package struct Token: Hashable, Sendable {
        fileprivate let slot: UInt32
        fileprivate let generation: UInt32
    }

    private struct Entry {
        let deadline: Instant
        /// The number of the timer in the order in which timers were set.
        let sequence: UInt64
        let slot: UInt32

        /// Whether this timer fires before the other.
        @inline(__always)
        func isBefore(_ other: Entry) -> Bool {
            deadline != other.deadline ? deadline < other.deadline : sequence < other.sequence
        }
    }

    private struct Slot {
        /// The number of timers that have ended in this slot.
        var generation: UInt32 = 0
        /// The index of the timer's entry in `heap`; -1 if the slot is free.
        var index = -1
        var payload: Payload?
    }

    private var heap: [Entry] = []
    private var slots: [Slot] = []
    private var freeSlots: [UInt32] = []
    /// The sequence number of the timer that was set last.
    private var sequence: UInt64 = 0

    /// Creates an empty heap.
    package init() {}

    /// The number of timers that are set.
    package var count: Int { heap.count }

    /// The sequence number of the timer that was set last, for `popDue(at:upTo:)`.
    package var newest: UInt64 { sequence }

    /// The earliest deadline; nil if no timer is set.
    package var next: Instant? { heap.first?.deadline }

    /// Sets a timer.
    package mutating func insert(_ payload: Payload, at deadline: Instant) -> Token {
        let slot: UInt32
        if let freeSlot = freeSlots.popLast() {
            slot = freeSlot
        } else {
            slot = UInt32(slots.count)
            slots.append(Slot())
        }
        slots[Int(slot)].payload = payload
        sequence &+= 1
        heap.append(Entry(deadline: deadline, sequence: sequence, slot: slot))
        siftUp(from: heap.count - 1)
        return Token(slot: slot, generation: slots[Int(slot)].generation)
    }

    /// Cancels a timer and returns its payload; nil if it has fired or was cancelled before.
    @discardableResult
    package mutating func remove(_ token: Token) -> Payload? {
        let slot = Int(token.slot)
        guard slot < slots.count, slots[slot].generation == token.generation, slots[slot].index >= 0 else {
            return nil
        }
        return removeEntry(at: slots[slot].index)
    }

    /// Removes the earliest timer and returns its payload, if it is due at `now` and was set no later than the timer with the
    /// sequence number `newest`. A loop that calls this method until it returns nil therefore ends, even if timers set new ones.
    package mutating func popDue(at now: Instant, upTo newest: UInt64 = .max) -> Payload? {
        guard let first = heap.first, first.deadline <= now, first.sequence <= newest else { return nil }
        return removeEntry(at: 0)
    }

    /// Removes the entry at an index of the heap, frees its slot and returns its payload.
    private mutating func removeEntry(at index: Int) -> Payload? {
        let slot = Int(heap[index].slot)
        let last = heap.count - 1
        if index == last {
            heap.removeLast()
        } else {
            heap[index] = heap[last]
            heap.removeLast()
            // The moved entry may belong further up or further down; at most one of the two calls moves it.
            siftUp(from: index)
            siftDown(from: index)
        }
        slots[slot].index = -1
        slots[slot].generation &+= 1
        freeSlots.append(UInt32(slot))
        return slots[slot].payload.take()
    }

    /// Moves the entry at `start` towards the root, until its parent fires before it.
    private mutating func siftUp(from start: Int) {
        var index = start
        let entry = heap[index]
        while index > 0 {
            let parent = (index - 1) / 4
            guard entry.isBefore(heap[parent]) else { break }
            heap[index] = heap[parent]
            slots[Int(heap[index].slot)].index = index
            index = parent
        }
        heap[index] = entry
        slots[Int(entry.slot)].index = index
    }

    /// Moves the entry at `start` towards the leaves, until it fires before all its children.
    private mutating func siftDown(from start: Int) {
        var index = start
        let entry = heap[index]
        while true {
            let firstChild = 4 * index + 1
            guard firstChild < heap.count else { break }
            // The child that fires first.
            var least = firstChild
            var child = firstChild + 1
            while child < min(firstChild + 4, heap.count) {
                if heap[child].isBefore(heap[least]) { least = child }
                child += 1
            }
            guard heap[least].isBefore(entry) else { break }
            heap[index] = heap[least]
            slots[Int(heap[index].slot)].index = index
            index = least
        }
        heap[index] = entry
        slots[Int(entry.slot)].index = index
    }
}
