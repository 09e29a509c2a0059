// SPDX-License-Identifier: MIT
// Invariant: the octets of an archived request are refused, or contain a request that is equal after it is written and read
// again.

import FuzzKit
import LupineLoading

/// The input is the content of an archive; it is read with and without a version number before it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let octets = input.readRemaining()
    for octets in [octets, [1, 0, 0, 0] + octets] {
        guard let request = RequestArchive.request(octets) else { continue }
        let written = RequestArchive.octets(of: request)
        guard let again = RequestArchive.request(written) else {
            require(false, "written, and cannot be read")
            continue
        }
        require(RequestArchive.octets(of: again) == written, "reads back as another")
    }
    return 0
}
