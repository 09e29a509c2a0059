// SPDX-License-Identifier: MIT
// Invariant: a recording is refused with a typed error, or is equal after it is written and read again.

import Foundation
import FuzzKit
import LupineTesting

/// The input is a recording's file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    guard let read = try? RecordedExchange(Data(input.readRemaining()), path: "recording") else { return 0 }
    _ = read.replay
    if case .response(let status, _, _) = read.outcome {
        require((100...999).contains(status), "a status that cannot be sent: \(status)")
    }
    guard let written = try? read.data(), let again = try? RecordedExchange(written, path: "again") else {
        require(false, "read, and cannot be written and read again")
        return 0
    }
    require(again == read, "reads back as another: \(read)")
    return 0
}
