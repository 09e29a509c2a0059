// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport

/// Reads an `InputStream` for a request's body. No other type of the module reads one.
///
/// A stream may block as long as its producer likes. Each stream is therefore read on a separate queue, never on an event loop.
/// One piece is read at a time, when the connection needs it. If the length is announced in `Content-Length`, the stream has to
/// end exactly there (U-7.4); otherwise the body is sent in chunks. If the request has to be sent again, the supplier is asked
/// for a new stream (U-7.5).
final class BodyStreamSource: ContentSource {
    /// Supplies a new stream, or nil for none. Calls `reply` once, on any thread.
    typealias Supplier = @Sendable (_ reply: @escaping @Sendable (BodyStream?) -> Void) -> Void

    /// A stream with its queue and its read position. A replaced stream that blocks does not delay the new one, and its bytes are
    /// not counted for the new one.
    private final class Reader: Sendable {
        let stream: BodyStream
        let queue = DispatchQueue(label: "lupine.body-stream")
        /// The number of bytes that were read.
        let bytesRead = Lock<Int64>(0)
        let failure = Lock<(any Error)?>(nil)

        init(_ stream: BodyStream) { self.stream = stream }

        func close() { queue.async { self.stream.value.close() } }
    }

    /// The reason why a stream cannot be sent as the body.
    enum Mismatch: Error, Hashable, Sendable, CustomStringConvertible {
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

    private let length: Int64?
    private let supplier: Supplier?
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

    /// The stream's error, or the `Mismatch`; nil if there was none.
    var failure: (any Error)? { current.failure.withLock { $0 } }

    private var current: Reader { reader.withLock { $0 } }

    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {
        let reader = current
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
                current.failure.withLock { $0 = Mismatch.noNewStream }
                return ready(false)
            }
            // The previous stream is released outside of the lock, because it may be of a class of the program's.
            var new = Reader(stream)
            reader.withLock { swap(&$0, &new) }
            ready(true)
        }
    }

    func abandon() { current.close() }

    // MARK: reading, on the stream's queue

    private func readPiece(_ reader: Reader) -> ContentPiece {
        assertNoLockIsHeld()
        assertNotOnLoop()
        let stream = reader.stream
        if stream.value.streamStatus == .notOpen { stream.value.open() }
        do {
            let bytes = try Self.read(stream.value, atMost: ContentCollector.pieceLimit)
            let total = reader.bytesRead.withLock { bytesRead in
                bytesRead += Int64(bytes.count)
                return bytesRead
            }
            if let length {
                if bytes.isEmpty, total < length { throw Mismatch.tooShort(announced: length, read: total) }
                // The connection requests no more than the announced length. The end of the stream is therefore checked here.
                if total == length, !bytes.isEmpty {
                    guard try Self.read(stream.value, atMost: 1).isEmpty else {
                        throw Mismatch.tooLong(announced: length)
                    }
                }
                if total > length { throw Mismatch.tooLong(announced: length) }
            }
            return bytes.isEmpty ? .end(trailers: Fields()) : .bytes(bytes)
        } catch {
            // The previous error is released outside of the lock.
            var failure: (any Error)? = error
            reader.failure.withLock { swap(&$0, &failure) }
            return .failed(String(describing: error))
        }
    }

    /// Reads up to `limit` bytes; returns none at the end of the stream.
    private static func read(_ stream: InputStream, atMost limit: Int) throws -> [UInt8] {
        var outcome = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            outcome = unsafe stream.read(start, maxLength: limit)
            count = max(0, min(outcome, limit))
        }
        guard outcome >= 0 else {
            // A stream that is closed or at its end has no error, and Foundation's streams trap when `streamError` is read then.
            switch stream.streamStatus {
            case .notOpen, .closed, .atEnd: throw Mismatch.unreadable
            default: throw stream.streamError ?? Mismatch.unreadable
            }
        }
        return bytes
    }
}
