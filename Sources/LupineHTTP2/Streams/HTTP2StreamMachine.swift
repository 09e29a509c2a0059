// SPDX-License-Identifier: MIT

/// The state machine of one stream, for either role: RFC 9113 §5.1.
///
/// It decides whether a frame may be sent or received, changes its state, and does nothing else. It handles every event in every
/// state. `MessageReader` checks the content and order of the frames of a message.
package struct HTTP2StreamMachine: Hashable, Sendable {
    /// The state of the stream, as seen by this endpoint. After an arrow: the states that may follow.
    package enum State: Hashable, Sendable {
        /// Nothing has been sent or received. → reservedLocal, reservedRemote, open, halfClosedLocal, halfClosedRemote
        case idle
        /// This endpoint has promised the stream. → halfClosedRemote, closed
        case reservedLocal
        /// The peer has promised the stream. → halfClosedLocal, closed
        case reservedRemote
        /// Both endpoints may send. → halfClosedLocal, halfClosedRemote, closed
        case open
        /// This endpoint has ended its side. → closed
        case halfClosedLocal
        /// The peer has ended its side. → closed
        case halfClosedRemote
        /// No more frames are exchanged, apart from those in flight. → closed with another closure
        case closed(Closure)
    }

    /// How a stream was closed, which determines what the peer may still send.
    package enum Closure: Hashable, Sendable {
        /// Both endpoints have sent END_STREAM.
        case ended
        /// This endpoint has sent RST_STREAM: frames that the peer sent before it received RST_STREAM are allowed.
        case resetSent
        /// The peer has sent RST_STREAM.
        case resetReceived
    }

    /// A frame that is sent or received on the stream.
    package enum Frame: Hashable, Sendable {
        case headers(endsStream: Bool)
        case data(endsStream: Bool)
        /// PUSH_PROMISE on this stream, which promises another one.
        case pushPromise
        /// PUSH_PROMISE on another stream, which promises this one.
        case promised
        case reset
        case windowUpdate
        case priority
    }

    /// A frame that was received, or is to be sent, on the stream.
    package enum Event: Hashable, Sendable {
        case send(Frame)
        case receive(Frame)
    }

    /// The decision about an event.
    package enum Verdict: Hashable, Sendable {
        /// The frame may be sent, or is to be processed.
        case proceed
        /// The stream ignores the frame. Its header block must still be decoded, and its payload still counts for the window of
        /// the connection.
        case ignore
        /// The frame must not be sent. This is never the verdict on a received frame.
        case mayNotSend
        /// The stream must be reset with the code.
        case streamError(HTTP2ErrorCode)
        /// The connection must end with the code.
        case connectionError(HTTP2ErrorCode)
    }

    /// The current state.
    package private(set) var state = State.idle
    private let role: HTTP2Role
    /// Whether the client opens the stream; otherwise the server promises it.
    private let isClientInitiated: Bool

    /// Creates the machine of an idle stream.
    package init(_ role: HTTP2Role, _ stream: StreamID) {
        self.role = role
        isClientInitiated = stream.isClientInitiated
    }

    /// Creates the machine of a closed stream whose own machine is not stored.
    init(_ role: HTTP2Role, _ stream: StreamID, closed closure: Closure) {
        self.init(role, stream)
        state = .closed(closure)
    }

    /// Decides on an event, and changes the state if the frame may be sent or processed.
    package mutating func handle(_ event: Event) -> Verdict {
        switch event {
        case .send(let frame): send(frame)
        case .receive(let frame): receive(frame)
        }
    }

    // MARK: Sending

    /// Returns whether a frame may be sent, and changes the state.
    private mutating func send(_ frame: Frame) -> Verdict {
        switch (frame, state) {
        case (.headers(let endsStream), .idle):
            guard role == .client, isClientInitiated else { return .mayNotSend }
            return move(to: endsStream ? .halfClosedLocal : .open)
        case (.headers(let endsStream), .reservedLocal):
            return move(to: endsStream ? .closed(.ended) : .halfClosedRemote)
        case (.headers(let endsStream), .open), (.data(let endsStream), .open):
            return endsStream ? move(to: .halfClosedLocal) : .proceed
        case (.headers(let endsStream), .halfClosedRemote), (.data(let endsStream), .halfClosedRemote):
            return endsStream ? move(to: .closed(.ended)) : .proceed
        case (.headers, .reservedRemote), (.headers, .halfClosedLocal), (.headers, .closed),
            (.data, .idle), (.data, .reservedLocal), (.data, .reservedRemote), (.data, .halfClosedLocal),
            (.data, .closed):
            return .mayNotSend

        case (.pushPromise, .open), (.pushPromise, .halfClosedRemote):
            return role == .server && isClientInitiated ? .proceed : .mayNotSend
        case (.promised, .idle):
            guard role == .server, !isClientInitiated else { return .mayNotSend }
            return move(to: .reservedLocal)
        case (.pushPromise, .idle), (.pushPromise, .reservedLocal), (.pushPromise, .reservedRemote),
            (.pushPromise, .halfClosedLocal), (.pushPromise, .closed),
            (.promised, .reservedLocal), (.promised, .reservedRemote), (.promised, .open),
            (.promised, .halfClosedLocal), (.promised, .halfClosedRemote), (.promised, .closed):
            return .mayNotSend

        // After RST_STREAM of the peer, a reset answers a frame that the peer must not send: the error STREAM_CLOSED.
        case (.reset, .reservedLocal), (.reset, .reservedRemote), (.reset, .open), (.reset, .halfClosedLocal),
            (.reset, .halfClosedRemote), (.reset, .closed(.resetReceived)):
            return move(to: .closed(.resetSent))
        case (.reset, .idle), (.reset, .closed(.ended)), (.reset, .closed(.resetSent)):
            return .mayNotSend

        case (.windowUpdate, .reservedRemote), (.windowUpdate, .open), (.windowUpdate, .halfClosedLocal),
            (.windowUpdate, .halfClosedRemote):
            return .proceed
        case (.windowUpdate, .idle), (.windowUpdate, .reservedLocal), (.windowUpdate, .closed):
            return .mayNotSend

        // PRIORITY may be sent in any state (§6.3).
        case (.priority, _):
            return .proceed
        }
    }

    // MARK: Receiving

    /// Returns how a received frame is handled, and changes the state.
    private mutating func receive(_ frame: Frame) -> Verdict {
        switch (frame, state) {
        case (.headers(let endsStream), .idle):
            guard role == .server, isClientInitiated else { return .connectionError(.protocolError) }
            return move(to: endsStream ? .halfClosedRemote : .open)
        case (.headers(let endsStream), .reservedRemote):
            return move(to: endsStream ? .closed(.ended) : .halfClosedLocal)
        case (.headers(let endsStream), .open), (.data(let endsStream), .open):
            return endsStream ? move(to: .halfClosedRemote) : .proceed
        case (.headers(let endsStream), .halfClosedLocal), (.data(let endsStream), .halfClosedLocal):
            return endsStream ? move(to: .closed(.ended)) : .proceed
        case (.headers, .reservedLocal), (.data, .idle), (.data, .reservedLocal), (.data, .reservedRemote):
            return .connectionError(.protocolError)
        case (.headers, .halfClosedRemote), (.data, .halfClosedRemote),
            (.headers, .closed(.resetReceived)), (.data, .closed(.resetReceived)):
            return .streamError(.streamClosed)
        case (.headers, .closed(.ended)), (.data, .closed(.ended)):
            return .connectionError(.streamClosed)
        // The peer may have sent the frame before it received RST_STREAM.
        case (.headers, .closed(.resetSent)), (.data, .closed(.resetSent)):
            return .ignore

        case (.pushPromise, .open), (.pushPromise, .halfClosedLocal):
            return role == .client && isClientInitiated ? .proceed : .connectionError(.protocolError)
        case (.pushPromise, .closed(.resetSent)):
            return role == .client && isClientInitiated ? .ignore : .connectionError(.protocolError)
        case (.promised, .idle):
            guard role == .client, !isClientInitiated else { return .connectionError(.protocolError) }
            return move(to: .reservedRemote)
        case (.pushPromise, .idle), (.pushPromise, .reservedLocal), (.pushPromise, .reservedRemote),
            (.pushPromise, .halfClosedRemote), (.pushPromise, .closed(.ended)),
            (.pushPromise, .closed(.resetReceived)),
            (.promised, .reservedLocal), (.promised, .reservedRemote), (.promised, .open),
            (.promised, .halfClosedLocal), (.promised, .halfClosedRemote), (.promised, .closed):
            return .connectionError(.protocolError)

        case (.reset, .reservedLocal), (.reset, .reservedRemote), (.reset, .open), (.reset, .halfClosedLocal),
            (.reset, .halfClosedRemote):
            return move(to: .closed(.resetReceived))
        case (.reset, .idle), (.windowUpdate, .idle), (.windowUpdate, .reservedRemote):
            return .connectionError(.protocolError)
        case (.windowUpdate, .reservedLocal), (.windowUpdate, .open), (.windowUpdate, .halfClosedLocal),
            (.windowUpdate, .halfClosedRemote):
            return .proceed
        // The peer may have sent the frame before it knew that the stream had ended.
        case (.reset, .closed), (.windowUpdate, .closed):
            return .ignore

        // PRIORITY may be received in any state. Its signaling is deprecated (§5.3.2).
        case (.priority, _):
            return .ignore
        }
    }

    /// Changes the state. Returns `proceed`.
    private mutating func move(to state: State) -> Verdict {
        self.state = state
        return .proceed
    }
}
