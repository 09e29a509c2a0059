// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The order of what one end of a stream receives: interim heads, a head, content, trailers (RFC 9113 §8.1), and the
/// content held against `content-length` (§8.1.1).
///
/// A reader that has thrown is to be dropped with its stream.
package struct MessageReader: Sendable {
    /// What is being read.
    package enum Kind: Hashable, Sendable {
        case request
        /// The response to a request of that method.
        case response(to: Method)
    }

    /// What a header list turned out to be.
    package enum Part: Hashable, Sendable {
        indirect case request(ReceivedRequest)
        case interim(ResponseHead)
        case response(ResponseHead)
        case trailers(Fields)
    }

    /// What the content may be.
    private enum Content: Sendable {
        case any
        case length(Int64)
        /// There is none, whatever `content-length` says.
        case none
        /// A tunnel: octets, and nothing else.
        case tunnel
    }

    private enum State: Sendable {
        /// → content
        case head(interims: Int)
        /// → ended
        case content(Content, received: Int64)
        case ended
    }

    private var state = State.head(interims: 0)
    private let kind: Kind
    private let allowsProtocol: Bool
    private let interimLimit: Int

    /// A reader for one message. `allowsProtocol` says whether this end has allowed extended CONNECT.
    package init(
        _ kind: Kind, allowsProtocol: Bool = false, interimLimit: Int = ParserLimits().interimHeads
    ) {
        self.kind = kind
        self.allowsProtocol = allowsProtocol
        self.interimLimit = interimLimit
    }

    /// A header list came.
    package mutating func headers(_ list: HeaderList, endsStream: Bool) throws(MessageError) -> Part {
        switch state {
        case .head(let interims):
            let part = try head(list, interims, endsStream)
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

    /// How many octets of content may come now: as many as were announced, if so, and none where none may stand.
    package var contentRoom: Int {
        switch state {
        case .head, .ended, .content(.none, _): 0
        case .content(.any, _), .content(.tunnel, _): .max
        case .content(.length(let length), let received): Int(clamping: length &- received)
        }
    }

    /// So many octets of content came, without padding.
    package mutating func content(_ count: Int) throws(MessageError) {
        switch state {
        case .head, .ended:
            throw .misplacedContent
        case .content(let content, let received):
            // Nobody lives to see 2^63 octets.
            let received = received &+ Int64(count)
            switch content {
            case .none:
                guard count == 0 else { throw .unexpectedContent }
            case .length(let length):
                guard received <= length else {
                    throw .contentLengthMismatch(announced: length, received: received)
                }
            case .any, .tunnel: break
            }
            state = .content(content, received: received)
        }
    }

    /// The peer's side of the stream ended behind content.
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

    private mutating func head(
        _ list: HeaderList, _ interims: Int, _ endsStream: Bool
    ) throws(MessageError) -> Part {
        switch kind {
        case .request:
            let request = try MessageDecoder.request(list, allowsProtocol: allowsProtocol)
            let content: Content =
                request.head.method == .connect ? .tunnel : request.contentLength.map { .length($0) } ?? .any
            state = .content(content, received: 0)
            return .request(request)
        case .response(let method):
            let head = try MessageDecoder.response(list)
            guard head.status.kind == .informational else {
                state = .content(try content(of: head, to: method), received: 0)
                return .response(head)
            }
            if head.status.code == 101 { throw .switchingProtocols }
            if endsStream { throw .interimEndsStream }
            guard interims < interimLimit else { throw .tooManyInterimHeads(allowed: interimLimit) }
            state = .head(interims: interims &+ 1)
            return .interim(head)
        }
    }

    private func content(of head: ResponseHead, to method: Method) throws(MessageError) -> Content {
        // `content-length` means nothing in the answer that opens a tunnel (RFC 9110 §9.3.6).
        if method == .connect, head.status.kind == .successful { return .tunnel }
        let length = try FieldRule.contentLength(head.fields)
        if method == .head || head.status.code == 204 || head.status.code == 304 { return .none }
        return length.map { .length($0) } ?? .any
    }
}
