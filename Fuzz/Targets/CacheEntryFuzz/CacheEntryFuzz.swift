// SPDX-License-Identifier: MIT
// Invariant: a cache file whose metadata has a correct checksum is refused, or contains an entry that is equal after it is
// written and read again.

import Foundation
import FuzzKit
import LupineLoading

private let address = "http://h/a"
private let hash = KeyedHash(key: [1])
private let time = Date(timeIntervalSinceReferenceDate: 1)

/// The input is a choice, the length of the content, and the metadata of the entry with the content after it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let isSealed = input.readNumber(below: 8) > 0
    let contentCount = Int(input.readOctet())
    let octets = input.readRemaining()
    let content = Array(octets.suffix(contentCount))
    let file =
        isSealed
        ? CacheEntryFormat.sealed(
            metadata: Array(octets.dropLast(contentCount)), content: content, storedTime: time) : octets
    guard let entry = CacheEntryFormat.entry(file, address: address) else { return 0 }
    require(!isSealed || Array(entry.response.data) == content, "another content")
    require(entry.size >= entry.response.data.count, "smaller than its content")
    guard let written = CacheEntryFormat.octets(of: entry, address: address, hash: hash) else {
        require(false, "read, and cannot be written")
        return 0
    }
    guard let again = CacheEntryFormat.entry(written, address: address) else {
        require(false, "written, and cannot be read")
        return 0
    }
    require(
        CacheEntryFormat.octets(of: again, address: address, hash: hash) == written,
        "not the same when it is written again")
    require(again.response.response == entry.response.response, "another response")
    return 0
}
