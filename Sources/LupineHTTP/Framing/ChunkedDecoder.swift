// SPDX-License-Identifier: MIT

/// Removes the chunked framing of a body, strictly by RFC 9112 §7.1.
///
/// There are no tolerances: a size consists of hexadecimal digits, lines end in CRLF, and blanks are allowed only before an
/// extension's semicolon. The decoder skips extensions, within a limit that grows with the content received, so that a peer
/// cannot send much framing for little content. It copies no content: `next` returns a range.
struct ChunkedDecoder {
    private enum State {
        /// In a chunk size, after `digits` digits.
        case size(value: Int64, digits: Int)
        /// In blanks after a size, which a semicolon must follow.
        case blanks(size: Int64)
        case extensions(size: Int64)
        /// Between the CR and the LF of a size line.
        case sizeLineFeed(size: Int64)
        case content(remaining: Int64)
        /// Before the CR after a chunk's content.
        case contentCarriageReturn
        /// Before the LF after a chunk's content.
        case contentLineFeed
        case trailers
        case ended
    }

    enum Step {
        case needMore
        /// Content, as a range of the input.
        case content(Range<Int>)
        /// The body is complete.
        case end(trailers: Fields)
    }

    /// The parser of the trailers, on the heap. It is created only if there are trailers, which are rare: every codec contains a
    /// `ChunkedDecoder`, which stays small.
    private enum Trailers {
        case none
        indirect case parsing(HeadParser)
    }

    private var state = State.size(value: 0, digits: 0)
    private var trailers = Trailers.none
    private let limits: ParserLimits
    /// The content octets so far.
    private(set) var received: Int64 = 0
    /// The framing and content octets so far, for error messages.
    private var offset = 0
    private var extensionOctets: Int64 = 0

    init(limits: ParserLimits) { self.limits = limits }

    /// The truncation if the peer closed the connection now.
    var truncation: HTTPError.Truncation {
        if case .trailers = state { return .insideTrailers }
        return .insideChunk(received: received)
    }

    /// Consumes octets up to the next step. With `.needMore` all of the input was consumed.
    mutating func next(_ input: Span<UInt8>) throws(HTTPError) -> (step: Step, consumed: Int) {
        var index = 0
        while index < input.count {
            switch state {
            case .content(let remaining):
                let count = min(input.count &- index, Int(clamping: remaining))
                let left = remaining &- Int64(count)
                state = left == 0 ? .contentCarriageReturn : .content(remaining: left)
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
            case .size, .blanks, .extensions, .sizeLineFeed, .contentCarriageReturn, .contentLineFeed:
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

    /// The fast path to the next chunk: parses the end of the previous chunk and a size line, if both are complete and the line
    /// has no extensions, which is so for nearly all chunks. Returns nil for anything else, which `state(after:)` then parses
    /// octet by octet.
    @inline(__always)
    private func plainSize(_ input: Span<UInt8>, from start: Int) -> (size: Int64, end: Int)? {
        var index = start
        switch state {
        case .contentCarriageReturn:
            guard isCRLF(input, at: index) else { return nil }
            index &+= 2
        // The first chunk.
        case .size(value: _, digits: 0): break
        case .size, .blanks, .extensions, .sizeLineFeed, .contentLineFeed, .content, .trailers, .ended:
            return nil
        }
        var size: Int64 = 0
        // Fifteen digits have 60 bits and cannot overflow.
        let digitsEnd = min(input.count, index &+ 15)
        let digitsStart = index
        while index < digitsEnd, let digit = Octet.hexadecimal(input[index]) {
            size = size << 4 | Int64(digit)
            index &+= 1
        }
        guard index > digitsStart, isCRLF(input, at: index) else { return nil }
        return (size, index &+ 2)
    }

    @inline(__always)
    private func isCRLF(_ input: Span<UInt8>, at index: Int) -> Bool {
        index &+ 1 < input.count && input[index] == Octet.carriageReturn
            && input[index &+ 1] == Octet.lineFeed
    }

    /// Returns the state after one octet of framing.
    private mutating func state(after octet: UInt8) throws(HTTPError) -> State {
        switch state {
        case .size(let value, let digits):
            if let digit = Octet.hexadecimal(octet) {
                // Sixteen digits suffice for every size that fits; leading zeros are limited too.
                guard digits < 16, value <= Int64.max >> 4 else { throw .chunkSizeOverflow(offset: offset) }
                return .size(value: value << 4 | Int64(digit), digits: digits &+ 1)
            }
            guard digits > 0 else { throw .malformedChunkSize(octet: octet, offset: offset) }
            switch octet {
            case Octet.carriageReturn: return .sizeLineFeed(size: value)
            case Octet.semicolon: return try countExtensionOctet(value)
            case Octet.space, Octet.tab:
                _ = try countExtensionOctet(value)
                return .blanks(size: value)
            default: throw .malformedChunkSize(octet: octet, offset: offset)
            }
        case .blanks(let size):
            let extended = try countExtensionOctet(size)
            if octet == Octet.semicolon { return extended }
            guard Octet.isBlank(octet) else { throw .malformedChunkSize(octet: octet, offset: offset) }
            return .blanks(size: size)
        case .extensions(let size):
            if octet == Octet.carriageReturn { return .sizeLineFeed(size: size) }
            guard OctetClass.contains(octet, OctetClass.value) else {
                throw .malformedChunkExtension(octet: octet, offset: offset)
            }
            return try countExtensionOctet(size)
        case .sizeLineFeed(let size):
            guard octet == Octet.lineFeed else { throw .malformedChunkEnd(octet: octet, offset: offset) }
            return size == 0 ? .trailers : .content(remaining: size)
        case .contentCarriageReturn:
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

    /// Counts one more octet of an extension, and returns the state within extensions; throws if there are too many octets.
    private mutating func countExtensionOctet(_ size: Int64) throws(HTTPError) -> State {
        extensionOctets &+= 1
        let (allowed, overflow) = received.addingReportingOverflow(Int64(limits.chunkExtensionBytes))
        guard overflow || extensionOctets <= allowed else {
            throw .limitExceeded(.chunkExtensionBytes, allowed: limits.chunkExtensionBytes)
        }
        return .extensions(size: size)
    }

    /// Parses trailers. Returns those that are allowed, or nil if they continue after `input`, and the number of octets consumed.
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
        return (TrailerRule.removingForbiddenFields(from: parser.extractHead(from: input).fields), consumed)
    }
}
