// SPDX-License-Identifier: MIT

import Foundation

/// Splits a stream into lines, independent of how it is divided into chunks. Does not interpret the lines.
///
/// A line longer than the limit is reported once, as soon as the limit is exceeded, and then skipped to its end: a peer that
/// never ends a line cannot use more memory than the limit. A byte order mark at the beginning of the stream is dropped.
struct LineSplitter: Sendable {
    /// The characters that end a line.
    enum Ending: Sendable {
        /// A line feed.
        case feed
        /// A line feed, a carriage return, or a carriage return followed by a line feed.
        case feedOrReturn
    }

    /// A parsed line.
    enum Piece: Equatable, Sendable {
        /// A line without its ending.
        case line(Data)
        /// A line that is longer than the limit.
        case tooLong
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let feed: UInt8 = 0x0A
    private static let carriageReturn: UInt8 = 0x0D

    private let ending: Ending
    private let limit: Int
    /// The beginning of the line whose ending has not been received.
    private var begun = Data()
    private var isFirstLine = true
    private var isSkipping = false
    /// Whether the last line ended with a carriage return; a following line feed then belongs to it.
    private var followsReturn = false

    init(ending: Ending, limit: Int) {
        self.ending = ending
        self.limit = limit
    }

    /// Passes the lines that `data` completes to `take`, in order.
    mutating func split(_ data: Data, _ take: (Piece) -> Void) {
        var start = data.startIndex
        if followsReturn, let first = data.first {
            followsReturn = false
            if first == Self.feed { start += 1 }
        }
        while start < data.endIndex {
            guard let end = firstEnd(in: data, from: start) else { return hold(data[start...], take) }
            hold(data[start..<end], take)
            endLine(take)
            start = end + 1
            if ending == .feedOrReturn, data[end] == Self.carriageReturn {
                if start == data.endIndex {
                    followsReturn = true
                } else if data[start] == Self.feed {
                    start += 1
                }
            }
        }
    }

    /// Passes the last line to `take`, which is ended by the end of the stream.
    mutating func finish(_ take: (Piece) -> Void) {
        if !begun.isEmpty { endLine(take) }
        isSkipping = false
    }

    private func firstEnd(in data: Data, from start: Int) -> Int? {
        let bytes = data.span
        let offset = data.startIndex
        let takesReturn = ending == .feedOrReturn
        for index in (start - offset)..<bytes.count {
            let byte = bytes[index]
            if byte == Self.feed || (takesReturn && byte == Self.carriageReturn) { return index + offset }
        }
        return nil
    }

    /// Appends to the unfinished line, unless it exceeds the limit.
    private mutating func hold(_ part: Data, _ take: (Piece) -> Void) {
        if isSkipping || part.isEmpty { return }
        let (length, overflows) = begun.count.addingReportingOverflow(part.count)
        let allowance = isFirstLine ? markLength(begun, part) : 0
        guard !overflows, length - allowance <= limit else {
            isSkipping = true
            begun = Data()
            return take(.tooLong)
        }
        begun.append(part)
    }

    private mutating func endLine(_ take: (Piece) -> Void) {
        defer {
            isFirstLine = false
            isSkipping = false
            begun.removeAll(keepingCapacity: true)
        }
        if isSkipping { return }
        let line =
            isFirstLine && begun.starts(with: Self.mark) ? Data(begun.dropFirst(Self.mark.count)) : begun
        take(.line(line))
    }

    /// Returns the number of bytes at the beginning of the line that belong to a byte order mark, complete or partial.
    private func markLength(_ begun: Data, _ part: Data) -> Int {
        let start = Array((begun.prefix(3) + part.prefix(3)).prefix(3))
        return Self.mark.starts(with: start) ? start.count : 0
    }
}
