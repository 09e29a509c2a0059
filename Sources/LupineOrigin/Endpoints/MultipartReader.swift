// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Parses a multipart body in pieces, in bounded memory (RFC 2046 section 5.1).
///
/// It stores the head of a part, up to a limit, but no content except octets that may begin a boundary. The preamble and the
/// epilogue are dropped.
struct MultipartReader {
    /// The events of a body.
    enum Event {
        /// A part with these fields begins.
        case part(Fields)
        /// A piece of the part's content.
        case content(ArraySlice<UInt8>)
        /// The part ends.
        case partEnd
    }

    private enum State {
        case preamble, delimiterLine, head, content, epilogue
    }

    private static let maximumHeadOctets = 16 << 10
    private static let lineEnd: [UInt8] = [13, 10]

    private let delimiter: [UInt8]
    private var state = State.preamble
    /// Received octets that have not been parsed. They begin with a line end, so that the first boundary matches the delimiter.
    private var pending: [UInt8] = [13, 10]

    /// Creates a reader for the boundary in `Content-Type`; nil if it has no valid boundary.
    init?(contentType fields: Fields) {
        let boundary =
            fields.withFirstValue(of: .contentType) { bytes in
                ListSyntax.parameter("boundary", of: 0..<bytes.count, in: bytes)
            } ?? nil
        guard let boundary, (1...70).contains(boundary.utf8.count) else { return nil }
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    /// Whether the closing boundary has been seen.
    var isComplete: Bool { state == .epilogue }

    /// Parses the next octets and calls `body` with each event that they complete.
    mutating func read(
        _ bytes: Span<UInt8>, _ body: (Event) throws(Refusal) -> Void
    ) throws(Refusal) {
        guard state != .epilogue else { return }
        pending.append(bytes)
        var start = 0
        while true {
            switch try parseStep(from: start, body) {
            case .next(let index): start = index
            case .needMore(let unparsed):
                pending.removeFirst(unparsed)
                return
            }
        }
    }

    private enum Step {
        /// The next step begins at this index.
        case next(at: Int)
        /// More input is needed. The octets from this index on have not been parsed.
        case needMore(unparsedFrom: Int)
    }

    private mutating func parseStep(
        from start: Int, _ body: (Event) throws(Refusal) -> Void
    ) throws(Refusal) -> Step {
        switch state {
        case .preamble, .content:
            let found = delimiterIndex(from: start)
            // The last octets may begin a boundary.
            let end = found ?? max(start, pending.count - delimiter.count + 1)
            if state == .content, end > start { try body(.content(pending[start..<end])) }
            guard let found else { return .needMore(unparsedFrom: end) }
            if state == .content { try body(.partEnd) }
            state = .delimiterLine
            return .next(at: found + delimiter.count)
        case .delimiterLine:
            return try parseDelimiterLine(from: start)
        case .head:
            guard let (fields, end) = try parseHead(from: start) else {
                return .needMore(unparsedFrom: start)
            }
            state = .content
            try body(.part(fields))
            return .next(at: end)
        case .epilogue:
            return .needMore(unparsedFrom: pending.count)
        }
    }

    private func delimiterIndex(from start: Int) -> Int? {
        let bytes = pending.span
        let delimiter = delimiter.span
        var index = start
        while index + delimiter.count <= bytes.count {
            if bytes[index] == 13 {
                var length = 1
                while length < delimiter.count, bytes[index + length] == delimiter[length] { length += 1 }
                if length == delimiter.count { return index }
            }
            index += 1
        }
        return nil
    }

    private mutating func parseDelimiterLine(from start: Int) throws(Refusal) -> Step {
        let line = pending[start...]
        if line.starts(with: [45, 45]) {
            state = .epilogue
            return .next(at: pending.count)
        }
        guard let end = line.firstRange(of: Self.lineEnd) else {
            guard line.count < 128 else { throw .badRequest("multipart: a boundary line without end") }
            return .needMore(unparsedFrom: start)
        }
        guard line[..<end.lowerBound].allSatisfy({ $0 == 32 || $0 == 9 }) else {
            throw .badRequest("multipart: a boundary is followed by something else")
        }
        state = .head
        return .next(at: end.upperBound)
    }

    /// Parses the head of a part. Returns its fields and the index after it; nil if it is incomplete.
    private func parseHead(from start: Int) throws(Refusal) -> (Fields, end: Int)? {
        var parser = HeadParser(.trailers, limits: ParserLimits(), leniency: .strict)
        let octets = Array(pending[start...].prefix(Self.maximumHeadOctets))
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
        return (parser.take(octets.span).fields, start + end)
    }
}
