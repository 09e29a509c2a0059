// SPDX-License-Identifier: MIT

/// The state machine of one HTTP/1.1 connection, from the first exchange to the close.
///
/// Pure: no socket, clock or codec. `HTTP1Connection` reports events and performs the returned actions. The two halves of an
/// exchange have separate states, since a response may begin, and even end, while its request is still being sent.
struct HTTP1Machine: ~Copyable {
    /// The states, each with the states that may follow it.
    enum State: Hashable {
        case idle  // → exchanging, closed
        case exchanging(RequestState, ResponseState)  // → idle, skipping, upgraded, closed
        /// The consumer needs no more of the response. The connection reads and discards the short remainder. It delays the end
        /// of the exchange for a moment, so that a request that the completion handler starts can reuse the connection.
        case skipping  // → idle, draining, closed
        /// The exchange has ended for the layer above; the connection still reads and discards the remainder of its response.
        case draining  // → idle, closed
        case upgraded  // → closed
        case closed
    }
    // Both states and their events are the same as in `StreamExchangeMachine`: they are not shared, so that each machine shows
    // its whole table of transitions.

    /// The state of the request.
    enum RequestState: Hashable {
        /// The head has been sent and announces content, which waits for `100 Continue`.
        case awaitingContinue
        case sending
        case sent
    }
    /// The state of the response.
    enum ResponseState: Hashable {
        case awaitingHead
        case receiving
        /// The consumer accepts no more for now.
        case paused
    }

    enum Event: Hashable {
        /// An exchange begins: `.awaitingContinue` if its content is held back, `.sending` otherwise.
        case begin(RequestState)
        /// The content may be sent: the peer answered `100 Continue`, or the wait for that answer timed out.
        case release
        case requestSent
        case headReceived
        case pause
        case resume
        /// The last octet of a response has been read; `reusable` says whether the connection can carry another exchange.
        case responseEnded(reusable: Bool)
        /// The consumer needs no more of the response.
        case enough(remainder: Remainder)
        /// The remainder has not arrived in time: the end of the exchange is no longer held back for it.
        case remainderIsLate
        /// More of a skipped body has arrived than is worth reading, or the remainder took too long.
        case drainLimitExceeded
        case upgraded
        /// The owner cancelled the exchange.
        case cancel
        /// The peer closed, the connection broke, a time-out expired, or octets arrived that belong to no exchange.
        case broken
        /// The pool closes the connection.
        case close
    }
    /// How much of an unwanted body remains: little enough to read it in order to keep the connection, or more.
    enum Remainder: Hashable { case short, long }

    /// The actions that follow from an event: one for the exchange, one for the connection, one for the content.
    struct Actions: Hashable {
        var exchange = ExchangeAction.keep
        var connection = ConnectionAction.keep
        /// Whether the content that waited for `100 Continue` may be sent now.
        var releasesContent = false
    }
    enum ExchangeAction: Hashable {
        /// Let it continue.
        case keep
        /// End it successfully.
        case succeed
        /// End it with the error of the event.
        case fail
    }
    enum ConnectionAction: Hashable {
        /// Leave it as it is.
        case keep
        /// Return it to the pool for reuse.
        case returnToPool
        case close
    }

    /// The state after an event, and the actions to perform.
    private typealias Transition = (state: State, actions: Actions)

    private(set) var state = State.idle

    /// Changes the state for an event, and returns the actions to perform; nothing else changes the state. The events `begin`,
    /// `requestSent`, `headReceived`, `pause`, `resume` and `upgraded` need no action, so their callers discard the result.
    mutating func handle(_ event: Event) -> Actions {
        let transition =
            switch state {
            case .idle: Self.whenIdle(event)
            case .exchanging(let request, let response): Self.whenExchanging(request, response, event)
            case .skipping: Self.whenSkipping(event)
            case .draining: Self.whenDraining(event)
            case .upgraded: Self.whenUpgraded(event)
            case .closed: Self.whenClosed(event)
            }
        state = transition.state
        return transition.actions
    }

    // Each function below is the table of transitions of one state. A late call of the layer above, such as a cancellation
    // after the end, changes nothing.

