// SPDX-License-Identifier: MIT
// Invariant: whatever a peer sends, the log of the frame reader and of the connection machine of either role does not depend on
// the cuts; they keep their limits, send only valid frames, and never trap.

import FuzzKit
import LupineHTTP
import LupineHTTP2

/// Octet 0 selects the role, and whether the octets are read as frames, as a connection, or as steps of one; three more the cuts.
/// The rest is what the peer sends.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let choice = input.readOctet()
    let cuts = Cuts(&input)
    let role: HTTP2Role = choice & 1 == 0 ? .client : .server
    switch choice >> 1 & 3 {
    case 0:
        let wire = FrameLog.opening(to: role, isWhole: choice & 8 != 0) + input.readRemaining()
        requireSameLog(cuts) { FrameLog(role).read(wire, $0) }
    case 1:
        let wire = FrameLog.opening(to: role, isWhole: choice & 8 != 0) + input.readRemaining()
        requireSameLog(cuts) { ConnectionLog(role, choice).run([.wire(wire)], $0) }
    default:
        var steps = [ConnectionStep.wire(FrameLog.opening(to: role, isWhole: true))]
        while !input.isEmpty, steps.count < 500 { steps.append(ConnectionStep(&input)) }
        requireSameLog(cuts) { ConnectionLog(role, choice).run(steps, $0) }
    }
    return 0
}

/// Requires that the log of the input does not depend on the cuts.
private func requireSameLog(_ cuts: Cuts, _ log: (Cuts) -> Transcript) {
    let whole = log(.none)
    for cuts in [cuts, .everywhere] {
        let cut = log(cuts)
        require(cut == whole, "cut input differs:\n\(cut)\nfrom whole input:\n\(whole)")
    }
}
