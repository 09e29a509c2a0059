// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineHTTP2

/// One request on a stream of a client's connection, and its response. It belongs to its `HTTP2Conversation`.
final class OriginStream {
    /// The state of the request.
    enum Intake {
        case body(any BodySink)
        case discarding
        case ended
    }

    /// The state of the response.
    enum Reply {
        case none
        /// Waits for its delay or its gate.
        case held(OriginResponse)
        /// The head is sent; `content` follows, then the output of the producer, if any.
        case streaming(Producer?)
        /// A streamed response that waits between two pieces.
        case resting(Producer)
        case sent
    }

    typealias Producer = (inout [UInt8], Int) -> OriginResponse.Continuation

    let id: StreamID
    let method: Method
    var intake = Intake.discarding
    var reply = Reply.none
    /// Content to send, and how much of it has been sent.
    var content: [UInt8] = []
    var contentStart = 0
    /// The urgency that the client has requested.
    var urgency = Urgency.normal
    /// Whether the stream is queued for sending.
    var isQueued = false
    /// The script that the stream follows instead of answering.
    var walk: StreamWalk?
    /// The web socket that the stream has become.
    var socket: StreamWire?
    /// The trailers; set once no more content follows.
    var trailers: Fields?

    init(_ id: StreamID, _ method: Method) {
        self.id = id
        self.method = method
    }

    /// Whether it waits for something other than the client.
    var isWaiting: Bool {
        if walk != nil || socket != nil { return true }
        return switch reply {
        case .held, .resting: true
        case .none, .streaming, .sent: false
        }
    }
}
