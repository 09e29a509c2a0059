// SPDX-License-Identifier: MIT

package import LupineHTTP

/// What a client is told of a stream of responses, in order; content is merged.
package enum Passage: Hashable {
    case interim(Reading)
    case head(Reading)
    case content([UInt8])
    /// A response is over; names and values of its trailers in turn.
    case end(trailers: [[UInt8]])
    /// What follows is not HTTP any more: so many octets have come.
    case handover(Int)
    /// The stream ends in the middle of a head, or of a body.
    case cutInHead, cutInBody
    /// Something that no client may accept.
    case refused
}

/// Reads a stream that is there in full as the responses to requests that were sent one behind the other: RFC 9112 §6 to
/// §9.
///
/// It joins the readers of heads and of chunks, and shares no code with the codec: where a body ends is found by cutting
/// an array, and nothing is remembered from one response to the next but the place.
package struct ReferenceConversation {
    /// One request, as far as it matters to whoever reads the response.
    package struct Asked {
        package let method: Method
        package let asksForUpgrade: Bool

        package init(method: Method, asksForUpgrade: Bool) {
            self.method = method
            self.asksForUpgrade = asksForUpgrade
        }
    }

    private let limits: ParserLimits
    private let leniency: Leniency

    package init(limits: ParserLimits, leniency: Leniency) {
        self.limits = limits
        self.leniency = leniency
    }

    /// What the client is told, until the connection closes behind the last octet.
    package func read(_ stream: [UInt8], asked: [Asked]) -> [Passage] {
        var passages: [Passage] = []
        var rest = stream
        for asked in asked {
            guard let isLast = read(&rest, asked, &passages) else { return passages }
            // A connection that is not to be reused is closed, whatever else comes on it (§9.6).
            if isLast { return passages }
        }
        // What no request asked for is no response (§9.2).
        if !rest.isEmpty { passages.append(.refused) }
        return passages
    }

    /// One response and the interim ones before it, which are taken off `rest`. Nil when nothing can follow, otherwise
    /// whether the connection ends with it.
    private func read(_ rest: inout [UInt8], _ asked: Asked, _ passages: inout [Passage]) -> Bool? {
        let reader = ReferenceReader(
            method: asked.method, asksForUpgrade: asked.asksForUpgrade, leniency: leniency)
        var interims = 0
        while true {
            let reading: Reading
            switch reader.read(rest) {
            case .incomplete:
                passages.append(.cutInHead)
                return nil
            case .refused:
                passages.append(.refused)
                return nil
            case .head(let read): reading = read
            }
            rest = Array(rest[reading.length...])
            guard let framing = reading.framing, let keepAlive = reading.keepAlive else {
                interims += 1
                if interims > limits.interimHeads {
                    passages.append(.refused)
                    return nil
                }
                passages.append(.interim(reading))
                continue
            }
            passages.append(.head(reading))
            return body(framing, &rest, &passages) ? !keepAlive : nil
        }
    }

    /// Takes a body off `rest`; false when nothing can follow.
    private func body(_ framing: BodyFraming, _ rest: inout [UInt8], _ passages: inout [Passage]) -> Bool {
        switch framing {
        case .none:
            passages.append(.end(trailers: []))
            return true
        case .handover:
            passages.append(.handover(rest.count))
            return false
        case .length(let length):
            let content = Array(rest.prefix(Int(clamping: length)))
            if !content.isEmpty { passages.append(.content(content)) }
            guard content.count == length else {
                passages.append(.cutInBody)
                return false
            }
            rest = Array(rest.dropFirst(content.count))
            passages.append(.end(trailers: []))
            return true
        case .untilClose:
            if !rest.isEmpty { passages.append(.content(rest)) }
            passages.append(.end(trailers: []))
            return false
        case .chunked:
            let outcome = ReferenceChunks(limits: limits).read(rest)
            if !outcome.content.isEmpty { passages.append(.content(outcome.content)) }
            switch outcome.ending {
            case .incomplete: passages.append(.cutInBody)
            case .complete(let length):
                rest = Array(rest[length...])
                passages.append(.end(trailers: outcome.trailers))
                return true
            case .size, .overflow, .extensionOctet, .chunkEnd, .extensionLimit, .trailers:
                passages.append(.refused)
            }
            return false
        }
    }
}
