// SPDX-License-Identifier: MIT

private import Foundation

/// The lines of text in a sequence of bytes, read as UTF-8.
///
/// A line ends with LF, CR, CR LF, VT, FF, NEL, LS or PS, which are not part of the line. The sequence omits empty lines, as
/// Apple's sequence of this name does. It collects each line in memory, and throws `URLError.dataLengthExceedsMaximum` for a line
/// that is longer than the session's `collectedBodyLimit`. For bytes that no session has loaded, the limit is 1 GiB.
public struct AsyncLineSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    public typealias Element = String

    private let base: Base

    init(_ base: Base) { self.base = base }

    /// Returns an iterator over the lines.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base) }

    /// Collects bytes up to the end of a line.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// A line, without its end.
        public typealias Element = String

        private var bytes: Base.AsyncIterator
        /// The bytes of the current line so far.
        private var line: [UInt8] = []
        /// The maximum length of a line.
        private let limit: CollectedBodyLimit
        /// The task that loads the bytes; nil if no session loads them.
        private let task: URLSessionDataTask?
        /// Whether the sequence has ended because a line was too long.
        private var hasEnded = false

        init(_ base: Base) {
            bytes = base.makeAsyncIterator()
            let source = (base as? URLSession.AsyncBytes)?.source
            limit = source?.lineLimit ?? .standard
            task = source?.task
        }

        /// Returns the next line; nil at the end.
        ///
        /// - Throws: The error of the sequence of bytes, or `URLError.dataLengthExceedsMaximum` for a line that is too long.
        ///   A line that is too long ends the sequence.
        public mutating func next() async throws -> String? {
            while !hasEnded, let byte = try await bytes.next() {
                line.append(byte)
                guard let endLength = Self.lineEndLength(line) else {
                    if line.count - limit.bytes >= Self.maxLineEndLength { try checkLength() }
                    continue
                }
                line.removeLast(endLength)
                try checkLength()
                if let text = takeLine() { return text }
            }
            try checkLength()
            return takeLine()
        }

        /// The length of the longest line end in bytes. The bytes of the line end do not count against the limit, so a collected
        /// line may exceed the limit by fewer than this number of bytes.
        private static var maxLineEndLength: Int { 3 }

        /// Throws and ends the sequence if the collected line is too long.
        private mutating func checkLength() throws {
            guard line.count > limit.bytes else { return }
            (hasEnded, line) = (true, [])
            throw limit.error(of: task?.currentRequest?.url)
        }

        /// Returns the collected line, or nil if it is empty, and begins the next line.
        private mutating func takeLine() -> String? {
            if line.isEmpty { return nil }
            defer { line.removeAll(keepingCapacity: true) }
            return String(decoding: line, as: UTF8.self)
        }

        /// Returns the length of the line end at the end of `line`; nil if there is none. CR LF counts as two line ends: the
        /// second one ends an empty line, which the sequence omits.
        private static func lineEndLength(_ line: [UInt8]) -> Int? {
            switch line.last {
            // LF, VT, FF and CR.
            case 0x0A?, 0x0B?, 0x0C?, 0x0D?: return 1
            // The UTF-8 forms of NEL (C2 85), LS (E2 80 A8) and PS (E2 80 A9).
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
