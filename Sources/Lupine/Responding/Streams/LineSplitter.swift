// SPDX-License-Identifier: MIT

import Foundation

/// Splits a stream into lines. The lines do not depend on the pieces in which the stream arrives.
///
/// If a line exceeds the limit, the splitter reports it at once and skips it to its end. A peer that never ends a line therefore
/// cannot use more memory than the limit. A byte order mark at the beginning of the stream is removed.
struct LineSplitter: Sendable {
    /// The characters that end a line.
    enum Ending: Sendable {
        /// A line feed.
        case lineFeed
        /// A line feed, a carriage return, or a carriage return followed by a line feed.
        case lineFeedOrReturn
    }

    /// A line of the stream.
    enum Line: Equatable, Sendable {
        /// The bytes of a line, without its ending.
        case complete(Data)
        /// A line that is longer than the limit.
        case tooLong
    }

    /// The byte order mark, U+FEFF, in UTF-8.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let lineFeed: UInt8 = 0x0A
    private static let carriageReturn: UInt8 = 0x0D

    private let ending: Ending
    /// The maximum length of a line in bytes.
    private let limit: Int
    /// The beginning of the line whose ending has not been received.
    private var unfinishedLine = Data()
    /// Whether the unfinished line is the first of the stream, which may begin with a byte order mark.
    private var isFirstLine = true
    /// Whether the rest of a line that is too long is being skipped.
    private var isSkipping = false
    /// Whether the last piece ended with a carriage return that has ended a line. If the next piece begins with a line feed, the
    /// line feed belongs to the same line ending.
    private var ignoresNextLineFeed = false

    init(ending: Ending, limit: Int) {
        self.ending = ending
        self.limit = limit
    }

    /// Calls `body` with each line that `data` completes, in order.
    mutating func split(_ data: Data, _ body: (Line) -> Void) {
        var start = data.startIndex
        if ignoresNextLineFeed, let first = data.first {
            ignoresNextLineFeed = false
            if first == Self.lineFeed { start += 1 }
        }
        while start < data.endIndex {
            guard let end = firstLineEnd(in: data, from: start) else { return append(data[start...], body) }
            append(data[start..<end], body)
            endLine(body)
            start = end + 1
            if ending == .lineFeedOrReturn, data[end] == Self.carriageReturn {
                if start == data.endIndex {
                    ignoresNextLineFeed = true
                } else if data[start] == Self.lineFeed {
                    start += 1
                }
            }
        }
    }

    /// Ends the stream. If its last line has no line ending, calls `body` with that line.
    mutating func finish(_ body: (Line) -> Void) {
        if !unfinishedLine.isEmpty { endLine(body) }
        // A last line that is being skipped has been reported as too long.
        isSkipping = false
    }

    /// Returns the index of the first byte that ends a line.
    private func firstLineEnd(in data: Data, from start: Int) -> Int? {
        // The indices of a span begin at 0, those of the data at `offset`.
        let bytes = data.span
        let offset = data.startIndex
        let returnEndsLine = ending == .lineFeedOrReturn
        for index in (start - offset)..<bytes.count {
            let byte = bytes[index]
            if byte == Self.lineFeed || (returnEndsLine && byte == Self.carriageReturn) {
                return index + offset
            }
        }
        return nil
    }

    /// Appends `bytes` to the unfinished line. If the line becomes too long, calls `body` with `.tooLong` and skips the line.
    private mutating func append(_ bytes: Data, _ body: (Line) -> Void) {
        if isSkipping || bytes.isEmpty { return }
        let (length, overflows) = unfinishedLine.count.addingReportingOverflow(bytes.count)
        // A byte order mark does not count against the limit.
        let markLength = isFirstLine ? byteOrderMarkLength(unfinishedLine, bytes) : 0
        guard !overflows, length - markLength <= limit else {
            isSkipping = true
            unfinishedLine = Data()
            return body(.tooLong)
        }
        unfinishedLine.append(bytes)
    }

    /// Ends the unfinished line. Calls `body` with it, unless it is being skipped.
    private mutating func endLine(_ body: (Line) -> Void) {
        defer {
            isFirstLine = false
            isSkipping = false
            unfinishedLine.removeAll(keepingCapacity: true)
        }
        if isSkipping { return }
        var line = unfinishedLine
        if isFirstLine, line.starts(with: Self.byteOrderMark) {
            line = Data(line.dropFirst(Self.byteOrderMark.count))
        }
        body(.complete(line))
    }

    /// Returns the number of bytes at the beginning of the line that belong to a byte order mark, complete or partial.
    private func byteOrderMarkLength(_ unfinishedLine: Data, _ bytes: Data) -> Int {
        let start = Array((unfinishedLine.prefix(3) + bytes.prefix(3)).prefix(3))
        return Self.byteOrderMark.starts(with: start) ? start.count : 0
    }
}
