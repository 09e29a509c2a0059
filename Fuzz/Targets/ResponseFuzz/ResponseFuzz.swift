// SPDX-License-Identifier: MIT
// Invariant: however a stream of responses is cut, the codec gives the same log, within its limits, and never traps.

import FuzzKit
import LupineHTTP

/// Octets 0 to 3 choose the requests, the leniency, the limits and the cuts; the rest is what the server sends.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let conversation = Conversation(&input)
    let cuts = Cuts(&input)
    let stream = input.readRemaining()
    let whole = conversation.log(of: stream, .none)
    let cut = conversation.log(of: stream, cuts)
    require(cut == whole, "cut input differs:\n\(cut)\nfrom whole input:\n\(whole)")
    if stream.count <= 600 {
        let single = conversation.log(of: stream, .everywhere)
        require(single == whole, "single octets differ:\n\(single)\nfrom whole input:\n\(whole)")
    }
    return 0
}
