// SPDX-License-Identifier: MIT

import FuzzKit
import LupineHTTP
import ReferenceKit

/// Sends requests through a codec, each after the previous response, feeds it the server's octets, closes, and records the
/// events.
struct CodecConversation {
    let limits: ParserLimits
    let leniency: Leniency

    func read(_ stream: [UInt8], _ cuts: Cuts, asked: [ReferenceConversation.Asked]) -> [Passage] {
        var codec = ClientCodec(limits: limits, leniency: leniency)
        var passages: [Passage] = []
        var waiting = asked[...]
        // Octets that the codec has consumed since the last head ended.
        var taken = 0
        var left = stream.count
        send(waiting.removeFirst(), through: &codec)
        for piece in cuts.pieces(of: stream) {
            var rest = piece[...]
            feeding: while true {
                let event: WireEvent
                let consumed: Int
                do { (event, consumed) = try codec.next(rest.span) } catch {
                    require(error.fault == .remote, "the peer's octets are called our fault: \(error)")
                    passages.append(.refused)
                    return passages
                }
                taken += consumed
                left -= consumed
                switch event {
                case .needMore:
                    require(consumed == rest.count, "octets left over with needMore")
                    break feeding
                case .interim(let head):
                    passages.append(.interim(Reading(head, length: taken, framing: nil, keepAlive: nil)))
                    taken = 0
                case .head(let head, let framing, let keepAlive):
                    passages.append(
                        .head(Reading(head, length: taken, framing: framing, keepAlive: keepAlive)))
                    taken = 0
                case .content(let range):
                    add(rest.dropFirst(range.lowerBound).prefix(range.count), to: &passages)
                case .end(let trailers):
                    passages.append(.end(trailers: Self.octets(of: trailers)))
                    taken = 0
                    guard codec.maySendRequest else { return passages }
                    if let next = waiting.popFirst() { send(next, through: &codec) }
                case .handover:
                    passages.append(.handover(left))
                    return passages
                }
                rest = rest.dropFirst(consumed)
            }
        }
        close(&codec, &passages)
        return passages
    }

    private func add(_ octets: ArraySlice<UInt8>, to passages: inout [Passage]) {
        if case .content(let before)? = passages.last {
            passages[passages.count - 1] = .content(before + octets)
        } else {
            passages.append(.content(Array(octets)))
        }
    }

    private func close(_ codec: inout ClientCodec, _ passages: inout [Passage]) {
        do {
            switch try codec.peerClosed() {
            case .end: passages.append(.end(trailers: []))
            case .needMore: break
            case .interim, .head, .content, .handover: fatalError("an event of the connection's end")
            }
        } catch .truncated(.beforeHead), .truncated(.insideHead) {
            passages.append(.cutInHead)
        } catch .truncated {
            passages.append(.cutInBody)
        } catch {
            fatalError("the connection's end was refused: \(error)")
        }
    }

    private func send(_ asked: ReferenceConversation.Asked, through codec: inout ClientCodec) {
        do {
            let authority = try Authority(host: "a", port: 80)
            var fields = Fields()
            if asked.asksForUpgrade { try fields.append(.upgrade, "x") }
            let target = asked.method == .connect ? RequestTarget.authority(authority) : .origin("/")
            let head = RequestHead(
                method: asked.method, target: target, authority: authority, fields: fields)
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
