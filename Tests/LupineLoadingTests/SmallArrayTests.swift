// SPDX-License-Identifier: MIT

import Testing

@testable import LupineLoading

/// Tests of a list that allocates an array only from its second element on.
struct SmallArrayTests {
    @Test("it behaves like an array", arguments: 0..<5)
    func likeAnArray(count: Int) {
        var smallArray = SmallArray<Int>()
        let array = Array(0..<count)
        for element in array { smallArray.append(element) }
        #expect(smallArray.all == array)
        #expect(Array(smallArray) == array)
        #expect(smallArray.count == count)
        #expect(smallArray.isEmpty == array.isEmpty)
        #expect(smallArray.first == array.first)
        #expect(smallArray.last == array.last)
        for place in 0..<count { #expect(smallArray[place] == array[place]) }
        #expect(smallArray[count] == nil)
    }

    @Test("it behaves like a queue", arguments: 0..<5)
    func queue(count: Int) {
        var smallArray: SmallArray<Int> = []
        for element in 0..<count { smallArray.append(element) }
        for element in 0..<count {
            #expect(smallArray.popFirst() == element)
            smallArray.append(element + count)
        }
        #expect(smallArray.all == Array(count..<2 * count))
        for _ in 0..<count { _ = smallArray.popFirst() }
        #expect(smallArray.popFirst() == nil && smallArray.isEmpty)
    }
}
