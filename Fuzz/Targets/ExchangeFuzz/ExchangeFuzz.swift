// SPDX-License-Identifier: MIT
// Invariant: a stream of responses, however it is cut, is read by the codec as by a slow reference reader of RFC 9112 that has
// all of it.

import FuzzKit
import LupineHTTP
import ReferenceKit

/// Octets 0 and 1 choose the requests and the leniency, 2 to 4 the cuts; the rest is what the server sends before it closes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let choice = input.readOctet()
    let methods = input.readOctet()
    let cuts = Cuts(&input)
    let stream = input.readRemaining()
    guard stream.count < 60_000 else { return 0 }
    let leniency = Leniency(rawValue: choice & 7)
    let requests = (0...Int(choice >> 3 & 3)).map { index in
        let kind = Int(methods >> (2 * index) & 3)
        return ReferenceConversation.RequestSummary(
            method: [Method.get, .head, .connect, .get][kind], asksForUpgrade: kind == 3)
    }
    // The reference does not limit the number of fields.
    var limits = ParserLimits()
    limits.fieldCount = .max
    let expected = ReferenceConversation(limits: limits, leniency: leniency).read(stream, requests: requests)
    for cuts in [.none, cuts] {
        let actual = CodecConversation(limits: limits, leniency: leniency)
            .read(stream, cuts, requests: requests)
        require(agree(expected, actual), "the codec says\n\(actual)\nthe reference\n\(expected)")
    }
    return 0
}

/// Returns whether both agree. A codec may refuse a head before it is complete; the reference waits for its end.
private func agree(_ expected: [StreamEvent], _ actual: [StreamEvent]) -> Bool {
    if expected == actual { return true }
    return expected.last == .truncatedInHead && actual.last == .refused
        && expected.dropLast() == actual.dropLast()
}
