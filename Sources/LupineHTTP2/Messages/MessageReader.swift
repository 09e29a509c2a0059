// SPDX-License-Identifier: MIT

package import LupineHTTP

/// Checks the order of the parts of a received message: interim heads, a head, content, trailers (RFC 9113 §8.1). It also
/// compares the length of the content with `content-length` (§8.1.1).
///
/// After an error, the owner resets the stream and discards the reader.
package struct MessageReader: Sendable {
    /// The kind of message to read.
    package enum Kind: Hashable, Sendable {
        case request
        /// The response to a request with the method.
        case response(to: Method)
    }

    /// The part of the message that a header list contains.
    package enum Part: Hashable, Sendable {
        indirect case request(ReceivedRequest)
        case interim(ResponseHead)
        case response(ResponseHead)
        case trailers(Fields)
    }

    /// The content that the message may have.
    private enum Content: Sendable {
        /// Content of any length.
        case any
        /// As many octets as `content-length` announces.
        case length(Int64)
        /// None, even if `content-length` announces some.
        case none
        /// The stream is a tunnel: it carries octets, but no trailers.
        case tunnel
    }

    /// The part of the message that comes next. After an arrow: the states that may follow.
    private enum State: Sendable {
        /// The head, after a number of interim heads. → content
        case head(interimCount: Int)
        /// Content, of which a number of octets were received; or trailers. → ended
        case content(Content, received: Int64)
        case ended
    }

    private var state = State.head(interimCount: 0)
    private let kind: Kind
    private let allowsProtocol: Bool
    private let interimLimit: Int

    /// Creates a reader for one message. `allowsProtocol` says whether this endpoint has allowed extended CONNECT.
    package init(
        _ kind: Kind, allowsProtocol: Bool = false, interimLimit: Int = ParserLimits().interimHeads
    ) {
        self.kind = kind
        self.allowsProtocol = allowsProtocol
        self.interimLimit = interimLimit
    }

    /// Processes a header list, and returns the part of the message that it contains.
    package mutating func readHeaders(_ list: HeaderList, endsStream: Bool) throws(MessageError) -> Part {
        switch state {
        case .head(let interimCount):
            let part = try readHead(list, interimCount, endsStream)
            if endsStream { try end() }
            return part
        case .content(.tunnel, _), .ended:
            throw .misplacedHeaders
        case .content:
            guard endsStream else { throw .trailersWithoutEnd }
            let trailers = try MessageDecoder.trailers(list)
            try end()
            return .trailers(trailers)
        }
    }

    /// The number of octets of content that the message may still have: the rest of the announced length, or 0 if content is not
    /// allowed now.
    package var contentRoom: Int {
        switch state {
        case .head, .ended, .content(.none, _): 0
        case .content(.any, _), .content(.tunnel, _): .max
        case .content(.length(let length), let received): Int(clamping: length &- received)
        }
    }

    /// Processes `count` octets of content, without padding. Throws if the message may not have them. With a `count` of 0, it
    /// throws only if content may not come now, before the head or after the end.
    package mutating func readContent(_ count: Int) throws(MessageError) {
        switch state {
        case .head, .ended:
            throw .misplacedContent
        case .content(let content, let received):
            // No connection lives long enough for 2^63 octets, so the sum cannot overflow.
            let newReceived = received &+ Int64(count)
            switch content {
            case .none:
                guard count == 0 else { throw .unexpectedContent }
            case .length(let length):
                guard newReceived <= length else {
                    throw .contentLengthMismatch(announced: length, received: newReceived)
                }
            case .any, .tunnel: break
            }
            state = .content(content, received: newReceived)
        }
    }

    /// Ends the message, because the peer ended its side of the stream. Throws if the head or some of the content is missing.
    package mutating func end() throws(MessageError) {
        switch state {
        case .head, .ended:
            throw .endWithoutHead
        case .content(.length(let length), let received):
            guard received == length else {
                throw .contentLengthMismatch(announced: length, received: received)
            }
            state = .ended
        case .content:
            state = .ended
        }
    }

    /// Processes a head, which may be an interim one.
    private mutating func readHead(
        _ list: HeaderList, _ interimCount: Int, _ endsStream: Bool
    ) throws(MessageError) -> Part {
        switch kind {
        case .request:
            let request = try MessageDecoder.request(list, allowsProtocol: allowsProtocol)
            let content: Content
            if request.head.method == .connect {
                // An extended CONNECT opens a tunnel, too.
                content = .tunnel
            } else {
                content = request.contentLength.map { .length($0) } ?? .any
            }
            state = .content(content, received: 0)
            return .request(request)
        case .response(let method):
            let head = try MessageDecoder.response(list)
            guard head.status.kind == .informational else {
                state = .content(try expectedContent(of: head, to: method), received: 0)
                return .response(head)
            }
            if head.status.code == 101 { throw .switchingProtocols }
            if endsStream { throw .interimEndsStream }
            guard interimCount < interimLimit else { throw .tooManyInterimHeads(allowed: interimLimit) }
            state = .head(interimCount: interimCount &+ 1)
            return .interim(head)
        }
    }

    /// Returns the content that may follow the final head of a response to a request with this method.
    private func expectedContent(
        of head: ResponseHead, to method: Method
    ) throws(MessageError) -> Content {
        // `content-length` is ignored in the response that opens a tunnel (RFC 9110 §9.3.6).
        if method == .connect, head.status.kind == .successful { return .tunnel }
        // The length is read before the next check, because an invalid one is an error even if no content may follow.
        let length = try FieldRule.contentLength(head.fields)
        if method == .head || head.status.code == 204 || head.status.code == 304 { return .none }
        return length.map { .length($0) } ?? .any
    }
}
