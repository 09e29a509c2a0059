// SPDX-License-Identifier: MIT
// Invariant: any bytes with br give the same result for any division (for failing bodies, one is a prefix of the other), within
// limits.
import CodingFuzzKit
import LupineCoding

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    CodingCheck(input, [.br])?.check()
    return 0
}
