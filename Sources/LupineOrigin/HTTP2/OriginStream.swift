// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineHTTP2

/// One request on a stream of a client's connection, and what becomes of it. It belongs to its `HTTP2Conversation`.
final class OriginStream {
    /// Where the request stands.
    enum Intake {
        case body(any BodySink)
        case discarding
        case ended
    }

    /// Where the response stands.
    enum Reply {
        case none
        /// Waits for its time or its gate.
        case held(OriginResponse)
        /// The head has gone; what is in `content` follows, and then what the producer makes, if there is one.
        case streaming(Producer?)
        /// A stream between two pieces.
        case resting(Producer)
        case sent
    }

    typealias Producer = (inout [UInt8], Int) -> OriginResponse.Continuation

    let id: StreamID
    let method: Method
    var intake = Intake.discarding
    var reply = Reply.none
    /// Content that is to be sent, and how much of it has gone.
    var content: [UInt8] = []
    var contentStart = 0
    /// How urgent its client says that it is.
    var urgency = Urgency.normal
    /// It stands in the queue of those that have something to send.
    var isQueued = false
    /// What it follows instead of answering.
    var walk: StreamWalk?
    /// What it is after HTTP: a web socket.
    var socket: StreamWire?
    /// What goes behind the content, once there is no more.
    var trailers: Fields?

    init(_ id: StreamID, _ method: Method) {
        self.id = id
        self.method = method
    }

    /// Whether it waits for something that is not the client.
    var isWaiting: Bool {
        if walk != nil || socket != nil { return true }
        return switch reply {
        case .held, .resting: true
        case .none, .streaming, .sent: false
        }
    }
}
