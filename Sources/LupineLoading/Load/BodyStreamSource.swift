// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport

/// Reads an `InputStream` for a request's body. No other type of the module reads one.
///
/// A stream may block for as long as its producer likes, so it is read on a queue of its own, never on a loop. One piece is
/// read at a time, when the connection asks for it. With an announced length, the stream has to end exactly there (U-7.4);
/// without one the body is sent in chunks. If there is a supplier, it is asked for a new stream when the request is sent again
/// (U-7.5).
final class BodyStreamSource: ContentSource {
    /// Asks for a stream. `reply` is called once, on any thread.
    typealias Supplier = @Sendable (_ reply: @escaping @Sendable (BodyStream?) -> Void) -> Void

    /// A stream and its read position. Each has its own queue, so that a stream that blocks does not delay the one that
    /// replaces it. Bytes that are still read from a replaced stream are not counted for the new one.
    private final class Reader: Sendable {
        let stream: BodyStream
        let queue = DispatchQueue(label: "lupine.body-stream")
        let read = Lock<Int64>(0)
        let failure = Lock<(any Error)?>(nil)

        init(_ stream: BodyStream) { self.stream = stream }

        func close() { queue.async { self.stream.value.close() } }
    }

    /// How the body differs from what was announced.
    enum Mismatch: Error, Hashable, Sendable, CustomStringConvertible {
        case endsEarly(announced: Int64, read: Int64)
        case goesOn(announced: Int64)
        case unreadable
        /// The body had to be sent again, and no new stream was supplied.
        case refused

        var description: String {
            switch self {
            case .endsEarly(let announced, let read):
                "the body stream ended after \(read) of \(announced) announced bytes"
            case .goesOn(let announced): "the body stream has more than the \(announced) announced bytes"
            case .unreadable: "the body stream cannot be read"
            case .refused: "there was no body stream to send again"
            }
        }
    }

    private let length: Int64?
    private let supplier: Supplier?
    private let reader: Lock<Reader>

    /// A body of `length` bytes; with nil, of as many as the stream has.
    init(_ stream: BodyStream, length: Int64?, supplier: Supplier? = nil) {
        self.length = length
        self.supplier = supplier
        reader = Lock(Reader(stream))
    }

    /// The stream's error, or how the stream differs from its announced length.
    var failure: (any Error)? { current.failure.withLock { $0 } }

    private var current: Reader { reader.withLock { $0 } }

    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {
        let reader = current
        reader.queue.async { reply(self.readPiece(reader)) }
    }

    var isReplayable: Bool { supplier != nil }

    func rewind() -> Bool { false }

    func rewind(_ ready: @escaping @Sendable (Bool) -> Void) {
        guard let supplier else { return ready(false) }
        abandon()
        supplier { [self] stream in
            guard let stream else {
                current.failure.withLock { $0 = Mismatch.refused }
                return ready(false)
            }
            // The previous stream is released outside of the lock: it may be of a class of the program's.
            var new = Reader(stream)
            reader.withLock { swap(&$0, &new) }
            ready(true)
        }
    }

    func abandon() { current.close() }

    // MARK: on the queue

    private func readPiece(_ reader: Reader) -> ContentPiece {
        assertNoLockIsHeld()
        assertNotOnLoop()
        let stream = reader.stream
        if stream.value.streamStatus == .notOpen { stream.value.open() }
        do {
            let bytes = try Self.read(stream.value, atMost: ContentCollector.pieceLimit)
            let total = reader.read.withLock { read in
                read += Int64(bytes.count)
                return read
            }
            if let length {
                if bytes.isEmpty, total < length { throw Mismatch.endsEarly(announced: length, read: total) }
                // The connection asks for no more than the announced length, so the end of the stream is checked here.
                if total == length, !bytes.isEmpty {
                    guard try Self.read(stream.value, atMost: 1).isEmpty else {
                        throw Mismatch.goesOn(announced: length)
                    }
                }
                if total > length { throw Mismatch.goesOn(announced: length) }
            }
            return bytes.isEmpty ? .end(trailers: Fields()) : .bytes(bytes)
        } catch {
            var failure: (any Error)? = error
            reader.failure.withLock { swap(&$0, &failure) }
            return .failed(String(describing: error))
        }
    }

    private static func read(_ stream: InputStream, atMost limit: Int) throws -> [UInt8] {
        var outcome = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            outcome = unsafe stream.read(start, maxLength: limit)
            count = max(0, min(outcome, limit))
        }
        guard outcome >= 0 else {
            // A stream that is closed or was already at its end has no error, and Foundation's streams trap when asked for one.
            switch stream.streamStatus {
            case .notOpen, .closed, .atEnd: throw Mismatch.unreadable
            default: throw stream.streamError ?? Mismatch.unreadable
            }
        }
        return bytes
    }
}
