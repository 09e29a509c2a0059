// SPDX-License-Identifier: MIT

/// Where in an array each open stream has its place: what a dictionary would do, without hashing an identifier for every frame.
///
/// Identifiers are looked for from the position on that their own number gives: those of streams that are open together mostly
/// follow one another, and then each is found at once. A peer that chooses them otherwise makes a search as long as there
/// are streams, whose number the owner limits. Places are handed out densely, and that of a stream that has gone goes to the
/// next one.
package struct StreamSlots: Sendable {
    private struct Slot: Sendable {
        /// 0 where there is none: no stream has that identifier.
        var stream: UInt32 = 0
        var place: UInt32 = 0
    }

    /// As many as a power of two, at most half of them taken: a search ends at the first that is free.
    private var slots = [Slot](repeating: Slot(), count: 16)
    private var vacant: [UInt32] = []
    /// How many streams there are.
    package private(set) var count = 0

    /// No streams.
    package init() {}

    /// How many places were handed out at once at most: so many elements has the owner's array.
    package var places: Int { count &+ vacant.count }

    private func home(_ stream: UInt32) -> Int { Int(stream >> 1) & (slots.count &- 1) }

    /// The slot of a stream, or the free one where it would be.
    @inline(__always)
    private func slot(of stream: UInt32) -> Int {
        var index = home(stream)
        while slots[index].stream != stream, slots[index].stream != 0 {
            index = (index &+ 1) & (slots.count &- 1)
        }
        return index
    }

    /// The place of a stream; nil where it has none.
    package func place(of stream: StreamID) -> Int? {
        guard !stream.isConnection else { return nil }
        let slot = slots[slot(of: stream.rawValue)]
        return slot.stream == 0 ? nil : Int(slot.place)
    }

    /// Gives a stream a place, which it does not have yet: one that was given back, or the next one.
    package mutating func insert(_ stream: StreamID) -> Int {
        precondition(!stream.isConnection, "the connection has no place among the streams")
        if 2 &* (count &+ 1) > slots.count { grow() }
        let place = vacant.popLast() ?? UInt32(count)
        slots[slot(of: stream.rawValue)] = Slot(stream: stream.rawValue, place: place)
        count &+= 1
        return Int(place)
    }

    /// Takes a stream's place away, and returns which it was; nil where it had none.
    package mutating func remove(_ stream: StreamID) -> Int? {
        guard !stream.isConnection else { return nil }
        var free = slot(of: stream.rawValue)
        let removed = slots[free]
        guard removed.stream != 0 else { return nil }
        // Those behind it move up, unless they stand before where they are looked for from: no search is cut off.
        let mask = slots.count &- 1
        var index = (free &+ 1) & mask
        while slots[index].stream != 0 {
            let distance = (index &- home(slots[index].stream)) & mask
            if distance >= (index &- free) & mask {
                slots[free] = slots[index]
                free = index
            }
            index = (index &+ 1) & mask
        }
        slots[free] = Slot()
        vacant.append(removed.place)
        count &-= 1
        return Int(removed.place)
    }

    /// The streams, in the order of their identifiers.
    package var sorted: [StreamID] {
        slots.filter { $0.stream != 0 }.map { StreamID($0.stream) }.sorted()
    }

    private mutating func grow() {
        let before = slots
        slots = [Slot](repeating: Slot(), count: before.count &* 2)
        for old in before where old.stream != 0 { slots[slot(of: old.stream)] = old }
    }
}
