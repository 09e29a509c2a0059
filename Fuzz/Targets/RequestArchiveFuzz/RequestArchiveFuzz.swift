// SPDX-License-Identifier: MIT
// Invariant: the octets of an archived request are refused, or make a request whose octets are read as the same again.

import FuzzKit
import LupineLoading

/// The input is what an archive holds, also behind the number of its version.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let octets = input.rest()
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
