// SPDX-License-Identifier: MIT

/// The closing handshake of one WebSocket connection (RFC 6455 §7), for either end.
///
/// A state machine: it decides what to send, what to do with the connection and its timer, and how the connection ended; the
/// owner performs these actions. A server closes the connection as soon as both close frames are sent; a client first waits for
/// the server to close it, so that the port in TIME_WAIT is the server's (§7.1.1). The timer bounds every wait: for the peer's
/// close frame, for the peer to close the connection, and for a peer that does not read the output.
package struct WebSocketClosing: Sendable {
    /// The state of the closing handshake.
    package enum State: Hashable, Sendable {
        /// No close frame yet. → closing, draining, closed
        case open
        /// This end has sent its close frame, and waits for the peer's. → draining, closed
        case closing(sent: WebSocketCloseFrame)
        /// Neither end sends another close frame; the connection has to end. → closed
        case draining
        case closed
    }

    /// An event of the connection or its owner.
    package enum Event: Hashable, Sendable {
        /// The program closes the connection.
        case close(WebSocketCloseFrame)
        /// The peer's close frame arrived.
        case received(WebSocketCloseFrame)
        /// The peer violated the protocol.
        case failed(WebSocketError)
        /// The connection ended: closed by the peer, or as requested with `ConnectionAction.closeWhenSent`.
        case ended
        /// The timer that `Actions.timer` started has fired.
        case timedOut
    }

    /// How the connection ended.
    package enum Outcome: Hashable, Sendable {
        /// The peer sent the first close frame, and this end has answered it.
        case peerClosed(WebSocketCloseFrame)
        /// This end sent the first close frame; `answer` is the peer's close frame, or nil if none arrived.
        case locallyClosed(WebSocketCloseFrame, answer: WebSocketCloseFrame?)
        /// The peer violated the protocol.
        case failed(WebSocketError)
        /// The connection ended without a close frame, which APIs report as 1006.
        case lost
    }

    /// The action on the connection.
    package enum ConnectionAction: Hashable, Sendable {
        case keep
        /// Close it when all output is sent, and then report `.ended`.
        case closeWhenSent
        /// Close it now.
        case close
    }

    /// The action on the timer that bounds the current wait.
    package enum TimerAction: Hashable, Sendable { case keep, start, cancel }

    /// The actions to perform, one field for each kind.
    package struct Actions: Hashable, Sendable {
        /// The close frame to send.
        package var frame: WebSocketCloseFrame?
        /// The action on the connection.
        package var connection = ConnectionAction.keep
        /// The action on the timer.
        package var timer = TimerAction.keep
        /// The outcome; only one event of a connection returns it.
        package var outcome: Outcome?

        /// No actions, unless given.
        package init(
            frame: WebSocketCloseFrame? = nil, connection: ConnectionAction = .keep, timer: TimerAction = .keep,
            outcome: Outcome? = nil
        ) {
            self.frame = frame
            self.connection = connection
            self.timer = timer
            self.outcome = outcome
        }
    }

    /// The state of the closing handshake.
    package private(set) var state = State.open
    private let role: WebSocketRole

    /// The closing handshake of an open connection.
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
                frame: closure.answer, connection: afterHandshake, timer: .start, outcome: .peerClosed(closure))
        case (.open, .failed(let error)):
            state = .draining
            return Actions(
                frame: WebSocketCloseFrame(answering: error), connection: .closeWhenSent, timer: .start,
                outcome: .failed(error))
        case (.open, .ended):
            state = .closed
            return Actions(connection: .close, outcome: .lost)
        case (.closing(let sent), .received(let closure)):
            state = .draining
            return Actions(connection: afterHandshake, outcome: .locallyClosed(sent, answer: closure))
        // This end has already sent its close frame, and the timer runs.
        case (.closing, .failed(let error)):
            state = .draining
            return Actions(connection: .closeWhenSent, outcome: .failed(error))
        case (.closing(let sent), .ended):
            state = .closed
            return Actions(connection: .close, timer: .cancel, outcome: .locallyClosed(sent, answer: nil))
        case (.closing(let sent), .timedOut):
            state = .closed
            return Actions(connection: .close, outcome: .locallyClosed(sent, answer: nil))
        case (.draining, .ended):
            state = .closed
            return Actions(connection: .close, timer: .cancel)
        case (.draining, .timedOut):
            state = .closed
            return Actions(connection: .close)
        // A second request to close, an error after another and a second end have no effect.
        case (.closing, .close), (.draining, .close), (.closed, .close), (.draining, .failed),
            (.closed, .failed), (.closed, .ended):
            return Actions()
        // No timer runs in these states, and the codec drops the input after the peer's close frame.
        case (.open, .timedOut), (.closed, .timedOut), (.draining, .received), (.closed, .received):
            preconditionFailure("\(event) is impossible while \(state)")
        }
    }

    /// The action once both close frames are sent: the server closes the connection.
    private var afterHandshake: ConnectionAction {
        switch role {
        case .client: .keep
        case .server: .closeWhenSent
        }
    }
}
