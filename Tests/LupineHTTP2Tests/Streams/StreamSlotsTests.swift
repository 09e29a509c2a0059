// SPDX-License-Identifier: MIT

import LupineHTTP2
import Testing

/// Tests of the slots of open streams, which are compared with a dictionary.
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

    @Test("slots are found as in a dictionary", arguments: Choice.allCases)
    func slots(_ choice: Choice) {
        var numbers = SeededNumbers(seed: 7)
        var slots = StreamSlots()
        var expected: [StreamID: Int] = [:]
        var opened = 0
        for _ in 0..<800 {
            if expected.count < 100, Int.random(in: 0..<5, using: &numbers) > 1 || expected.isEmpty {
                let stream = choice.stream(opened)
                opened += 1
                expected[stream] = slots.insert(stream)
            } else if let stream = expected.keys.sorted().randomElement(using: &numbers) {
                #expect(slots.remove(stream) == expected.removeValue(forKey: stream))
                #expect(slots.index(of: stream) == nil && slots.remove(stream) == nil)
            }
            #expect(slots.count == expected.count && expected.values.allSatisfy { $0 < 100 })
            #expect(expected.allSatisfy { slots.index(of: $0.key) == $0.value })
            #expect(Set(expected.values).count == expected.count)
        }
        #expect(slots.sorted == expected.keys.sorted())
    }

    @Test func theConnectionHasNoSlot() {
        var slots = StreamSlots()
        #expect(slots.index(of: .connection) == nil && slots.remove(.connection) == nil)
    }
}
