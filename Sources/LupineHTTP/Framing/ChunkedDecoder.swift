// SPDX-License-Identifier: MIT

/// Removes the chunked framing of a body, strictly by RFC 9112 §7.1.
///
/// The decoder has no tolerances: a size consists of hexadecimal digits, lines end in CRLF, and blanks are allowed only before
/// the semicolon of an extension. The decoder skips chunk extensions. Their total length may exceed that of the content received
/// so far only by a limit, so that a peer cannot send much framing with little content. The decoder copies no content: `next`
/// returns its range in the input.
struct ChunkedDecoder {
    private enum State {
        /// In a chunk size, after `digits` digits, whose value is `value`.
        case size(value: Int64, digits: Int)
        /// In blanks after a size, which a semicolon must follow.
        case blanks(size: Int64)
        /// In the chunk extensions after a size.
        case extensions(size: Int64)
        /// Between the CR and the LF of a size line.
        case sizeLineFeed(size: Int64)
        /// In the content of a chunk, of which `remaining` octets have not arrived.
        case content(remaining: Int64)
        /// Before the CR after a chunk's content.
        case contentCarriageReturn
        /// Before the LF after a chunk's content.
        case contentLineFeed
        /// After the chunk of size zero.
        case trailers
        /// After the body.
        case ended
    }

    /// What `next` found in the input.
    enum Event {
        /// The decoder has consumed all input and needs more.
        case needMore
        /// Content, as a range of the input.
        case content(Range<Int>)
        /// The body is complete.
        case end(trailers: Fields)
    }

    /// The parser of trailers, created only when they arrive. Trailers are rare, and every codec contains a `ChunkedDecoder`. The
    /// parser is therefore stored on the heap (`indirect`), which keeps the decoder small.
    private enum Trailers {
        case none
        indirect case parsing(HeadParser)
    }

    private var state = State.size(value: 0, digits: 0)
    private var trailers = Trailers.none
    private let limits: ParserLimits
    /// The number of content octets received so far.
    private(set) var receivedContentCount: Int64 = 0
    /// The number of octets consumed so far, framing and content, for errors.
    private var offset = 0
    /// The number of octets of all chunk extensions so far.
    private var extensionOctetCount: Int64 = 0

    init(limits: ParserLimits) { self.limits = limits }

    /// The error if the peer closes the connection at this point of the body.
    var truncation: HTTPError.Truncation {
        if case .trailers = state { return .insideTrailers }
        return .insideChunk(received: receivedContentCount)
    }

