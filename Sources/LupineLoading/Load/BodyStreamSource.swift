// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport

/// Supplies the body of a request to the connection by reading an `InputStream`. Only this type of the module reads input
/// streams.
///
/// A read may block until the stream's producer has written. Each stream is therefore read on a queue of its own, never on an
/// event loop. The source reads one piece at a time, when the connection needs it. If `Content-Length` announces the length, the
/// stream has to end after exactly as many bytes (U-7.4); otherwise the body is sent in chunks. If the request has to be sent
/// again, the source asks its supplier for a new stream (U-7.5).
final class BodyStreamSource: ContentSource {
    /// Supplies a new stream, or nil for none. Calls `reply` once, on any thread.
    typealias Supplier = @Sendable (_ reply: @escaping @Sendable (BodyStream?) -> Void) -> Void

    /// A stream with its queue and the number of bytes read. Each stream has its own: a replaced stream that still blocks does
    /// not delay the new one, and its bytes are not counted for the new one.
    private final class Reader: Sendable {
        let stream: BodyStream
        let queue = DispatchQueue(label: "lupine.body-stream")
        /// The number of bytes that were read.
        let bytesRead = Lock<Int64>(0)
        /// The error that reading has ended with; nil if there was none.
        let failure = Lock<(any Error)?>(nil)

        init(_ stream: BodyStream) { self.stream = stream }

        /// Closes the stream, after a read that is in progress.
        func close() { queue.async { self.stream.value.close() } }
    }

    /// The reason why a stream cannot be sent as the body.
    enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        case tooShort(announced: Int64, read: Int64)
        case tooLong(announced: Int64)
        case unreadable
        /// The body had to be sent again, and no new stream was supplied.
        case noNewStream

        var description: String {
            switch self {
            case .tooShort(let announced, let read):
                "the body stream ended after \(read) of \(announced) announced bytes"
            case .tooLong(let announced): "the body stream has more than the \(announced) announced bytes"
            case .unreadable: "the body stream cannot be read"
            case .noNewStream: "there was no body stream to send again"
            }
        }
    }

    /// The announced length; nil if unknown.
    private let length: Int64?
    private let supplier: Supplier?
    /// The reader of the current stream.
    private let reader: Lock<Reader>

    /// Creates a source of a body.
    ///
    /// - Parameters:
    ///   - stream: The stream.
    ///   - length: The announced length; nil if unknown.
    ///   - supplier: Supplies a new stream if the body has to be sent again; nil if it cannot be sent again.
    init(_ stream: BodyStream, length: Int64?, supplier: Supplier? = nil) {
        self.length = length
        self.supplier = supplier
        reader = Lock(Reader(stream))
    }

    /// The error of the current stream: its own error, or a `Failure`. Nil if there was none.
    var failure: (any Error)? { currentReader.failure.withLock { $0 } }

    private var currentReader: Reader { reader.withLock { $0 } }

    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {
        let reader = currentReader
        reader.queue.async { reply(self.readPiece(reader)) }
    }

    var isReplayable: Bool { supplier != nil }

    /// False: a new stream is supplied asynchronously, by `rewind(_:)`.
    func rewind() -> Bool { false }

    func rewind(_ ready: @escaping @Sendable (Bool) -> Void) {
        guard let supplier else { return ready(false) }
        abandon()
        supplier { [self] stream in
            guard let stream else {
                currentReader.failure.withLock { $0 = Failure.noNewStream }
                return ready(false)
            }
            // The previous stream is released outside of the lock, because its class may be one of the program's.
            var newReader = Reader(stream)
            reader.withLock { swap(&$0, &newReader) }
            ready(true)
        }
    }

    func abandon() { currentReader.close() }

    // MARK: reading, on the stream's queue

    /// Reads the next piece, and checks the number of bytes read against the announced length. Blocks as long as the stream does.
    private func readPiece(_ reader: Reader) -> ContentPiece {
        assertNoLockIsHeld()
        assertNotOnLoop()
        let stream = reader.stream
        if stream.value.streamStatus == .notOpen { stream.value.open() }
        do {
            let bytes = try Self.read(stream.value, atMost: ContentCollector.pieceLimit)
            let totalRead = reader.bytesRead.withLock { bytesRead in
                bytesRead += Int64(bytes.count)
                return bytesRead
            }
            if let length {
                let hasEnded = bytes.isEmpty
                if hasEnded, totalRead < length {
                    throw Failure.tooShort(announced: length, read: totalRead)
                }
                // After the announced length, the connection asks for no more pieces. The end of the stream is therefore checked
                // together with the last piece.
                if totalRead == length, !hasEnded {
                    guard try Self.read(stream.value, atMost: 1).isEmpty else {
                        throw Failure.tooLong(announced: length)
                    }
                }
                if totalRead > length { throw Failure.tooLong(announced: length) }
            }
            return bytes.isEmpty ? .end(trailers: Fields()) : .bytes(bytes)
        } catch {
            // The previous error is released outside of the lock.
            var failure: (any Error)? = error
            reader.failure.withLock { swap(&$0, &failure) }
            return .failed(String(describing: error))
        }
    }

    /// Reads up to `limit` bytes. Returns an empty array at the end of the stream.
    private static func read(_ stream: InputStream, atMost limit: Int) throws -> [UInt8] {
        // The result of `InputStream.read`: the number of bytes read, 0 at the end, or negative after an error.
        var readCount = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            readCount = unsafe stream.read(start, maxLength: limit)
            // A subclass of the program may return any number.
            count = max(0, min(readCount, limit))
        }
        guard readCount >= 0 else {
            // A stream that is closed or at its end has no error. Reading `streamError` of Foundation's streams would trap then.
            switch stream.streamStatus {
            case .notOpen, .closed, .atEnd: throw Failure.unreadable
            default: throw stream.streamError ?? Failure.unreadable
            }
        }
        return bytes
    }
}
