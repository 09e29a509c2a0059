// SPDX-License-Identifier: MIT

/// Finds the octets of content in a received body, and the body's end, for each kind of framing.
struct BodyDecoder {
    private enum State {
        /// There is no body.
        case none
        /// The body has `total` octets, of which `remaining` have not arrived.
        case length(remaining: Int64, total: Int64)
        /// `chunks` decodes the body and stores its progress.
        case chunked
        /// The body ends with the connection.
        case untilClose
    }

    private var state: State
    /// The decoder of a chunked body. As an associated value of the state it would be copied for each change.
    private var chunks: ChunkedDecoder

    /// A decoder for a body with that framing. A handover has no body: the octets after it are not HTTP.
    init(_ framing: BodyFraming, limits: ParserLimits) {
        chunks = ChunkedDecoder(limits: limits)
        switch framing {
        case .none, .handover: state = .none
        case .length(let length): state = .length(remaining: length, total: length)
        case .chunked: state = .chunked
        case .untilClose: state = .untilClose
        }
    }

    /// Returns the next event in `input`, and the number of octets that it consumed.
    @inline(__always)
    mutating func next(
        _ input: Span<UInt8>
    ) throws(HTTPError) -> (event: ChunkedDecoder.Event, consumed: Int) {
        switch state {
        case .none:
            return (.end(trailers: Fields()), 0)
        case .length(let remaining, let length):
            if remaining == 0 { return (.end(trailers: Fields()), 0) }
            guard input.count > 0 else { return (.needMore, 0) }
            let count = min(input.count, Int(clamping: remaining))
            state = .length(remaining: remaining &- Int64(count), total: length)
            return (.content(0..<count), count)
        case .chunked:
            return try chunks.next(input)
        case .untilClose:
            return input.count > 0 ? (.content(0..<input.count), input.count) : (.needMore, 0)
        }
    }

    /// Counts `count` octets of content that did not pass through `next`. Returns false if the body has fewer octets left. Also
    /// returns false for a chunked body: its octets contain chunk sizes, so each of them must pass through `next`.
    mutating func skip(_ count: Int) -> Bool {
        switch state {
        case .length(let remaining, let length):
            guard Int64(count) <= remaining else { return false }
            state = .length(remaining: remaining &- Int64(count), total: length)
            return true
        case .untilClose: return true
        case .none, .chunked: return count == 0
        }
    }

    /// The error if the peer closes the connection at this point of the body; nil if the close completes the body.
    var truncation: HTTPError.Truncation? {
        switch state {
        case .none, .untilClose: nil
        case .length(let remaining, let length):
            remaining == 0 ? nil : .insideBody(received: length &- remaining, expected: length)
        case .chunked: chunks.truncation
        }
    }
}
