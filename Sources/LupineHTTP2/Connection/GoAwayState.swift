// SPDX-License-Identifier: MIT

/// The GOAWAY state of both endpoints: RFC 9113 §6.8.
///
/// A server shuts down in two phases. A first GOAWAY with the largest stream identifier announces the shutdown. When the requests
/// in flight have arrived, a second GOAWAY names the last stream that the server processes. The last stream of a later GOAWAY is
/// never above that of an earlier one. In this file, an arrow precedes the states that may follow a state.
struct GoAwayState: Hashable, Sendable {
    /// The GOAWAY that this endpoint has sent, if any.
    enum Local: Hashable, Sendable {
        /// None.
        case open  // → announced, shuttingDown
        /// GOAWAY with the largest identifier: new streams are still accepted.
        case announced  // → shuttingDown
        /// GOAWAY with the last stream that is processed.
        case shuttingDown(last: StreamID)  // → shuttingDown with a lower last stream
    }

    /// The GOAWAY that the peer has sent, if any.
    enum Peer: Hashable, Sendable {
        /// None.
        case open  // → shuttingDown
        /// GOAWAY with the last stream that the peer processes.
        case shuttingDown(last: StreamID)  // → shuttingDown with a lower last stream
    }

    /// What happens to the connection, as far as it concerns GOAWAY.
    enum Event: Hashable, Sendable {
        /// This endpoint announces its shutdown.
        case announce
        /// This endpoint accepts no streams above `last`.
        case shutDown(last: StreamID)
        /// The connection ends with an error.
        case fail(last: StreamID)
        /// GOAWAY was received.
        case received(last: StreamID)
    }

    /// The action that an event requires.
    enum Action: Hashable, Sendable {
        case nothing
        /// Send GOAWAY with this last stream.
        case send(last: StreamID)
        /// Treat this endpoint's streams above the given one as refused: the peer does not process them.
        case refuse(above: StreamID)
        /// Fail the connection: the peer's GOAWAY names a higher last stream than its previous one, which is not allowed.
        case raised(after: StreamID)
    }

    private(set) var local = Local.open
    private(set) var peer = Peer.open

    /// Whether this endpoint may still open streams.
    var allowsOpening: Bool { local == .open && peer == .open }

    /// Whether the connection ends after its current streams: this endpoint has named its last stream, or the peer sent GOAWAY.
    var isShuttingDown: Bool {
        if case .shuttingDown = local { return true }
        return peer != .open
    }

    /// Returns whether this endpoint still accepts a stream of the peer.
    func accepts(_ stream: StreamID) -> Bool {
        switch local {
        case .open, .announced: true
        case .shuttingDown(let last): stream <= last
        }
    }

    /// Changes the state for an event, and returns the action that the event requires.
    mutating func handle(_ event: Event) -> Action {
        switch event {
        case .announce: announce()
        case .shutDown(let last): shutDown(last, reportsError: false)
        case .fail(let last): shutDown(last, reportsError: true)
        case .received(let last): receive(last)
        }
    }

    /// Announces the shutdown with the largest identifier, unless GOAWAY has been sent.
    private mutating func announce() -> Action {
        switch local {
        case .open:
            local = .announced
            return .send(last: .largest)
        case .announced, .shuttingDown:
            return .nothing
        }
    }

    /// Names the last stream. With `reportsError`, GOAWAY is sent even if its last stream is unchanged, because it carries the
    /// error.
    private mutating func shutDown(_ last: StreamID, reportsError: Bool) -> Action {
        switch local {
        case .open, .announced:
            local = .shuttingDown(last: last)
            return .send(last: last)
        case .shuttingDown(let previous):
            let lower = min(previous, last)
            local = .shuttingDown(last: lower)
            return reportsError || lower < previous ? .send(last: lower) : .nothing
        }
    }

    /// Records a GOAWAY of the peer.
    private mutating func receive(_ last: StreamID) -> Action {
        switch peer {
        case .open:
            peer = .shuttingDown(last: last)
            return .refuse(above: last)
        case .shuttingDown(let previous):
            guard last <= previous else { return .raised(after: previous) }
            peer = .shuttingDown(last: last)
            return .refuse(above: last)
        }
    }
}
