// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineLoading

struct QueueTests {
    /// Against an array, over 20,000 random steps.
    @Test func whatComesFirstGoesFirst() {
        var random = SeededRandom(seed: 7)
        var queue = Queue<Int>()
        var model: [Int] = []
        for step in 0..<20_000 {
            // It grows for a while, then it shrinks.
            let isGrowing = step / 2_000 % 2 == 0
            if Int.random(in: 0..<10, using: &random) < (isGrowing ? 7 : 3) {
                queue.append(step)
                model.append(step)
            } else {
                #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            }
            #expect(
                queue.count == model.count && queue.isEmpty == model.isEmpty && queue.first == model.first)
        }
        for element in [model.last, model.first, model.dropFirst().first, -1].compactMap(\.self) {
            #expect(queue.removeFirst { $0 == element } == model.first { $0 == element })
            model.removeAll { $0 == element }
        }
        #expect(queue.takeAll() == model && queue.isEmpty && queue.popFirst() == nil)
    }

    /// What was taken out is gone, also where something always waits behind it.
    @Test func whatIsTakenOutIsLetGo() {
        final class Thing {}
        var queue = Queue<Thing>()
        queue.append(Thing())
        for _ in 0..<200 {
            weak var last: Thing?
            autoreleasing {
                let thing = queue.popFirst()
                last = thing
                queue.append(Thing())
            }
            #expect(last == nil)
        }
    }

    private func autoreleasing(_ body: () -> Void) { body() }
}
