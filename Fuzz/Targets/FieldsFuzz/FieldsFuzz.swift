// SPDX-License-Identifier: MIT
// Invariant: a field list does what a plain array of pairs does, and lists are taken apart as a slow reader does it.

import FuzzKit
import LupineHTTP

/// Octet 0 chooses between the field list and the list syntax; the rest are operations or a value.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    if input.octet() & 1 == 0 {
        var model = FieldsModel()
        while !input.isEmpty { model.step(&input) }
    } else {
        ListModel(input.rest()).check()
    }
    return 0
}
