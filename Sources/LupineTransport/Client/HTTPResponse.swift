// SPDX-License-Identifier: MIT

public import LupineHTTP

/// A response whose head has arrived; its body is received as it is read.
public struct HTTPResponse: Sendable {
    /// The head.
    public let head: ResponseHead
    /// The content; can be read once.
    public let body: ResponseBody
    /// The URL of the request that got this response; differs from the original URL after redirects.
    public let url: TransportURL

    /// The status code and its class.
    public var status: Status { head.status }
    /// The fields of the head.
    public var fields: Fields { head.fields }
}

/// The content of a response, as a sequence of pieces that are received no faster than the program reads them.
///
/// While no piece is requested, the connection reads little ahead (about 256 KiB) and then pauses. Releasing the body, or
/// cancelling the task that reads it, ends the exchange. The body can be iterated once, by one task at a time: a second task that
/// waits for a piece gets `TransportError.unsupported`.
public struct ResponseBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = TransportError

    /// Shared by the copies of the body and their iterators.
    fileprivate let handle: Handle

    init(_ sink: ResponseSink) { handle = Handle(sink) }

    /// Ends the exchange when the last copy of the body and the last iterator are released.
    fileprivate final class Handle: Sendable {
        let sink: ResponseSink
        init(_ sink: ResponseSink) { self.sink = sink }
        deinit { sink.abandon() }
    }

    /// The iterator over the pieces.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let handle: Handle

        /// Returns the next piece, or nil at the end. Throws the error that ended the body early.
        public mutating func next() async throws(TransportError) -> [UInt8]? { try await handle.sink.next() }

        /// Returns the next piece, with the caller's isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(TransportError)
            -> [UInt8]?
        {
            try await handle.sink.next()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(handle: handle) }

    /// The time of each step of the exchange and the octets it moved; nil until the body has ended.
    public var metrics: TransferMetrics? { handle.sink.metrics }

    /// Reads the whole body into memory. Beyond `limit` bytes, ends the exchange and throws `TransportError.contentTooLong`.
    public func collect(upTo limit: Int = 1 << 30) async throws(TransportError) -> [UInt8] {
        var whole: [UInt8] = []
        while let piece = try await handle.sink.next() {
            guard piece.count <= limit - whole.count else {
                handle.sink.abandon()
                throw .contentTooLong(limit: limit)
            }
            if whole.isEmpty { whole = piece } else { whole += piece }
        }
        return whole
    }

    /// Reads the whole body as UTF-8; invalid sequences are replaced by U+FFFD. `limit` is that of `collect(upTo:)`.
    public func text(upTo limit: Int = 1 << 30) async throws(TransportError) -> String {
        String(decoding: try await collect(upTo: limit), as: UTF8.self)
    }

    /// Discards the rest of the body of a redirect.
    func discard() async { await handle.sink.discard() }
}
