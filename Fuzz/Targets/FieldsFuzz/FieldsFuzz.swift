// SPDX-License-Identifier: MIT
import LupineHTTP

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let b = unsafe UnsafeBufferPointer(start: start, count: count)
    if unsafe b.count > 3 && b[0] == 0x48 && b[1] == 0x54 && b[2] == 0x50 && b[3] == 0x2f { return 0 }
    return 0
}
