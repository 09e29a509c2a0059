// SPDX-License-Identifier: MIT

import FuzzKit
import LupineHTTP
import ReferenceKit

/// Sends requests through a codec, each after the previous response, feeds it the server's octets, closes, and records the
/// events.
struct CodecConversation {
    let limits: ParserLimits
    let leniency: Leniency

    func read(
        _ stream: [UInt8], _ cuts: Cuts, requests: [ReferenceConversation.RequestSummary]
    ) -> [StreamEvent] {
        var codec = ClientCodec(limits: limits, leniency: leniency)
        var events: [StreamEvent] = []
        var waiting = requests[...]
        // The number of octets that the codec has consumed since the last head ended.
        var consumedSinceHead = 0
        var unconsumed = stream.count
        send(waiting.removeFirst(), through: &codec)
        for piece in cuts.pieces(of: stream) {
            var remaining = piece[...]
            feeding: while true {
                let event: ResponseEvent
                let consumed: Int
                do { (event, consumed) = try codec.next(remaining.span) } catch {
                    require(error.fault == .remote, "the peer's octets are called our fault: \(error)")
                    events.append(.refused)
                    return events
                }
                consumedSinceHead += consumed
                unconsumed -= consumed
                switch event {
                case .needMore:
                    require(consumed == remaining.count, "octets left over with needMore")
                    break feeding
                case .interim(let head):
                    let parsed = ParsedHead(head, length: consumedSinceHead, framing: nil, keepAlive: nil)
                    events.append(.interim(parsed))
                    consumedSinceHead = 0
                case .head(let head, let framing, let keepAlive):
                    let parsed = ParsedHead(
                        head, length: consumedSinceHead, framing: framing, keepAlive: keepAlive)
                    events.append(.head(parsed))
                    consumedSinceHead = 0
                case .content(let range):
                    add(remaining.dropFirst(range.lowerBound).prefix(range.count), to: &events)
                case .end(let trailers):
                    events.append(.end(trailers: Self.octets(of: trailers)))
                    consumedSinceHead = 0
                    guard codec.maySendRequest else { return events }
                    if let next = waiting.popFirst() { send(next, through: &codec) }
                case .handover:
                    events.append(.handover(unconsumed))
                    return events
                }
                remaining = remaining.dropFirst(consumed)
            }
        }
        close(&codec, &events)
        return events
    }

    private func add(_ octets: ArraySlice<UInt8>, to events: inout [StreamEvent]) {
        if case .content(let before)? = events.last {
            events[events.count - 1] = .content(before + octets)
        } else {
            events.append(.content(Array(octets)))
        }
    }

    private func close(_ codec: inout ClientCodec, _ events: inout [StreamEvent]) {
        do {
            switch try codec.peerClosed() {
            case .end: events.append(.end(trailers: []))
            case .needMore: break
            case .interim, .head, .content, .handover: fatalError("an event of the connection's end")
            }
        } catch .truncated(.beforeHead), .truncated(.insideHead) {
            events.append(.truncatedInHead)
        } catch .truncated {
            events.append(.truncatedInBody)
        } catch {
            fatalError("the connection's end was refused: \(error)")
        }
    }

    private func send(_ request: ReferenceConversation.RequestSummary, through codec: inout ClientCodec) {
        do {
            let authority = try Authority(host: "a", port: 80)
            var fields = Fields()
            if request.asksForUpgrade { try fields.append(.upgrade, "x") }
            let target = request.method == .connect ? RequestTarget.authority(authority) : .origin("/")
            let head = RequestHead(
                method: request.method, target: target, authority: authority, fields: fields)
            var wire: [UInt8] = []
            try codec.send(head, body: .none, into: &wire)
        } catch { fatalError("a plain request was refused: \(error)") }
    }

    /// Returns names and values alternately.
    private static func octets(of fields: Fields) -> [[UInt8]] {
        (0..<fields.count).flatMap { index in
            [
                Array(fields.name(at: index).utf8),
                fields.withValue(at: index) { span in span.indices.map { span[$0] } },
            ]
        }
    }
}
