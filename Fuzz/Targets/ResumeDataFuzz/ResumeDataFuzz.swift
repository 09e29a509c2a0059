// SPDX-License-Identifier: MIT
// Invariant: resume data that is read makes a request, with valid fields, for a later part of an HTTP resource, and is equal
// after it is written and read again.

import Foundation
import FuzzKit
import LupineLoading

/// The input is resume data, or its part after the first line.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let bytes = Data(input.readRemaining())
    for data in [bytes, Data("lupine-download-1\n".utf8) + bytes] {
        guard let read = ResumeData(data) else { continue }
        require(read.received > 0 && read.file.hasPrefix("/"), "goes on from nowhere: \(read)")
        let total = read.version.total ?? read.received
        require(total >= read.received, "a part of more than the whole: \(read)")
        let request = read.request
        require(
            request.value(forHTTPHeaderField: "Range") == "bytes=\(read.received)-", "asks for another part")
        for field in request.headerList.fields {
            require(!(field.name + field.value).utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 }, "\(field)")
        }
        guard let written = read.data else { continue }
        require(ResumeData(written) == read, "reads back as another: \(read)")
    }
    return 0
}
