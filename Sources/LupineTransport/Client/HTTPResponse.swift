// SPDX-License-Identifier: MIT

public import LupineHTTP

/// A response whose head has come; its body comes as it is read.
public struct HTTPResponse: Sendable {
    /// The head.
    public let head: ResponseHead
    /// The content; to be read once.
    public let body: ResponseBody
    /// What answered: differs from the request's after redirects.
    public let url: TransportURL

    /// The status code and its class.
    public var status: Status { head.status }
    /// The fields of the head.
    public var fields: Fields { head.fields }
}

/// The content of a response: pieces as they come, no faster than they are taken.
///
/// While nobody asks for the next piece, the connection is not read from. Dropping the body, or cancelling the task
/// that reads it, ends the exchange. It can be iterated once.
public struct ResponseBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = TransportError

    fileprivate let handle: Handle

    init(_ inlet: BodyInlet) { handle = Handle(inlet) }

    /// Cancels the exchange when the last copy of the body, and its iterator, are gone.
    fileprivate final class Handle: Sendable {
        let inlet: BodyInlet
        init(_ inlet: BodyInlet) { self.inlet = inlet }
        deinit { inlet.abandon() }
    }

    /// Takes the pieces.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let handle: Handle

        /// The next piece, or nil at the end. Throws what cut the body short.
        public mutating func next() async throws(TransportError) -> [UInt8]? { try await handle.inlet.next() }

        /// The same, whatever the caller's isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(TransportError)
            -> [UInt8]?
        {
            try await handle.inlet.next()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(handle: handle) }

    /// When each step of the exchange happened and what it moved; nil until the body has come to its end.
    public var metrics: TransferMetrics? { handle.inlet.metrics }

    /// Reads the whole body into memory. Throws `TransportError.contentTooLong` beyond `limit`.
    public func collect(upTo limit: Int = 1 << 30) async throws(TransportError) -> [UInt8] {
        var whole: [UInt8] = []
        while let piece = try await handle.inlet.next() {
            guard piece.count <= limit - whole.count else {
                handle.inlet.abandon()
                throw .contentTooLong(limit: limit)
            }
            if whole.isEmpty { whole = piece } else { whole += piece }
        }
        return whole
    }

    /// Reads the whole body as UTF-8; what is none is replaced by U+FFFD.
    public func text(upTo limit: Int = 1 << 30) async throws(TransportError) -> String {
        String(decoding: try await collect(upTo: limit), as: UTF8.self)
    }

    /// Takes no more of it.
    func discard() async { await handle.inlet.discard() }
}
