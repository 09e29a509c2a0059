// SPDX-License-Identifier: MIT

package import LupineHTTP

/// An event of a stream of responses, as a client receives it; content is merged.
package enum Passage: Hashable {
    case interim(Reading)
    case head(Reading)
    case content([UInt8])
    /// A response ends; names and values of its trailers alternately.
    case end(trailers: [[UInt8]])
    /// The rest of the stream is not HTTP; its number of octets.
    case handover(Int)
    /// The stream ends in the middle of a head, or of a body.
    case cutInHead, cutInBody
    /// An error that every client must report.
    case refused
}

/// Reads a complete stream as the responses to consecutive requests: RFC 9112 §6 to §9.
///
/// It combines the readers of heads and of chunks, and shares no code with the codec: it finds the end of a body by slicing an
/// array, and keeps only its position from one response to the next.
package struct ReferenceConversation {
    /// The parts of a request that determine how its response is read.
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

    /// Returns the client's events, up to the end of the connection after the last octet.
    package func read(_ stream: [UInt8], asked: [Asked]) -> [Passage] {
        var passages: [Passage] = []
        var rest = stream
        for asked in asked {
            guard let isLast = read(&rest, asked, &passages) else { return passages }
            // A connection without keep-alive is closed, whatever else arrives on it (§9.6).
            if isLast { return passages }
        }
        // Octets that no request asked for are not a response (§9.2).
        if !rest.isEmpty { passages.append(.refused) }
        return passages
    }

    /// Reads one response and the interim ones before it, and removes them from `rest`. Returns nil if nothing can follow,
    /// otherwise whether the connection ends with it.
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

    /// Removes a body from `rest`; returns false if nothing can follow.
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
