// SPDX-License-Identifier: MIT

package import LupineHTTP

/// An event of a stream of responses to a client. Consecutive pieces of content are one event.
package enum StreamEvent: Hashable {
    case interim(ParsedHead)
    case head(ParsedHead)
    case content([UInt8])
    /// A response ends. The array contains the names and values of its trailers, alternately.
    case end(trailers: [[UInt8]])
    /// The remaining octets of the stream are not HTTP. The value is their number.
    case handover(Int)
    /// The stream ends in the middle of a head, or of a body.
    case truncatedInHead, truncatedInBody
    /// An error that every client must report.
    case refused
}

/// Reads a complete stream as the responses to consecutive requests: RFC 9112 §6 to §9.
///
/// It combines the reference readers of heads and of chunks, and shares no code with the codec. It finds the end of a body by
/// slicing an array, and keeps no state between responses except the remaining octets.
package struct ReferenceConversation {
    /// The properties of a request that determine how its response is read.
    package struct RequestSummary {
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
    package func read(_ stream: [UInt8], requests: [RequestSummary]) -> [StreamEvent] {
        var events: [StreamEvent] = []
        var remaining = stream
        for request in requests {
            guard let isLast = read(&remaining, request, &events) else { return events }
            // A connection without keep-alive is closed, whatever else arrives on it (§9.6).
            if isLast { return events }
        }
        // Octets that no request asked for are not a response (§9.2).
        if !remaining.isEmpty { events.append(.refused) }
        return events
    }

    /// Reads one response and the interim ones before it, and removes them from `remaining`. Returns nil if nothing can
    /// follow, otherwise whether the connection ends after the response.
    private func read(
        _ remaining: inout [UInt8], _ request: RequestSummary, _ events: inout [StreamEvent]
    ) -> Bool? {
        let reader = ReferenceReader(
            method: request.method, asksForUpgrade: request.asksForUpgrade, leniency: leniency)
        var interims = 0
        while true {
            let head: ParsedHead
            switch reader.read(remaining) {
            case .incomplete:
                events.append(.truncatedInHead)
                return nil
            case .refused:
                events.append(.refused)
                return nil
            case .head(let read): head = read
            }
            remaining = Array(remaining[head.length...])
            guard let framing = head.framing, let keepAlive = head.keepAlive else {
                interims += 1
                if interims > limits.interimHeads {
                    events.append(.refused)
                    return nil
                }
                events.append(.interim(head))
                continue
            }
            events.append(.head(head))
            return readBody(framing, &remaining, &events) ? !keepAlive : nil
        }
    }

    /// Reads a body and removes it from `remaining`. Returns false if nothing can follow.
    private func readBody(
        _ framing: BodyFraming, _ remaining: inout [UInt8], _ events: inout [StreamEvent]
    ) -> Bool {
        switch framing {
        case .none:
            events.append(.end(trailers: []))
            return true
        case .handover:
            events.append(.handover(remaining.count))
            return false
        case .length(let length):
            let content = Array(remaining.prefix(Int(clamping: length)))
            if !content.isEmpty { events.append(.content(content)) }
            guard content.count == length else {
                events.append(.truncatedInBody)
                return false
            }
            remaining = Array(remaining.dropFirst(content.count))
            events.append(.end(trailers: []))
            return true
        case .untilClose:
            if !remaining.isEmpty { events.append(.content(remaining)) }
            events.append(.end(trailers: []))
            return false
        case .chunked:
            let outcome = ReferenceChunks(limits: limits).read(remaining)
            if !outcome.content.isEmpty { events.append(.content(outcome.content)) }
            switch outcome.ending {
            case .incomplete: events.append(.truncatedInBody)
            case .complete(let length):
                remaining = Array(remaining[length...])
                events.append(.end(trailers: outcome.trailers))
                return true
            case .size, .overflow, .extensionOctet, .chunkEnd, .extensionLimit, .trailers:
                events.append(.refused)
            }
            return false
        }
    }
}
