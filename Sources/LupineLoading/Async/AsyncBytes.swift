// SPDX-License-Identifier: MIT

extension URLSession {
    /// The bytes of a response as they arrive, returned by `URLSession.bytes(for:)`.
    ///
    /// The transfer pauses while many bytes are buffered, and is cancelled when the sequence and all of its iterators are
    /// deallocated. Iterate over the sequence once: all iterators consume the same bytes.
    public struct AsyncBytes: AsyncSequence, Sendable {
        public typealias Element = UInt8
        public typealias Failure = any Error

        @usableFromInline let source: ByteSource

        init(_ source: ByteSource) { self.source = source }

        /// The task that loads the bytes.
        public var task: URLSessionDataTask { source.task }

        /// Returns an iterator over the bytes that no iterator has returned yet.
        @inlinable public func makeAsyncIterator() -> Iterator { Iterator(source) }

        /// Returns the bytes one by one.
        public struct Iterator: AsyncIteratorProtocol {
            /// A byte.
            public typealias Element = UInt8
            public typealias Failure = any Error

            /// The bytes that the source has returned last.
            @usableFromInline var piece: [UInt8] = []
            /// The index in `piece` of the next byte to return.
            @usableFromInline var position = 0
            @usableFromInline let source: ByteSource

            @inlinable
            init(_ source: ByteSource) { self.source = source }

            /// Returns the next byte; nil at the end.
            ///
            /// - Throws: The error that the task completed with.
            @inlinable @inline(__always)
            public mutating func next() async throws -> UInt8? {
                if position < piece.count {
                    defer { position &+= 1 }
                    return piece[position]
                }
                return try await nextPiece()
            }

            /// Loads the next piece and returns its first byte; nil at the end. A separate method, so that `next()` stays small
            /// enough for inlining.
            @usableFromInline
            mutating func nextPiece() async throws -> UInt8? {
                guard let next = try await source.next(), let first = next.first else {
                    (piece, position) = ([], 0)
                    return nil
                }
                (piece, position) = (next, 1)
                return first
            }
        }
    }
}

/// The source of the bytes, which a sequence and its iterators share. It is deallocated together with the last of them, and then
/// cancels the task.
@usableFromInline
final class ByteSource: Sendable {
    let task: URLSessionDataTask
    /// The maximum length of a line in `AsyncBytes.lines`.
    let lineLimit: CollectedBodyLimit
    private let sink: ByteSink

    init(_ sink: ByteSink, _ task: URLSessionDataTask, lineLimit: CollectedBodyLimit) {
        self.sink = sink
        self.task = task
        self.lineLimit = lineLimit
    }

    deinit { task.cancel() }

    /// Waits for the next bytes and returns them; nil at the end.
    func next() async throws -> [UInt8]? { try await sink.next(task) }
}
