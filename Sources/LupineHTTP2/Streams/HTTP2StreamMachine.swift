// SPDX-License-Identifier: MIT

/// The states of one stream, from either end: RFC 9113 §5.1.
///
/// Pure: it says whether a frame may be sent or taken, and moves. It answers every event in every state. What the frames
/// of a message may be, and in which order, is `MessageReader`'s to say.
package struct HTTP2StreamMachine: Hashable, Sendable {
    /// Where the stream stands, as this end sees it.
    package enum State: Hashable, Sendable {
        /// Nothing has been sent or received. → reservedLocal, reservedRemote, open, halfClosedLocal, halfClosedRemote
        case idle
        /// We have promised it. → halfClosedRemote, closed
        case reservedLocal
        /// The peer has promised it. → halfClosedLocal, closed
        case reservedRemote
        /// Both ends may send. → halfClosedLocal, halfClosedRemote, closed
        case open
        /// We have ended our side. → closed
        case halfClosedLocal
        /// The peer has ended its side. → closed
        case halfClosedRemote
        case closed(Closure)
    }

    /// How a stream came to its end; what the peer may still send depends on it.
    package enum Closure: Hashable, Sendable {
        /// Both ends have sent END_STREAM.
        case ended
        /// We have sent RST_STREAM: what the peer sent before it knew is to be expected.
        case resetSent
        /// The peer has sent RST_STREAM.
        case resetReceived
    }

    /// A frame that is sent or received on the stream.
    package enum Frame: Hashable, Sendable {
        case headers(endsStream: Bool)
        case data(endsStream: Bool)
        /// PUSH_PROMISE on this stream, for another one.
        case pushPromise
        /// PUSH_PROMISE on another stream, for this one.
        case promise
        case reset
        case windowUpdate
        case priority
    }

    /// What happened on the stream.
    package enum Event: Hashable, Sendable {
        case send(Frame)
        case receive(Frame)
    }

    /// What is to be done about an event.
    package enum Verdict: Hashable, Sendable {
        /// The frame goes out, or means what it says.
        case proceed
        /// The frame means nothing to the stream. Its header block is still to be decoded, and its content still counts for
        /// the connection's window.
        case ignore
        /// The frame is not to be sent.
        case mayNotSend
        /// The stream is to be reset.
        case streamError(HTTP2ErrorCode)
        /// The connection is to end.
        case connectionError(HTTP2ErrorCode)
    }

    /// Where the stream stands.
    package private(set) var state = State.idle
    private let role: HTTP2Role
    /// Whether the client opens the stream; otherwise the server promises it.
    private let isClientInitiated: Bool

    /// An idle stream, seen by that role.
    package init(_ role: HTTP2Role, _ stream: StreamID) {
        self.role = role
        isClientInitiated = stream.isClientInitiated
    }

    /// A stream that is over, seen by that role: what is left of one that is no longer kept.
    init(_ role: HTTP2Role, _ stream: StreamID, closed closure: Closure) {
        self.init(role, stream)
        state = .closed(closure)
    }

    /// The only writer of `state` from then on.
    package mutating func handle(_ event: Event) -> Verdict {
        switch event {
        case .send(let frame): send(frame)
        case .receive(let frame): receive(frame)
        }
    }

    // MARK: sending

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
        case (.promise, .idle):
            guard role == .server, !isClientInitiated else { return .mayNotSend }
            return move(to: .reservedLocal)
        case (.pushPromise, .idle), (.pushPromise, .reservedLocal), (.pushPromise, .reservedRemote),
            (.pushPromise, .halfClosedLocal), (.pushPromise, .closed),
            (.promise, .reservedLocal), (.promise, .reservedRemote), (.promise, .open),
            (.promise, .halfClosedLocal), (.promise, .halfClosedRemote), (.promise, .closed):
            return .mayNotSend

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

        case (.priority, _):
            return .proceed
        }
    }

    // MARK: receiving

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
        case (.headers, .closed(.resetSent)), (.data, .closed(.resetSent)):
            return .ignore

        case (.pushPromise, .open), (.pushPromise, .halfClosedLocal):
            return role == .client && isClientInitiated ? .proceed : .connectionError(.protocolError)
        case (.pushPromise, .closed(.resetSent)):
            return role == .client && isClientInitiated ? .ignore : .connectionError(.protocolError)
        case (.promise, .idle):
            guard role == .client, !isClientInitiated else { return .connectionError(.protocolError) }
            return move(to: .reservedRemote)
        case (.pushPromise, .idle), (.pushPromise, .reservedLocal), (.pushPromise, .reservedRemote),
            (.pushPromise, .halfClosedRemote), (.pushPromise, .closed(.ended)),
            (.pushPromise, .closed(.resetReceived)),
            (.promise, .reservedLocal), (.promise, .reservedRemote), (.promise, .open),
            (.promise, .halfClosedLocal), (.promise, .halfClosedRemote), (.promise, .closed):
            return .connectionError(.protocolError)

        case (.reset, .reservedLocal), (.reset, .reservedRemote), (.reset, .open), (.reset, .halfClosedLocal),
            (.reset, .halfClosedRemote):
            return move(to: .closed(.resetReceived))
        case (.reset, .idle), (.windowUpdate, .idle), (.windowUpdate, .reservedRemote):
            return .connectionError(.protocolError)
        case (.windowUpdate, .reservedLocal), (.windowUpdate, .open), (.windowUpdate, .halfClosedLocal),
            (.windowUpdate, .halfClosedRemote):
            return .proceed
        case (.reset, .closed), (.windowUpdate, .closed):
            return .ignore

        case (.priority, _):
            return .ignore
        }
    }

    private mutating func move(to state: State) -> Verdict {
        self.state = state
        return .proceed
    }
}
