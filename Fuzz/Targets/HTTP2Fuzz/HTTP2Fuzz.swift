// SPDX-License-Identifier: MIT
// Invariant: whatever a peer sends, the frame reader and the connection machine of either role say the same of it however it is cut, keep their limits, send only frames that can be read, and never trap.

import FuzzKit
import LupineHTTP
import LupineHTTP2

/// Octet 0 chooses the role, and whether octets are read as frames, as a connection, or make steps of one; three more
/// the cuts. What is behind them is what the peer sends.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let choice = input.octet()
    let cuts = Cuts(&input)
    let role: HTTP2Role = choice & 1 == 0 ? .client : .server
    switch choice >> 1 & 3 {
    case 0:
        let wire = FrameLog.opening(to: role, isWhole: choice & 8 != 0) + input.rest()
        agree(cuts) { FrameLog(role).read(wire, $0) }
    case 1:
        let steps = [ConnectionStep.wire(FrameLog.opening(to: role, isWhole: choice & 8 != 0) + input.rest())]
        agree(cuts) { ConnectionLog(role, choice).run(steps, $0) }
    default:
        var steps = [ConnectionStep.wire(FrameLog.opening(to: role, isWhole: true))]
        while !input.isEmpty, steps.count < 500 { steps.append(ConnectionStep(&input)) }
        agree(cuts) { ConnectionLog(role, choice).run(steps, $0) }
    }
    return 0
}

/// Requires that what is said of the input does not depend on its cuts.
private func agree(_ cuts: Cuts, _ log: (Cuts) -> Transcript) {
    let whole = log(.none)
    for cuts in [cuts, .everywhere] {
        let cut = log(cuts)
        require(cut == whole, "cut input differs:\n\(cut)\nfrom whole input:\n\(whole)")
    }
}
