// SPDX-License-Identifier: MIT
// Invariant: a field list behaves like a plain array of pairs, and list syntax is parsed as by a slow reference parser.

import FuzzKit
import LupineHTTP

/// Octet 0 chooses between the field list and the list syntax; the rest are operations or a value.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    if input.readOctet() & 1 == 0 {
        var model = FieldsModel()
        while !input.isEmpty { model.step(&input) }
    } else {
        ListModel(input.readRemaining()).check()
    }
    return 0
}
