// SPDX-License-Identifier: MIT
// Invariant: any bytes under br give the same in any division (failing bodies: one a prefix of the other), within limits.
import CodingFuzzKit
import LupineCoding

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    CodingCheck(input, [.br])?.check()
    return 0
}
