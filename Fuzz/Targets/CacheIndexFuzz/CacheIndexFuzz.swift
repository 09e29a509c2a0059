// SPDX-License-Identifier: MIT
// Invariant: the index of a cache folder is read up to the first incomplete batch, whatever numbers it contains, and is equal
// after it is written and read again.

import FuzzKit
import LupineLoading

/// The input is a choice, the lengths of two segments, and an index or the content of a batch.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let isSealed = input.readNumber(below: 8) > 0
    let lengths: [UInt64: Int] = [1: Int(input.readOctet()) * 16, 2: Int(input.readOctet()) * 4_096, 3: .max]
    let octets = input.readRemaining()
    let head = CacheLog.head
    let file = isSealed ? head + CacheLog.sealed(octets, at: head.count) : octets
    let contents = CacheLog.contents(of: file)
    require(contents.end <= file.count, "more than there is")
    let index = CacheIndex(contents.changes, lengths: lengths)
    require(index.cost >= 0 && index.liveBytes.values.allSatisfy { $0 > 0 }, "a sum that is none")
    let written = head + CacheLog.batch(index.changes, at: head.count)
    let again = CacheLog.contents(of: written)
    require(again.end == written.count, "written, and cannot be read")
    let second = CacheIndex(again.changes, lengths: lengths)
    require(second.count == index.count && second.cost == index.cost, "another index")
    require(head + CacheLog.batch(second.changes, at: head.count) == written, "another order")
    // Octets that follow the valid part of an index do not change the result.
    let longer = CacheLog.contents(of: Array(file[..<contents.end]) + [1, 2, 3])
    require(longer.end == contents.end, "another end")
    return 0
}
