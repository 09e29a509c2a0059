// SPDX-License-Identifier: MIT
// Invariant: a chunked body, however it is cut, is read exactly as by a slow reference reader of RFC 9112 §7.1.

import FuzzKit
import LupineHTTP
import ReferenceKit

/// Octets 0 to 3 choose raw or built input, the limits and the cuts.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let choice = input.readOctet()
    let cuts = Cuts(&input)
    var limits = ParserLimits()
    if choice & 2 != 0 {
        limits.chunkExtensionBytes = 12
        limits.fieldCount = 3
        limits.lineBytes = 28
        limits.headBytes = 64
    }
    let body = choice & 1 == 0 ? input.readRemaining() : ChunkBuilder.body(&input)
    let expected = ReferenceChunks(limits: limits).read(body)
    for cuts in body.count <= 600 ? [.none, cuts, .everywhere] : [.none, cuts] {
        let actual = outcome(of: body, cuts, limits)
        require(actual == expected, "the codec reads\n\(actual)\nthe reference\n\(expected)")
    }
    return 0
}

/// Returns the codec's outcome for `body` after a head that announces chunks.
private func outcome(of body: [UInt8], _ cuts: Cuts, _ limits: ParserLimits) -> ChunkOutcome {
    var codec = ClientCodec(limits: limits)
    begin(&codec)
    var outcome = ChunkOutcome()
    var consumedTotal = 0
    for piece in cuts.pieces(of: body) {
        var remaining = piece[...]
        feeding: while true {
            let event: ResponseEvent
            let consumed: Int
            do {
                (event, consumed) = try codec.next(remaining.span)
            } catch {
                outcome.ending = ending(of: error)
                return outcome
            }
            consumedTotal += consumed
            switch event {
            case .needMore:
                require(consumed == remaining.count, "octets left over with needMore")
                break feeding
            case .content(let range):
                require(!range.isEmpty && range.upperBound <= consumed, "content outside what was taken")
                outcome.content += remaining.dropFirst(range.lowerBound).prefix(range.count)
            case .end(let trailers):
                outcome.ending = .complete(length: consumedTotal)
                for index in 0..<trailers.count {
                    outcome.trailers.append(Array(trailers.name(at: index).utf8))
                    outcome.trailers.append(
                        trailers.withValue(at: index) { span in span.indices.map { span[$0] } })
                }
                return outcome
            case .interim, .head, .handover: fatalError("\(event) in a body")
            }
            remaining = remaining.dropFirst(consumed)
        }
    }
    return outcome
}

/// Sends a request, and reads a response head that announces chunks.
private func begin(_ codec: inout ClientCodec) {
    do {
        var wire: [UInt8] = []
        let authority = try Authority(host: "a", port: 80)
        try codec.send(
            RequestHead(method: .get, target: .origin("/"), authority: authority), body: .none, into: &wire)
        let head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        let (event, consumed) = try codec.next(head.span)
        guard case .head(_, framing: .chunked, allowsReuse: true) = event, consumed == head.count else {
            fatalError("\(event) of a plain head")
        }
    } catch {
        fatalError("a plain exchange was refused: \(error)")
    }
}

private func ending(of error: HTTPError) -> ChunkOutcome.Ending {
    switch error {
    case .malformedChunkSize: .size
    case .chunkSizeOverflow: .overflow
    case .malformedChunkExtension: .extensionOctet
    case .malformedChunkEnd: .chunkEnd
    case .limitExceeded(.chunkExtensionBytes, _): .extensionLimit
    default: .trailers
    }
}
