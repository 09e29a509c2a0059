// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineLoading

struct QueueTests {
    /// Compares the queue with an array, over 20,000 random steps.
    @Test func firstInFirstOut() {
        var random = SeededRandom(seed: 7)
        var queue = Queue<Int>()
        var model: [Int] = []
        for step in 0..<20_000 {
            // The queue grows and shrinks in alternation.
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

    /// Checks that an element that was removed is released, even if the queue never becomes empty.
    @Test func removedElementsAreReleased() {
        final class Element {}
        var queue = Queue<Element>()
        queue.append(Element())
        for _ in 0..<200 {
            weak var last: Element?
            autoreleasing {
                let thing = queue.popFirst()
                last = thing
                queue.append(Element())
            }
            #expect(last == nil)
        }
    }

    private func autoreleasing(_ body: () -> Void) { body() }
}
