// SPDX-License-Identifier: MIT
// Invariant: however a stream of requests is cut, the server's codec gives the same log, within its limits, and never traps.

import FuzzKit
import LupineHTTP

/// Octets 0 to 3 choose the limits, the responses and the cuts; the rest is what the client sends.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let service = Service(&input)
    let cuts = Cuts(&input)
    let stream = input.readRemaining()
    let whole = service.log(of: stream, .none)
    let cut = service.log(of: stream, cuts)
    require(cut == whole, "cut input differs:\n\(cut)\nfrom whole input:\n\(whole)")
    if stream.count <= 600 {
        let single = service.log(of: stream, .everywhere)
        require(single == whole, "single octets differ:\n\(single)\nfrom whole input:\n\(whole)")
    }
    return 0
}
