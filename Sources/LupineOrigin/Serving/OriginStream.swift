// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineHTTP2

/// A request on an HTTP/2 stream, and its response. Used by its `HTTP2Conversation` only.
final class OriginStream {
    /// The state of the request.
    enum RequestState {
        /// The sink receives the body.
        case body(any BodySink)
        /// The rest of the body is dropped, or a script or a web socket receives it.
        case discardingBody
        /// The whole request has arrived.
        case ended
    }

    /// The state of the response.
    enum ResponseState {
        case notBegun
        /// The response waits for its delay or its gate.
        case delayed(OriginResponse)
        /// The head has been sent; `content` follows, and then the content of the producer, if there is one.
        case streaming(Producer?)
        /// The producer of a streamed response waits before its next piece.
        case paused(Producer)
        /// The whole response has been sent.
        case sent
    }

    /// Appends the next piece of a streamed response, as in `OriginResponse.Body.stream`.
    typealias Producer = (_ piece: inout [UInt8], _ room: Int) -> OriginResponse.Continuation

    let id: StreamID
    let method: Method
    var requestState = RequestState.discardingBody
    var responseState = ResponseState.notBegun
    /// The content to send, as far as it has been produced.
    var content: [UInt8] = []
    /// The number of octets of `content` that have been sent.
    var contentStart = 0
    /// The urgency that the client requested.
    var urgency = Urgency.normal
    /// Whether the stream is in the queue of senders.
    var isQueued = false
    /// The progress of the script that the stream follows; nil if its request is answered.
    var scriptProgress: StreamScriptProgress?
    /// The web socket that the stream carries; nil if it carries a response.
    var webSocket: StreamTransport?
    /// The trailers, perhaps empty, that end the stream after `content`; nil while more content may follow.
    var trailers: Fields?

    init(_ id: StreamID, _ method: Method) {
        self.id = id
        self.method = method
    }

    /// Whether the stream has content that has not been sent, or trailers.
    var hasContentOrTrailers: Bool { !content.isEmpty || trailers != nil }

    /// Whether the stream may wait for an event other than the client's, so that no idle timeout applies.
    var isWaiting: Bool {
        if scriptProgress != nil || webSocket != nil { return true }
        return switch responseState {
        case .delayed, .paused: true
        case .notBegun, .streaming, .sent: false
        }
    }
}
