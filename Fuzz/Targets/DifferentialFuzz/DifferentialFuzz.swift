// SPDX-License-Identifier: MIT
// Invariant: the codec accepts a response head exactly when a slow reference reader of RFC 9112 does, with the same result.

import FuzzKit
import LupineHTTP
import ReferenceKit

/// Octet 0 chooses the request and the leniency; the rest is what the server sends.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let choice = input.readOctet()
    let method = [Method.get, .head, .connect, .get][Int(choice & 3)]
    let asksForUpgrade = choice & 3 == 3
    let leniency = Leniency(rawValue: choice >> 2 & 7)
    let stream = input.readRemaining()
    guard stream.count < 60_000 else { return 0 }
    let reference = ReferenceReader(method: method, asksForUpgrade: asksForUpgrade, leniency: leniency)
    let expected = reference.read(stream)
    let actual = codecVerdict(of: stream, method, asksForUpgrade, leniency)
    switch (expected, actual) {
    case (.incomplete, .incomplete), (.incomplete, .refused): break
    default: require(expected == actual, "the codec says\n\(actual)\nthe reference\n\(expected)")
    }
    return 0
}

/// Returns the codec's verdict on the first head in `stream`.
private func codecVerdict(
    of stream: [UInt8], _ method: Method, _ asksForUpgrade: Bool, _ leniency: Leniency
) -> Verdict {
    var codec = ClientCodec(leniency: leniency)
    var wire: [UInt8] = []
    do {
        let authority = try Authority(host: "a", port: 80)
        var fields = Fields()
        if asksForUpgrade { try fields.append(.upgrade, "x") }
        let target = method == .connect ? RequestTarget.authority(authority) : .origin("/")
        let request = RequestHead(method: method, target: target, authority: authority, fields: fields)
        try codec.send(request, body: .none, into: &wire)
    } catch {
        fatalError("a plain request was refused: \(error)")
    }
    let event: ResponseEvent
    let consumed: Int
    do {
        (event, consumed) = try codec.next(stream.span)
    } catch {
        return .refused
    }
    switch event {
    case .needMore: return .incomplete
    case .interim(let head): return .head(ParsedHead(head, length: consumed, framing: nil, keepAlive: nil))
    case .head(let head, let framing, let keepAlive):
        return .head(ParsedHead(head, length: consumed, framing: framing, keepAlive: keepAlive))
    case .content, .end, .handover: fatalError("\(event) before a head")
    }
}
