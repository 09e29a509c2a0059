// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Parses a multipart body in pieces, in bounded memory (RFC 2046 section 5.1).
///
/// It stores a part's head, up to a limit, and of the content only octets that may begin a boundary. The preamble and the
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

    private static let longestHead = 16 << 10
    private static let lineEnd: [UInt8] = [13, 10]

    private let delimiter: [UInt8]
    private var state = State.preamble
    /// Received octets that have not been parsed. The initial line end lets the first boundary match the delimiter.
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
            switch try step(from: start, body) {
            case .goOn(let next): start = next
            case .needMore(let keep):
                pending.removeFirst(keep)
                return
            }
        }
    }

    private enum Step {
        /// The next step begins at this index.
        case goOn(Int)
        /// Octets from this index on need more input.
        case needMore(keep: Int)
    }

    private mutating func step(
        from start: Int, _ body: (Event) throws(Refusal) -> Void
    ) throws(Refusal) -> Step {
        switch state {
        case .preamble, .content:
            let found = delimiterIndex(from: start)
            // The last octets may begin a boundary.
            let end = found ?? max(start, pending.count - delimiter.count + 1)
            if state == .content, end > start { try body(.content(pending[start..<end])) }
            guard let found else { return .needMore(keep: end) }
            if state == .content { try body(.partEnd) }
            state = .delimiterLine
            return .goOn(found + delimiter.count)
        case .delimiterLine:
            return try delimiterLine(from: start)
        case .head:
            guard let (fields, end) = try head(from: start) else { return .needMore(keep: start) }
            state = .content
            try body(.part(fields))
            return .goOn(end)
        case .epilogue:
            return .needMore(keep: pending.count)
        }
    }

    private func delimiterIndex(from start: Int) -> Int? {
        let bytes = pending.span
        let wanted = delimiter.span
        var index = start
        while index + wanted.count <= bytes.count {
            if bytes[index] == 13 {
                var length = 1
                while length < wanted.count, bytes[index + length] == wanted[length] { length += 1 }
                if length == wanted.count { return index }
            }
            index += 1
        }
        return nil
    }

    private mutating func delimiterLine(from start: Int) throws(Refusal) -> Step {
        let rest = pending[start...]
        if rest.starts(with: [45, 45]) {
            state = .epilogue
            return .goOn(pending.count)
        }
        guard let end = rest.firstRange(of: Self.lineEnd) else {
            guard rest.count < 128 else { throw .badRequest("multipart: a boundary line without end") }
            return .needMore(keep: start)
        }
        guard rest[..<end.lowerBound].allSatisfy({ $0 == 32 || $0 == 9 }) else {
            throw .badRequest("multipart: a boundary is followed by something else")
        }
        state = .head
        return .goOn(end.upperBound)
    }

    private func head(from start: Int) throws(Refusal) -> (Fields, end: Int)? {
        var parser = HeadParser(.trailers, limits: ParserLimits(), leniency: .strict)
        let octets = Array(pending[start...].prefix(Self.longestHead))
        let end: Int?
        do throws(HTTPError) {
            end = try parser.scan(octets.span)
        } catch {
            throw .badRequest("multipart: \(error)")
        }
        guard let end else {
            guard octets.count < Self.longestHead else {
                throw .badRequest("multipart: the head of a part is too long")
            }
            return nil
        }
        return (parser.take(octets.span).fields, start + end)
    }
}
