// SPDX-License-Identifier: MIT

/// The closing handshake of one WebSocket connection (RFC 6455 §7), on a client or a server.
///
/// The type is a state machine. It decides which close frame to send, what to do with the connection and its timer, and how the
/// connection ended. The owner, which has the connection, performs the actions that it returns.
///
/// A server closes the connection as soon as both ends have sent a close frame. A client first waits for the server to close it,
/// so that the socket that stays in TIME_WAIT is the server's (RFC 6455 §7.1.1). The timer bounds every wait: for the peer's
/// close frame, for the peer to close the connection, and for a peer that does not read the output.
package struct WebSocketClosing: Sendable {
    /// The state of the closing handshake. The comments name the states that can follow.
    package enum State: Hashable, Sendable {
        /// Neither end has sent a close frame. → closing, draining, closed
        case open
        /// This end has sent its close frame, and waits for the peer's. → draining, closed
        case closing(sent: WebSocketCloseFrame)
        /// Neither end sends another close frame. This end waits for the end of the connection. → closed
        case draining
        /// The connection has ended.
        case closed
    }

    /// An event that the owner passes to `handle(_:)`.
    package enum Event: Hashable, Sendable {
        /// The program closes the connection.
        case close(WebSocketCloseFrame)
        /// The peer's close frame arrived.
        case received(WebSocketCloseFrame)
        /// The peer violated the protocol.
        case failed(WebSocketError)
        /// The connection ended: the peer closed it, or the owner did so after `ConnectionAction.closeWhenSent`.
        case ended
        /// The timer has fired that the owner started for `TimerAction.start`.
        case timedOut
    }

    /// The way in which the connection ended, for the program.
    package enum Outcome: Hashable, Sendable {
        /// The peer sent the first close frame, and this end has answered it.
        case peerClosed(WebSocketCloseFrame)
        /// This end sent the first close frame; `answer` is the peer's close frame, or nil if none arrived.
        case locallyClosed(WebSocketCloseFrame, answer: WebSocketCloseFrame?)
        /// The peer violated the protocol.
        case failed(WebSocketError)
        /// The connection ended without a close frame, which an API reports as the code 1006.
        case lost
    }

    /// What the owner has to do with the connection.
    package enum ConnectionAction: Hashable, Sendable {
        /// Leave the connection open.
        case keep
        /// Close the connection when all output is sent, and then pass the event `.ended`.
        case closeWhenSent
        /// Close the connection at once.
        case close
    }

    /// What the owner has to do with the timer that bounds the current wait. The owner chooses its duration.
    package enum TimerAction: Hashable, Sendable { case keep, start, cancel }

    /// The actions that the owner has to perform after an event.
    package struct Actions: Hashable, Sendable {
        /// The close frame to send, or nil.
        package var frame: WebSocketCloseFrame?
        /// The action on the connection.
        package var connection = ConnectionAction.keep
        /// The action on the timer.
        package var timer = TimerAction.keep
        /// The outcome to report, or nil. Only one event of each connection has an outcome.
        package var outcome: Outcome?

        /// Creates actions; by default there is nothing to do.
        package init(
            frame: WebSocketCloseFrame? = nil, connection: ConnectionAction = .keep,
            timer: TimerAction = .keep, outcome: Outcome? = nil
        ) {
            self.frame = frame
            self.connection = connection
            self.timer = timer
            self.outcome = outcome
        }
    }

    /// The state of the closing handshake.
    package private(set) var state = State.open
    /// This end of the connection.
    private let role: WebSocketRole

    /// The closing handshake of an open connection.
    package init(_ role: WebSocketRole) { self.role = role }

    /// Advances the state by an event, and returns the actions to perform. No other function changes the state.
    package mutating func handle(_ event: Event) -> Actions {
        switch (state, event) {
        case (.open, .close(let closeFrame)):
            state = .closing(sent: closeFrame)
            return Actions(frame: closeFrame, timer: .start)
        case (.open, .received(let closeFrame)):
            state = .draining
            return Actions(
                frame: closeFrame.answer, connection: actionAfterCloseFrames, timer: .start,
                outcome: .peerClosed(closeFrame))
        case (.open, .failed(let error)):
            state = .draining
            return Actions(
                frame: WebSocketCloseFrame(answering: error), connection: .closeWhenSent, timer: .start,
                outcome: .failed(error))
        case (.open, .ended):
            state = .closed
            return Actions(connection: .close, outcome: .lost)
        // The timer that was started with the close frame also bounds the wait for the end of the connection.
        case (.closing(let sent), .received(let answer)):
            state = .draining
            return Actions(connection: actionAfterCloseFrames, outcome: .locallyClosed(sent, answer: answer))
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
        // A second call of the program to close, an error after the first one and a second end have no effect.
        case (.closing, .close), (.draining, .close), (.closed, .close), (.draining, .failed),
            (.closed, .failed), (.closed, .ended):
            return Actions()
        // No timer runs in these states, and the codec drops the input after the peer's close frame.
        case (.open, .timedOut), (.closed, .timedOut), (.draining, .received), (.closed, .received):
            preconditionFailure("\(event) is impossible while \(state)")
        }
    }

    /// The action on the connection once both ends have sent a close frame: only a server closes it.
    private var actionAfterCloseFrames: ConnectionAction {
        switch role {
        case .client: .keep
        case .server: .closeWhenSent
        }
    }
}
