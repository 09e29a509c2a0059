// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Parses a multipart body in pieces, in bounded memory (RFC 2046 section 5.1).
///
/// The reader stores the head of a part, up to a limit, but no content except octets that may begin a boundary. The preamble and
/// the epilogue, the text before and after the parts, are dropped.
struct MultipartReader {
    /// The events of a body.
    enum Event {
        /// A part with these fields begins.
        case partHead(Fields)
        /// A piece of the part's content.
        case content(ArraySlice<UInt8>)
        /// The part ends.
        case partEnd
    }

    private enum State {
        case preamble
        /// After a boundary, up to the end of its line.
        case boundaryLine
        case partHead
        case content
        case epilogue
    }

    private static let maximumHeadOctets = 16 << 10
    /// The maximum number of spaces and tabs after a boundary.
    private static let maximumPaddingOctets = 127
    /// CR LF.
    private static let lineEnd: [UInt8] = [13, 10]

    /// The octets that end a part's content: CR LF, two hyphens, and the boundary.
    private let delimiter: [UInt8]
    private var state = State.preamble
    /// Received octets that have not been parsed. They begin with CR LF, so that a boundary at the beginning of the body matches
    /// the delimiter.
    private var unparsed: [UInt8] = Self.lineEnd

    /// Creates a reader for the boundary in `Content-Type`. Returns nil if the field is missing or has no valid boundary.
    init?(contentType fields: Fields) {
        // The field or the parameter may be missing: `?? nil` makes one optional of two.
        let boundary =
            fields.withFirstValue(of: .contentType) { bytes in
                ListSyntax.parameter("boundary", of: 0..<bytes.count, in: bytes)
            } ?? nil
        guard let boundary, (1...70).contains(boundary.utf8.count) else { return nil }
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    /// Whether the closing boundary has been parsed.
    var isComplete: Bool { state == .epilogue }

    /// Parses the next octets, and calls `receiveEvent` with each event that is complete.
    mutating func read(
        _ bytes: Span<UInt8>, _ receiveEvent: (Event) throws(Refusal) -> Void
    ) throws(Refusal) {
        guard state != .epilogue else { return }
        unparsed.append(bytes)
        var start = 0
        while true {
            switch try parseNext(from: start, receiveEvent) {
            case .parsed(let index): start = index
            case .needMore(let index):
                unparsed.removeFirst(index)
                return
            }
        }
    }

    /// The result of parsing one element of the body.
    private enum ParseResult {
        /// The next element begins at this index.
        case parsed(upTo: Int)
        /// More input is needed. The octets from this index on have not been parsed.
        case needMore(unparsedFrom: Int)
    }

    /// Parses the next element of the body, which begins at `start`, according to the state.
    private mutating func parseNext(
        from start: Int, _ receiveEvent: (Event) throws(Refusal) -> Void
    ) throws(Refusal) -> ParseResult {
        switch state {
        case .preamble, .content:
            let delimiterStart = delimiterIndex(from: start)
            // The last octets may begin a delimiter.
            let end = delimiterStart ?? max(start, unparsed.count - delimiter.count + 1)
            if state == .content, end > start { try receiveEvent(.content(unparsed[start..<end])) }
            guard let delimiterStart else { return .needMore(unparsedFrom: end) }
            if state == .content { try receiveEvent(.partEnd) }
            state = .boundaryLine
            return .parsed(upTo: delimiterStart + delimiter.count)
        case .boundaryLine:
            return try parseBoundaryLine(from: start)
        case .partHead:
            guard let (fields, end) = try parseHead(from: start) else {
                return .needMore(unparsedFrom: start)
            }
            state = .content
            try receiveEvent(.partHead(fields))
            return .parsed(upTo: end)
        case .epilogue:
            // Drops the epilogue: no octet remains unparsed.
            return .needMore(unparsedFrom: unparsed.count)
        }
    }

    /// Returns the index of the first complete delimiter; nil if there is none.
    private func delimiterIndex(from start: Int) -> Int? {
        let bytes = unparsed.span
        let delimiter = delimiter.span
        var index = start
        while index + delimiter.count <= bytes.count {
            if bytes[index] == delimiter[0] {
                var length = 1
                while length < delimiter.count, bytes[index + length] == delimiter[length] { length += 1 }
                if length == delimiter.count { return index }
            }
            index += 1
        }
        return nil
    }

    /// Parses the rest of a boundary's line: two hyphens after the closing boundary, otherwise spaces and tabs up to the line
    /// end.
    private mutating func parseBoundaryLine(from start: Int) throws(Refusal) -> ParseResult {
        let line = unparsed[start...]
        if line.starts(with: "--".utf8) {
            state = .epilogue
            return .parsed(upTo: unparsed.count)
        }
        guard let lineEndRange = line.firstRange(of: Self.lineEnd) else {
            guard line.count <= Self.maximumPaddingOctets else {
                throw .badRequest("multipart: a boundary line without end")
            }
            return .needMore(unparsedFrom: start)
        }
        let padding = line[..<lineEndRange.lowerBound]
        guard padding.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) else {
            throw .badRequest("multipart: a boundary is followed by something else")
        }
        state = .partHead
        return .parsed(upTo: lineEndRange.upperBound)
    }

    /// Parses the head of a part. Returns its fields and the index after the head; nil if the head is incomplete.
    private func parseHead(from start: Int) throws(Refusal) -> (Fields, end: Int)? {
        // Trailers have the syntax of a part's head: fields without a start line.
        var parser = HeadParser(.trailers, limits: ParserLimits(), leniency: .strict)
        let octets = Array(unparsed[start...].prefix(Self.maximumHeadOctets))
        let end: Int?
        do throws(HTTPError) {
            end = try parser.scan(octets.span)
        } catch {
            throw .badRequest("multipart: \(error)")
        }
        guard let end else {
            guard octets.count < Self.maximumHeadOctets else {
                throw .badRequest("multipart: the head of a part is too long")
            }
            return nil
        }
        return (parser.extractHead(from: octets.span).fields, start + end)
    }
}