    private static func whenIdle(_ event: Event) -> Transition {
        switch event {
        case .begin(let request): return (.exchanging(request, .awaitingHead), Actions())
        case .broken, .close: return (.closed, Actions(connection: .close))
        case .release, .resume, .cancel: return (.idle, Actions())
        case .requestSent, .headReceived, .pause, .responseEnded, .enough, .remainderIsLate,
            .drainLimitExceeded, .upgraded:
            preconditionFailure("\(event) is impossible while idle")
        }
    }

    private static func whenExchanging(
        _ request: RequestState, _ response: ResponseState, _ event: Event
    ) -> Transition {
        switch (request, response, event) {
        case (.awaitingContinue, _, .release):
            return (.exchanging(.sending, response), Actions(releasesContent: true))
        case (_, _, .requestSent):
            return (.exchanging(.sent, response), Actions())
        case (_, .awaitingHead, .headReceived):
            // If the content still waits for `100 Continue`, the peer does not want it: it is never sent.
            return (.exchanging(request, .receiving), Actions())
        case (_, .receiving, .pause):
            return (.exchanging(request, .paused), Actions())
        case (_, .paused, .resume):
            return (.exchanging(request, .receiving), Actions())
        case (.sent, .receiving, .responseEnded(reusable: true)):
            return (.idle, Actions(exchange: .succeed, connection: .returnToPool))
        case (_, .receiving, .responseEnded):
            // The response ended before the request, or the connection is not reusable: the rest of the request is not sent.
            return (.closed, Actions(exchange: .succeed, connection: .close))
        case (.sent, .receiving, .enough(remainder: .short)):
            return (.skipping, Actions())
        case (_, .receiving, .enough):
            return (.closed, Actions(exchange: .succeed, connection: .close))
        case (_, .awaitingHead, .upgraded):
            return (.upgraded, Actions())
        case (_, _, .cancel), (_, _, .broken), (_, _, .close):
            return (.closed, Actions(exchange: .fail, connection: .close))
        case (_, _, .release), (_, _, .resume), (_, _, .pause):
            return (.exchanging(request, response), Actions())
        case (_, _, .begin), (_, _, .headReceived), (_, _, .responseEnded), (_, _, .enough),
            (_, _, .remainderIsLate), (_, _, .drainLimitExceeded), (_, _, .upgraded):
            preconditionFailure("\(event) is impossible while exchanging: \(request), \(response)")
        }
    }

    private static func whenSkipping(_ event: Event) -> Transition {
        switch event {
        case .responseEnded(reusable: true):
            return (.idle, Actions(exchange: .succeed, connection: .returnToPool))
        case .remainderIsLate: return (.draining, Actions(exchange: .succeed))
        case .cancel: return (.draining, Actions(exchange: .fail))
        case .responseEnded, .drainLimitExceeded, .broken, .close:
            // The exchange succeeds although the remainder is lost: all that the consumer needed has arrived.
            return (.closed, Actions(exchange: .succeed, connection: .close))
        case .release, .resume: return (.skipping, Actions())
        case .begin, .requestSent, .headReceived, .pause, .enough, .upgraded:
            preconditionFailure("\(event) is impossible while skipping")
        }
    }

    private static func whenDraining(_ event: Event) -> Transition {
        switch event {
        case .responseEnded(reusable: true): return (.idle, Actions(connection: .returnToPool))
        case .responseEnded, .drainLimitExceeded, .broken, .close:
            return (.closed, Actions(connection: .close))
        case .release, .resume, .cancel: return (.draining, Actions())
        case .begin, .requestSent, .headReceived, .pause, .enough, .remainderIsLate, .upgraded:
            preconditionFailure("\(event) is impossible while draining")
        }
    }

    private static func whenUpgraded(_ event: Event) -> Transition {
        switch event {
        // The exchange has ended with the upgrade, so only the connection closes.
        case .broken, .close, .cancel: return (.closed, Actions(connection: .close))
        case .release, .resume: return (.upgraded, Actions())
        case .begin, .requestSent, .headReceived, .pause, .responseEnded, .enough, .remainderIsLate,
            .drainLimitExceeded, .upgraded:
            preconditionFailure("\(event) is impossible while upgraded")
        }
    }

    private static func whenClosed(_ event: Event) -> Transition {
        switch event {
        case .release, .resume, .cancel, .broken, .close: return (.closed, Actions())
        case .begin, .requestSent, .headReceived, .pause, .responseEnded, .enough, .remainderIsLate,
            .drainLimitExceeded, .upgraded:
            preconditionFailure("\(event) is impossible while closed")
        }
    }
}
