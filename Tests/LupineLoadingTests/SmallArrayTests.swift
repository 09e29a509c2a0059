// SPDX-License-Identifier: MIT

import Testing

@testable import LupineLoading

/// Tests of a list that allocates an array only from its second element on.
struct SmallArrayTests {
    @Test("it behaves like an array", arguments: 0..<5)
    func likeAnArray(count: Int) {
        var few = SmallArray<Int>()
        let array = Array(0..<count)
        for element in array { few.append(element) }
        #expect(few.all == array)
        #expect(Array(few) == array)
        #expect(few.count == count)
        #expect(few.isEmpty == array.isEmpty)
        #expect(few.first == array.first)
        #expect(few.last == array.last)
        for place in 0..<count { #expect(few[place] == array[place]) }
        #expect(few[count] == nil)
    }

    @Test("it behaves like a queue", arguments: 0..<5)
    func queue(count: Int) {
        var few: SmallArray<Int> = []
        for element in 0..<count { few.append(element) }
        for element in 0..<count {
            #expect(few.popFirst() == element)
            few.append(element + count)
        }
        #expect(few.all == Array(count..<2 * count))
        for _ in 0..<count { _ = few.popFirst() }
        #expect(few.popFirst() == nil && few.isEmpty)
    }
}
