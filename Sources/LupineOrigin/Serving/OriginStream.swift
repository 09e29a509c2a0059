// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineHTTP2

/// A request on an HTTP/2 stream, and its response. Used by its `HTTP2Conversation` only.
final class OriginStream {
    /// The state of the request.
    enum RequestState {
        case body(any BodySink)
        case discarding
        case ended
    }

    /// The state of the response.
    enum ResponseState {
        case none
        /// The response waits for its delay or its gate.
        case delayed(OriginResponse)
        /// The head has been sent; `content` follows, and then the content of the producer, if there is one.
        case streaming(Producer?)
        /// A streamed response pauses between two pieces.
        case paused(Producer)
        case sent
    }

    typealias Producer = (inout [UInt8], Int) -> OriginResponse.Continuation

    let id: StreamID
    let method: Method
    var requestState = RequestState.discarding
    var responseState = ResponseState.none
    /// The content to send.
    var content: [UInt8] = []
    /// The number of octets of `content` that have been sent.
    var contentStart = 0
    /// The urgency that the client requested.
    var urgency = Urgency.normal
    /// Whether the stream is in the queue of senders.
    var isQueued = false
    /// The script that the stream follows instead of an answer.
    var scriptProgress: StreamScriptProgress?
    /// The web socket that the stream carries.
    var webSocket: StreamTransport?
    /// The trailers, perhaps empty, that end the stream after `content`; nil while more content may follow.
    var trailers: Fields?

    init(_ id: StreamID, _ method: Method) {
        self.id = id
        self.method = method
    }

    /// Whether the stream may wait for something other than the client, so that the idle timeout does not apply.
    var isWaiting: Bool {
        if scriptProgress != nil || webSocket != nil { return true }
        return switch responseState {
        case .delayed, .paused: true
        case .none, .streaming, .sent: false
        }
    }
}
