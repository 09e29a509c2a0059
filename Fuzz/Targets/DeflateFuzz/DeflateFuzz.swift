// SPDX-License-Identifier: MIT
// Invariant: any bytes with deflate give the same bytes and end for any division (except at the ratio), within limits.
import CodingFuzzKit
import LupineCoding

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    CodingCheck(input, [.deflate])?.check()
    return 0
}
