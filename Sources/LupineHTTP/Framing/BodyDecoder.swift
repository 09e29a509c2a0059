// SPDX-License-Identifier: MIT

/// Finds the octets of a body in what follows its head, whichever way it is framed.
struct BodyDecoder {
    private enum State {
        case none
        case length(remaining: Int64, of: Int64)
        /// As `chunks` says.
        case chunked
        case untilClose
    }

    private var state: State
    /// Beside the state and not in it, so that it is worked on where it lies.
    private var chunks: ChunkedDecoder

    /// A decoder for anything but a handover, which has no body.
    init(_ framing: BodyFraming, limits: ParserLimits) {
        chunks = ChunkedDecoder(limits: limits)
        switch framing {
        case .none, .handover: state = .none
        case .length(let length): state = .length(remaining: length, of: length)
        case .chunked: state = .chunked
        case .untilClose: state = .untilClose
        }
    }

    /// Takes octets until there is something to say.
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

    /// Takes note of content that went another way than through `next`: `count` octets that nobody looked at. Only
    /// content without framing of its own can; false otherwise.
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

    /// The peer has closed: nil when that is how this body ends.
    var truncation: HTTPError.Truncation? {
        switch state {
        case .none, .untilClose: nil
        case .length(let remaining, let length):
            remaining == 0 ? nil : .insideBody(received: length &- remaining, expected: length)
        case .chunked: chunks.truncation
        }
    }
}