    /// Returns the next event in `input`, and the number of octets that it consumed. `.needMore` consumes all of the input.
    mutating func next(_ input: Span<UInt8>) throws(HTTPError) -> (event: Event, consumed: Int) {
        var index = 0
        while index < input.count {
            switch state {
            case .content(let remaining):
                let count = min(input.count &- index, Int(clamping: remaining))
                let newRemaining = remaining &- Int64(count)
                state = newRemaining == 0 ? .contentCarriageReturn : .content(remaining: newRemaining)
                receivedContentCount &+= Int64(count)
                offset &+= count
                return (.content(index..<(index &+ count)), index &+ count)
            case .trailers:
                let (trailers, consumed) = try readTrailers(input.extracting(index...))
                offset &+= consumed
                index &+= consumed
                if let trailers {
                    state = .ended
                    return (.end(trailers: trailers), index)
                }
            // An earlier call has returned `.end` with the trailers.
            case .ended:
                return (.end(trailers: Fields()), index)
            case .size, .blanks, .extensions, .sizeLineFeed, .contentCarriageReturn, .contentLineFeed:
                if let (size, end) = parsePlainSizeLine(input, from: index) {
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

    /// The fast path to the next chunk: parses the CRLF after the previous chunk and a size line. Returns nil if the CRLF or the
    /// line is incomplete, or if the line has extensions; `state(after:)` then parses the input octet by octet. Nearly all chunks
    /// take the fast path.
    @inline(__always)
    private func parsePlainSizeLine(_ input: Span<UInt8>, from start: Int) -> (size: Int64, end: Int)? {
        var index = start
        switch state {
        case .contentCarriageReturn:
            guard isCRLF(input, at: index) else { return nil }
            index &+= 2
        // Before a size line whose first digit has not arrived, such as that of the first chunk.
        case .size(value: _, digits: 0): break
        case .size, .blanks, .extensions, .sizeLineFeed, .contentLineFeed, .content, .trailers, .ended:
            return nil
        }
        var size: Int64 = 0
        // Fifteen hexadecimal digits have 60 bits and cannot overflow. A longer size is left to `state(after:)`.
        let digitsEnd = min(input.count, index &+ 15)
        let digitsStart = index
        while index < digitsEnd, let digit = Octet.hexadecimal(input[index]) {
            size = size << 4 | Int64(digit)
            index &+= 1
        }
        guard index > digitsStart, isCRLF(input, at: index) else { return nil }
        return (size, index &+ 2)
    }

    /// Whether the two octets at `index` are CR and LF.
    @inline(__always)
    private func isCRLF(_ input: Span<UInt8>, at index: Int) -> Bool {
        index &+ 1 < input.count && input[index] == Octet.carriageReturn
            && input[index &+ 1] == Octet.lineFeed
    }

    /// Returns the state after one octet of framing; throws if the octet is not allowed there.
    private mutating func state(after octet: UInt8) throws(HTTPError) -> State {
        switch state {
        case .size(let value, let digits):
            if let digit = Octet.hexadecimal(octet) {
                // Every size that fits in 63 bits has at most sixteen digits. The check also limits leading zeros.
                guard digits < 16, value <= Int64.max >> 4 else { throw .chunkSizeOverflow(offset: offset) }
                return .size(value: value << 4 | Int64(digit), digits: digits &+ 1)
            }
            guard digits > 0 else { throw .malformedChunkSize(octet: octet, offset: offset) }
            switch octet {
            case Octet.carriageReturn: return .sizeLineFeed(size: value)
            case Octet.semicolon: return try countOctetAndEnterExtensions(value)
            case Octet.space, Octet.tab:
                // Only counts the octet, and drops the state: the extension itself begins with a semicolon.
                _ = try countOctetAndEnterExtensions(value)
                return .blanks(size: value)
            default: throw .malformedChunkSize(octet: octet, offset: offset)
            }
        case .blanks(let size):
            // Counts a blank, too, but only a semicolon leads to the state within extensions.
            let extensions = try countOctetAndEnterExtensions(size)
            if octet == Octet.semicolon { return extensions }
            guard Octet.isBlank(octet) else { throw .malformedChunkSize(octet: octet, offset: offset) }
            return .blanks(size: size)
        case .extensions(let size):
            if octet == Octet.carriageReturn { return .sizeLineFeed(size: size) }
            guard OctetClass.contains(octet, OctetClass.value) else {
                throw .malformedChunkExtension(octet: octet, offset: offset)
            }
            return try countOctetAndEnterExtensions(size)
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
        // `next` does not call this function in these states.
        case .content, .trailers, .ended:
            return state
        }
    }

    /// Counts one more octet of an extension, and returns the state within extensions of a chunk of that size. Throws if all
    /// extensions together are longer than the content received so far plus `limits.chunkExtensionBytes`.
    private mutating func countOctetAndEnterExtensions(_ size: Int64) throws(HTTPError) -> State {
        extensionOctetCount &+= 1
        let (allowed, overflow) = receivedContentCount.addingReportingOverflow(
            Int64(limits.chunkExtensionBytes))
        guard overflow || extensionOctetCount <= allowed else {
            throw .limitExceeded(.chunkExtensionBytes, allowed: limits.chunkExtensionBytes)
        }
        return .extensions(size: size)
    }

    /// Parses trailers. Returns those that are allowed, or nil if they continue after `input`, and the number of octets consumed.
    private mutating func readTrailers(
        _ input: Span<UInt8>
    ) throws(HTTPError) -> (trailers: Fields?, consumed: Int) {
        var parser: HeadParser
        switch trailers {
        case .none:
            // The fast path: there are no trailers, only the empty line.
            if input.count >= 2, input[0] == Octet.carriageReturn, input[1] == Octet.lineFeed {
                return (Fields(), 2)
            }
            parser = HeadParser(.trailers, limits: limits, leniency: .strict)
        case .parsing(let currentParser):
            parser = currentParser
            // Releases the stored copy, so that the parser is not copied when it changes.
            trailers = .none
        }
        guard let consumed = try parser.scan(input) else {
            trailers = .parsing(parser)
            return (nil, input.count)
        }
        return (TrailerRule.removingForbiddenFields(from: parser.extractHead(from: input).fields), consumed)
    }
}
