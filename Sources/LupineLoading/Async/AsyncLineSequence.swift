// SPDX-License-Identifier: MIT

private import Foundation

/// The lines of text in a sequence of bytes, read as UTF-8.
///
/// A line ends with LF, CR, CR LF, VT, FF, NEL, LS or PS, which are not part of it. Empty lines are left out, as in Apple's
/// sequence of this name. A line is collected in memory: one that is longer than the session's `collectedBodyLimit` (1 GiB for
/// bytes of another origin) ends the sequence with `URLError.dataLengthExceedsMaximum`.
public struct AsyncLineSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    public typealias Element = String

    private let base: Base

    init(_ base: Base) { self.base = base }

    /// An iterator over the lines.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base) }

    /// Collects bytes up to the end of a line.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// A line, without its end.
        public typealias Element = String

        private var bytes: Base.AsyncIterator
        private var line: [UInt8] = []
        private let limit: CollectedBodyLimit
        private let task: URLSessionDataTask?
        private var isOver = false

        init(_ base: Base) {
            bytes = base.makeAsyncIterator()
            let source = (base as? URLSession.AsyncBytes)?.source
            limit = source?.lines ?? .standard
            task = source?.task
        }

        /// The next line; nil at the end.
        ///
        /// - Throws: The errors of the bytes, and `URLError.dataLengthExceedsMaximum` for a line that is too long, after which
        ///   the sequence has ended.
        public mutating func next() async throws -> String? {
            while !isOver, let byte = try await bytes.next() {
                line.append(byte)
                guard let end = Self.lengthOfEnd(line) else {
                    if line.count - limit.bytes >= Self.longestEnd { try checkLength() }
                    continue
                }
                line.removeLast(end)
                try checkLength()
                if let text = take() { return text }
            }
            try checkLength()
            return take()
        }

        /// The maximum length of a line end. Its bytes do not count against the limit, and the last of them may not have
        /// arrived yet.
        private static var longestEnd: Int { 3 }

        private mutating func checkLength() throws {
            guard line.count > limit.bytes else { return }
            (isOver, line) = (true, [])
            throw limit.error(of: task?.currentRequest?.url)
        }

        private mutating func take() -> String? {
            if line.isEmpty { return nil }
            defer { line.removeAll(keepingCapacity: true) }
            return String(decoding: line, as: UTF8.self)
        }

        /// The length of the line end at the end of `line`; nil if there is none. CR LF is taken as two line ends, of which the
        /// second ends an empty line.
        private static func lengthOfEnd(_ line: [UInt8]) -> Int? {
            switch line.last {
            case 0x0A?, 0x0B?, 0x0C?, 0x0D?: return 1
            case 0x85? where line.count >= 2 && line[line.count - 2] == 0xC2: return 2
            case 0xA8? where line.suffix(3).starts(with: [0xE2, 0x80]): return 3
            case 0xA9? where line.suffix(3).starts(with: [0xE2, 0x80]): return 3
            default: return nil
            }
        }
    }
}

extension AsyncLineSequence: Sendable where Base: Sendable {}

extension AsyncSequence where Element == UInt8 {
    /// The lines of text in the bytes, read as UTF-8.
    public var lines: AsyncLineSequence<Self> { AsyncLineSequence(self) }
}
