// SPDX-License-Identifier: MIT

/// How the two ends go away: RFC 9113 §6.8, either in two steps.
///
/// A server that wants to go first says that it takes no further streams without naming the last one, and names it when
/// requests that were on their way have come. The last stream of a later GOAWAY is never above that of an earlier one.
struct GoAwayState: Hashable, Sendable {
    /// What this end has said.
    enum Own: Hashable, Sendable {
        case staying  // → announced, leaving
        /// GOAWAY with the last identifier that there is: streams are still taken.
        case announced  // → leaving
        /// GOAWAY with the last stream that was worked on.
        case leaving(last: StreamID)  // → leaving with a lower one
    }

    /// What the peer has said.
    enum Peer: Hashable, Sendable {
        case staying  // → leaving
        case leaving(last: StreamID)  // → leaving with a lower one
    }

    enum Event: Hashable, Sendable {
        /// This end begins to go.
        case announce
        /// This end takes no streams above that one.
        case leave(last: StreamID)
        /// The connection ends with an error.
        case fail(last: StreamID)
        /// GOAWAY came.
        case received(last: StreamID)
    }

    /// What is to be done about an event.
    enum Action: Hashable, Sendable {
        case nothing
        case send(last: StreamID)
        /// Streams of this end above that one were not worked on.
        case refuse(above: StreamID)
        /// The peer takes back more than it may.
        case raised(after: StreamID)
    }

    private(set) var own = Own.staying
    private(set) var peer = Peer.staying

    /// Whether streams can still be opened by this end.
    var allowsOpening: Bool { own == .staying && peer == .staying }

    /// Whether an end has said that the connection ends with the streams at hand.
    var isLeaving: Bool {
        if case .leaving = own { return true }
        return peer != .staying
    }

    /// Whether a stream of the peer is still worked on.
    func takes(_ stream: StreamID) -> Bool {
        switch own {
        case .staying, .announced: true
        case .leaving(let last): stream <= last
        }
    }

    /// The only writer of both states.
    mutating func handle(_ event: Event) -> Action {
        switch event {
        case .announce: announce()
        case .leave(let last): leave(last, isAgain: false)
        case .fail(let last): leave(last, isAgain: true)
        case .received(let last): receive(last)
        }
    }

    private mutating func announce() -> Action {
        switch own {
        case .staying:
            own = .announced
            return .send(last: .last)
        case .announced, .leaving:
            return .nothing
        }
    }

    /// An error is told even when the last stream is known already.
    private mutating func leave(_ last: StreamID, isAgain: Bool) -> Action {
        switch own {
        case .staying, .announced:
            own = .leaving(last: last)
            return .send(last: last)
        case .leaving(let before):
            let lower = min(before, last)
            own = .leaving(last: lower)
            return isAgain || lower < before ? .send(last: lower) : .nothing
        }
    }

    private mutating func receive(_ last: StreamID) -> Action {
        switch peer {
        case .staying:
            peer = .leaving(last: last)
            return .refuse(above: last)
        case .leaving(let before):
            guard last <= before else { return .raised(after: before) }
            peer = .leaving(last: last)
            return .refuse(above: last)
        }
    }
}
