// SPDX-License-Identifier: MIT

extension URLSession {
    /// The bytes of a response as they arrive, made by `URLSession.bytes(for:)`.
    ///
    /// Reading stops while bytes wait to be taken. The transfer is cancelled when neither the sequence nor an iterator of it is
    /// held any more. It is meant to be iterated over once: all iterators take from the same bytes.
    public struct AsyncBytes: AsyncSequence, Sendable {
        public typealias Element = UInt8
        public typealias Failure = any Error

        @usableFromInline let source: ByteSource

        init(_ source: ByteSource) { self.source = source }

        /// The task whose content this is.
        public var task: URLSessionDataTask { source.task }

        /// An iterator over the bytes that have not been taken yet.
        @inlinable public func makeAsyncIterator() -> Iterator { Iterator(source) }

        /// Takes the bytes one by one from the piece that arrived last.
        public struct Iterator: AsyncIteratorProtocol {
            /// A byte.
            public typealias Element = UInt8
            public typealias Failure = any Error

            @usableFromInline var piece: [UInt8] = []
            @usableFromInline var position = 0
            @usableFromInline let source: ByteSource

            @inlinable
            init(_ source: ByteSource) { self.source = source }

            /// The next byte; nil at the end.
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

/// The state that a sequence of bytes and its iterators share. The transfer ends when it is released.
@usableFromInline
final class ByteSource: Sendable {
    let task: URLSessionDataTask
    /// The maximum length of a line.
    let lines: CollectedBodyLimit
    private let sink: ByteSink

    init(_ sink: ByteSink, _ task: URLSessionDataTask, lines: CollectedBodyLimit) {
        self.sink = sink
        self.task = task
        self.lines = lines
    }

    deinit { task.cancel() }

    /// The next bytes; nil at the end.
    func next() async throws -> [UInt8]? { try await sink.next(task) }
}
