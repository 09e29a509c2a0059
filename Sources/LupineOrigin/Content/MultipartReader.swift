// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Takes a multipart body apart as it comes, in bounded memory (RFC 2046 section 5.1).
///
/// It keeps a part's head, up to a limit, and of the content only what might be the beginning of a boundary.
/// What stands before the first boundary and behind the last one is dropped.
struct MultipartReader {
    /// What it finds.
    enum Event {
        /// A part begins: its fields.
        case part(Fields)
        /// A piece of the part's content.
        case content(ArraySlice<UInt8>)
        /// The part is over.
        case partEnd
    }

    private enum State {
        case preamble, delimiterLine, head, content, epilogue
    }

    private static let longestHead = 16 << 10
    private static let lineEnd: [UInt8] = [13, 10]

    private let delimiter: [UInt8]
    private var state = State.preamble
    /// What was received and not yet understood.
    private var pending: [UInt8] = [13, 10]

    /// A reader for the boundary that `Content-Type` names; nil when that names none.
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

    /// Takes the next octets and calls `body` with each event that they complete.
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
        /// The next step begins here.
        case goOn(Int)
        /// Octets from here on are not understood yet.
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
