// SPDX-License-Identifier: MIT

import LupineHTTP2
import Testing

/// The slots of open streams, compared with a dictionary.
@Suite struct StreamSlotsTests {
    /// Identifiers that are consecutive, far apart, or all hashed to the same slot.
    enum Choice: CaseIterable {
        case ascending, sparse, colliding

        func stream(_ number: Int) -> StreamID {
            switch self {
            case .ascending: StreamID(UInt32(2 * number + 1))
            case .sparse: StreamID(UInt32(truncatingIfNeeded: number &* 7_919 &* 2 &+ 1))
            case .colliding: StreamID(UInt32(number * 4_096 + 1))
            }
        }
    }

    @Test("places are those that a dictionary would keep", arguments: Choice.allCases)
    func places(_ choice: Choice) {
        var numbers = SeededNumbers(seed: 7)
        var slots = StreamSlots()
        var kept: [StreamID: Int] = [:]
        var opened = 0
        for _ in 0..<800 {
            if kept.count < 100, Int.random(in: 0..<5, using: &numbers) > 1 || kept.isEmpty {
                let stream = choice.stream(opened)
                opened += 1
                kept[stream] = slots.insert(stream)
            } else if let stream = kept.keys.sorted().randomElement(using: &numbers) {
                #expect(slots.remove(stream) == kept.removeValue(forKey: stream))
                #expect(slots.index(of: stream) == nil && slots.remove(stream) == nil)
            }
            #expect(slots.count == kept.count && kept.values.allSatisfy { $0 < 100 })
            #expect(kept.allSatisfy { slots.index(of: $0.key) == $0.value })
            #expect(Set(kept.values).count == kept.count)
        }
        #expect(slots.sorted == kept.keys.sorted())
    }

    @Test func theConnectionHasNoPlace() {
        var slots = StreamSlots()
        #expect(slots.index(of: .connection) == nil && slots.remove(.connection) == nil)
    }
}
