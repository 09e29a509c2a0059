// SPDX-License-Identifier: MIT

/// The closing handshake of one WebSocket connection (RFC 6455 §7), from either end.
///
/// Pure: it says what to send, what to do with the connection and its timer, and how the connection ended; whoever
/// owns both does it. A server closes the connection as soon as both close frames have gone; a client leaves that to it
/// for a while, so that it is not the server's port that has to linger (§7.1.1). The timer bounds every wait: for the
/// peer's close frame, for its end of the connection, and for a peer that does not read what is to be sent.
package struct WebSocketClosing: Sendable {
    /// Where the closing handshake stands.
    package enum State: Hashable, Sendable {
        /// No close frame yet. → closing, draining, closed
        case open
        /// Ours is sent, the peer's is awaited. → draining, closed
        case closing(sent: WebSocketClosure)
        /// All is said; the connection is to end. → closed
        case draining
        case closed
    }

    /// What happened.
    package enum Event: Hashable, Sendable {
        /// We want to close.
        case close(WebSocketClosure)
        /// The peer's close frame came.
        case received(WebSocketClosure)
        /// The peer broke the protocol.
        case failed(WebSocketError)
        /// The connection ended: by the peer, or as `Wire.closeWhenSent` asked.
        case ended
        /// The timer that `Actions.timer` started ran out.
        case timedOut
    }

    /// How it ended.
    package enum Outcome: Hashable, Sendable {
        /// The peer closed, and was answered.
        case peerClosed(WebSocketClosure)
        /// We closed; the peer's answer, or nil when none came.
        case weClosed(WebSocketClosure, answer: WebSocketClosure?)
        /// The peer broke the protocol.
        case failed(WebSocketError)
        /// The connection ended without a close frame: 1006.
        case lost
    }

    /// What becomes of the connection.
    package enum Wire: Hashable, Sendable {
        case keep
        /// Close it when what is to be sent has gone, and say `.ended` then.
        case closeWhenSent
        /// Close it now.
        case close
    }

    /// What becomes of the timer that bounds the present wait.
    package enum Timer: Hashable, Sendable { case keep, start, cancel }

    /// What is to be done, a field for each kind of effect.
    package struct Actions: Hashable, Sendable {
        /// The close frame to send.
        package var frame: WebSocketClosure?
        /// What becomes of the connection.
        package var wire = Wire.keep
        /// What becomes of the timer.
        package var timer = Timer.keep
        /// Said once.
        package var outcome: Outcome?

        /// Nothing, unless something is given.
        package init(
            frame: WebSocketClosure? = nil, wire: Wire = .keep, timer: Timer = .keep, outcome: Outcome? = nil
        ) {
            self.frame = frame
            self.wire = wire
            self.timer = timer
            self.outcome = outcome
        }
    }

    /// Where the closing handshake stands.
    package private(set) var state = State.open
    private let role: WebSocketRole

    /// The closing handshake of a connection that is open.
    package init(_ role: WebSocketRole) { self.role = role }

    /// The only writer of `state`.
    package mutating func handle(_ event: Event) -> Actions {
        switch (state, event) {
        case (.open, .close(let closure)):
            state = .closing(sent: closure)
            return Actions(frame: closure, timer: .start)
        case (.open, .received(let closure)):
            state = .draining
            return Actions(
                frame: closure.answer, wire: afterHandshake, timer: .start, outcome: .peerClosed(closure))
        case (.open, .failed(let error)):
            state = .draining
            return Actions(
                frame: WebSocketClosure(answering: error), wire: .closeWhenSent, timer: .start,
                outcome: .failed(error))
        case (.open, .ended):
            state = .closed
            return Actions(wire: .close, outcome: .lost)
        case (.closing(let sent), .received(let closure)):
            state = .draining
            return Actions(wire: afterHandshake, outcome: .weClosed(sent, answer: closure))
        case (.closing, .failed(let error)):
            state = .draining
            return Actions(wire: .closeWhenSent, outcome: .failed(error))
        case (.closing(let sent), .ended):
            state = .closed
            return Actions(wire: .close, timer: .cancel, outcome: .weClosed(sent, answer: nil))
        case (.closing(let sent), .timedOut):
            state = .closed
            return Actions(wire: .close, outcome: .weClosed(sent, answer: nil))
        case (.draining, .ended):
            state = .closed
            return Actions(wire: .close, timer: .cancel)
        case (.draining, .timedOut):
            state = .closed
            return Actions(wire: .close)
        // A second wish to close, a fault found again and the end of what has ended change nothing.
        case (.closing, .close), (.draining, .close), (.closed, .close), (.draining, .failed),
            (.closed, .failed), (.closed, .ended):
            return Actions()
        case (.open, .timedOut), (.closed, .timedOut), (.draining, .received), (.closed, .received):
            preconditionFailure("\(event) is impossible while \(state)")
        }
    }

    /// Who closes the connection once both close frames have gone: the server.
    private var afterHandshake: Wire {
        switch role {
        case .client: .keep
        case .server: .closeWhenSent
        }
    }
}
