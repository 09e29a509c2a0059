// SPDX-License-Identifier: MIT

/// Takes chunked framing off a body: RFC 9112 §7.1, to the letter.
///
/// No tolerance applies: a size is hexadecimal digits, lines end in CRLF, blanks stand only before an extension's
/// semicolon. Extensions are skipped, within a limit that body octets pay for: a peer that sends much framing for
/// little content is stopped. Content is never copied: `next` says where it lies.
struct ChunkedDecoder {
    private enum State {
        /// In a size; so many digits have been seen.
        case size(value: Int64, digits: Int)
        /// In blanks that only a semicolon may follow.
        case blanks(size: Int64)
        case extensions(size: Int64)
        case sizeLineFeed(size: Int64)
        case content(remaining: Int64)
        case contentReturn
        case contentLineFeed
        case trailers
        case ended
    }

    enum Step {
        case needMore
        /// Content at a range of the input.
        case content(Range<Int>)
        /// The body is over.
        case end(trailers: Fields)
    }

    /// Kept apart on the heap and only made for trailers that are there: few are, and a decoder stands in every codec.
    private enum Trailers {
        case none
        indirect case parsing(HeadParser)
    }

    private var state = State.size(value: 0, digits: 0)
    private var trailers = Trailers.none
    private let limits: ParserLimits
    /// Octets of content so far.
    private(set) var received: Int64 = 0
    /// Octets of framing and content so far, for error messages.
    private var offset = 0
    private var extensionOctets: Int64 = 0

    init(limits: ParserLimits) { self.limits = limits }

    /// Where the peer would break off, if it did now.
    var truncation: HTTPError.Truncation {
        if case .trailers = state { return .insideTrailers }
        return .insideChunk(received: received)
    }

    /// Takes octets until there is something to say. With `.needMore` all of the input was taken.
    mutating func next(_ input: Span<UInt8>) throws(HTTPError) -> (step: Step, consumed: Int) {
        var index = 0
        while index < input.count {
            switch state {
            case .content(let remaining):
                let count = min(input.count &- index, Int(clamping: remaining))
                let left = remaining &- Int64(count)
                state = left == 0 ? .contentReturn : .content(remaining: left)
                received &+= Int64(count)
                offset &+= count
                return (.content(index..<(index &+ count)), index &+ count)
            case .trailers:
                let (trailers, taken) = try readTrailers(input.extracting(index...))
                offset &+= taken
                index &+= taken
                if let trailers {
                    state = .ended
                    return (.end(trailers: trailers), index)
                }
            case .ended:
                return (.end(trailers: Fields()), index)
            case .size, .blanks, .extensions, .sizeLineFeed, .contentReturn, .contentLineFeed:
                if let (size, end) = plainSize(input, from: index) {
                    state = size == 0 ? .trailers : .content(remaining: size)
                    offset &+= end &- index
                    index = end
                    continue
                }
                state = try state(after: input[index])
                index &+= 1
                offset &+= 1
            }
        }
        return (.needMore, index)
    }

    /// The quick way to the next chunk: a size line that is there in full and as plain as nearly all are, with the end
    /// of the chunk before it. Nil for anything else, which is then taken octet by octet with every rule in hand.
    @inline(__always)
    private func plainSize(_ input: Span<UInt8>, from start: Int) -> (size: Int64, end: Int)? {
        var index = start
        switch state {
        case .contentReturn:
            guard endsLine(input, at: index) else { return nil }
            index &+= 2
        case .size(value: _, digits: 0): break
        case .size, .blanks, .extensions, .sizeLineFeed, .contentLineFeed, .content, .trailers, .ended:
            return nil
        }
        var size: Int64 = 0
        // Fifteen digits cannot overflow.
        let digitsEnd = min(input.count, index &+ 15)
        let digitsStart = index
        while index < digitsEnd, let digit = Octet.hexadecimal(input[index]) {
            size = size << 4 | Int64(digit)
            index &+= 1
        }
        guard index > digitsStart, endsLine(input, at: index) else { return nil }
        return (size, index &+ 2)
    }

    @inline(__always)
    private func endsLine(_ input: Span<UInt8>, at index: Int) -> Bool {
        index &+ 1 < input.count && input[index] == Octet.carriageReturn
            && input[index &+ 1] == Octet.lineFeed
    }

    /// The state that follows when `octet` of the framing comes.
    private mutating func state(after octet: UInt8) throws(HTTPError) -> State {
        switch state {
        case .size(let value, let digits):
            if let digit = Octet.hexadecimal(octet) {
                // Sixteen digits hold every size that fits; a flood of leading zeros ends here too.
                guard digits < 16, value <= Int64.max >> 4 else { throw .chunkSizeOverflow(offset: offset) }
                return .size(value: value << 4 | Int64(digit), digits: digits &+ 1)
            }
            guard digits > 0 else { throw .malformedChunkSize(octet: octet, offset: offset) }
            switch octet {
            case Octet.carriageReturn: return .sizeLineFeed(size: value)
            case Octet.semicolon: return try extending(value)
            case Octet.space, Octet.tab:
                _ = try extending(value)
                return .blanks(size: value)
            default: throw .malformedChunkSize(octet: octet, offset: offset)
            }
        case .blanks(let size):
            let extended = try extending(size)
            if octet == Octet.semicolon { return extended }
            guard Octet.isBlank(octet) else { throw .malformedChunkSize(octet: octet, offset: offset) }
            return .blanks(size: size)
        case .extensions(let size):
            if octet == Octet.carriageReturn { return .sizeLineFeed(size: size) }
            guard OctetClass.contains(octet, OctetClass.value) else {
                throw .malformedChunkExtension(octet: octet, offset: offset)
            }
            return try extending(size)
        case .sizeLineFeed(let size):
            guard octet == Octet.lineFeed else { throw .malformedChunkEnd(octet: octet, offset: offset) }
            return size == 0 ? .trailers : .content(remaining: size)
        case .contentReturn:
            guard octet == Octet.carriageReturn else {
                throw .malformedChunkEnd(octet: octet, offset: offset)
            }
            return .contentLineFeed
        case .contentLineFeed:
            guard octet == Octet.lineFeed else { throw .malformedChunkEnd(octet: octet, offset: offset) }
            return .size(value: 0, digits: 0)
        case .content, .trailers, .ended:
            return state
        }
    }

    /// One more octet of an extension.
    private mutating func extending(_ size: Int64) throws(HTTPError) -> State {
        extensionOctets &+= 1
        let (allowed, isEndless) = received.addingReportingOverflow(Int64(limits.chunkExtensionBytes))
        guard isEndless || extensionOctets <= allowed else {
            throw .limitExceeded(.chunkExtensionBytes, allowed: limits.chunkExtensionBytes)
        }
        return .extensions(size: size)
    }

    private mutating func readTrailers(_ input: Span<UInt8>) throws(HTTPError) -> (Fields?, Int) {
        var parser: HeadParser
        switch trailers {
        case .none:
            if input.count >= 2, input[0] == Octet.carriageReturn, input[1] == Octet.lineFeed {
                return (Fields(), 2)
            }
            parser = HeadParser(.trailers, limits: limits, leniency: .strict)
        case .parsing(let begun):
            parser = begun
            trailers = .none
        }
        guard let consumed = try parser.scan(input) else {
            trailers = .parsing(parser)
            return (nil, input.count)
        }
        return (TrailerRule.allowed(parser.take(input).fields), consumed)
    }
}
