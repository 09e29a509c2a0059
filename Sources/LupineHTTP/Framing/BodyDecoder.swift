// SPDX-License-Identifier: MIT

/// Finds the content octets of a body, for each kind of framing.
struct BodyDecoder {
    private enum State {
        case none
        case length(remaining: Int64, of: Int64)
        /// The progress is in `chunks`.
        case chunked
        case untilClose
    }

    private var state: State
    /// The decoder of a chunked body. It is not an associated value of the state, so that it is modified in place.
    private var chunks: ChunkedDecoder

    /// A decoder for any framing; a handover has no body.
    init(_ framing: BodyFraming, limits: ParserLimits) {
        chunks = ChunkedDecoder(limits: limits)
        switch framing {
        case .none, .handover: state = .none
        case .length(let length): state = .length(remaining: length, of: length)
        case .chunked: state = .chunked
        case .untilClose: state = .untilClose
        }
    }

    /// Consumes octets up to the next step.
    @inline(__always)
    mutating func next(_ input: Span<UInt8>) throws(HTTPError) -> (step: ChunkedDecoder.Step, consumed: Int) {
        switch state {
        case .none:
            return (.end(trailers: Fields()), 0)
        case .length(let remaining, let length):
            if remaining == 0 { return (.end(trailers: Fields()), 0) }
            guard input.count > 0 else { return (.needMore, 0) }
            let count = min(input.count, Int(clamping: remaining))
            state = .length(remaining: remaining &- Int64(count), of: length)
            return (.content(0..<count), count)
        case .chunked:
            return try chunks.next(input)
        case .untilClose:
            return input.count > 0 ? (.content(0..<input.count), input.count) : (.needMore, 0)
        }
    }

    /// Records `count` octets of content that did not pass through `next`. Returns false if the body has fewer octets left, or is
    /// chunked, because its octets have to be decoded.
    mutating func skip(_ count: Int) -> Bool {
        switch state {
        case .length(let remaining, let length):
            guard Int64(count) <= remaining else { return false }
            state = .length(remaining: remaining &- Int64(count), of: length)
            return true
        case .untilClose: return true
        case .none, .chunked: return count == 0
        }
    }

    /// The truncation if the peer closed the connection now; nil if that would complete the body.
    var truncation: HTTPError.Truncation? {
        switch state {
        case .none, .untilClose: nil
        case .length(let remaining, let length):
            remaining == 0 ? nil : .insideBody(received: length &- remaining, expected: length)
        case .chunked: chunks.truncation
        }
    }
}
