// SPDX-License-Identifier: MIT

/// The state machine of one HTTP/1.1 connection, from the first exchange to the close.
///
/// Pure: no socket, clock or codec. `HTTP1Connection` reports events and performs the returned actions. The two halves of an
/// exchange have separate states, since a response may begin, and even end, while its request is still being sent.
struct HTTP1Machine: ~Copyable {
    enum State: Hashable {
        case idle  // → exchanging, closed
        case exchanging(RequestState, ResponseState)  // → idle, skipping, upgraded, closed
        /// The consumer needs no more of the response. The connection reads and discards the short remainder, and holds the end
        /// of the exchange back for a moment, so that a request started from the completion can reuse the connection.
        case skipping  // → idle, draining, closed
        /// The exchange has ended for the layer above; the connection still reads and discards the remainder of its response.
        case draining  // → idle, closed
        case upgraded  // → closed
        case closed
    }
    // The halves and their events are the same as in `StreamExchangeMachine`: each machine shows its whole table of transitions.

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
        /// The peer asked for the content, or the wait for `100 Continue` timed out.
        case release
        case requestSent
        case headReceived
        case pause
        case resume
        /// The last octet of a response has been read.
        case responseEnded(reusable: Bool)
        /// The consumer needs no more of the response.
        case enough(rest: Rest)
        /// The remainder has not arrived in time: the end of the exchange is no longer held back for it.
        case restIsLate
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
    /// The length of what remains of an unwanted body: short enough to read it in order to keep the connection, or not.
    enum Rest: Hashable { case short, long }

    /// One field per kind of effect: effects combine without combined cases.
    struct Actions: Hashable {
        var exchange = ExchangeAction.keep
        var connection = ConnectionAction.keep
        /// Whether the held content may be sent now.
        var releasesContent = false
    }
    enum ExchangeAction: Hashable {
        case keep
        /// End it successfully.
        case succeed
        /// End it with the error of the event.
        case fail
    }
    enum ConnectionAction: Hashable {
        case keep
        /// Return it to the pool for reuse.
        case returnToPool
        case close
    }

    private(set) var state = State.idle

    /// The only writer of `state`.
    mutating func handle(_ event: Event) -> Actions {
        switch (state, event) {
        case (.idle, .begin(let request)):
            state = .exchanging(request, .awaitingHead)
            return Actions()

        case (.exchanging(.awaitingContinue, let response), .release):
            state = .exchanging(.sending, response)
            return Actions(releasesContent: true)
        case (.exchanging(_, let response), .requestSent):
            state = .exchanging(.sent, response)
            return Actions()
        case (.exchanging(let request, .awaitingHead), .headReceived):
            // A final response to held content means that the peer does not want the content: it is never sent.
            state = .exchanging(request, .receiving)
            return Actions()
        case (.exchanging(let request, .receiving), .pause):
            state = .exchanging(request, .paused)
            return Actions()
        case (.exchanging(let request, .paused), .resume):
            state = .exchanging(request, .receiving)
            return Actions()
        case (.exchanging(.sent, .receiving), .responseEnded(reusable: true)):
            state = .idle
            return Actions(exchange: .succeed, connection: .returnToPool)
        case (.exchanging(_, .receiving), .responseEnded):
            // The response ended before the request, or the connection is not reusable: the rest of the request is not sent.
            state = .closed
            return Actions(exchange: .succeed, connection: .close)
        case (.exchanging(.sent, .receiving), .enough(rest: .short)):
            state = .skipping
            return Actions()
        case (.exchanging(_, .receiving), .enough):
            state = .closed
            return Actions(exchange: .succeed, connection: .close)
        case (.exchanging(_, .awaitingHead), .upgraded):
            state = .upgraded
            return Actions()
        case (.exchanging, .cancel), (.exchanging, .broken), (.exchanging, .close):
            state = .closed
            return Actions(exchange: .fail, connection: .close)

        case (.skipping, .responseEnded(reusable: true)):
            state = .idle
            return Actions(exchange: .succeed, connection: .returnToPool)
        case (.skipping, .restIsLate):
            state = .draining
            return Actions(exchange: .succeed)
        case (.skipping, .cancel):
            state = .draining
            return Actions(exchange: .fail)
        case (.skipping, .responseEnded), (.skipping, .drainLimitExceeded), (.skipping, .broken),
            (.skipping, .close):
            // The exchange succeeds although the remainder is lost: all that the consumer needed has arrived.
            state = .closed
            return Actions(exchange: .succeed, connection: .close)

        case (.draining, .responseEnded(reusable: true)):
            state = .idle
            return Actions(connection: .returnToPool)
        case (.draining, .responseEnded), (.draining, .drainLimitExceeded), (.draining, .broken),
            (.draining, .close):
            state = .closed
            return Actions(connection: .close)

        case (.idle, .broken), (.idle, .close):
            state = .closed
            return Actions(connection: .close)
        case (.upgraded, .broken), (.upgraded, .close), (.upgraded, .cancel):
            state = .closed
            return Actions(connection: .close)

        // Late calls of the layer above have no effect.
        case (.closed, .release), (.closed, .resume), (.closed, .cancel), (.closed, .broken),
            (.closed, .close),
            (.exchanging, .release), (.exchanging, .resume), (.exchanging, .pause),
            (.idle, .release), (.idle, .resume), (.idle, .cancel),
            (.skipping, .release), (.skipping, .resume),
            (.draining, .release), (.draining, .resume), (.draining, .cancel),
            (.upgraded, .release), (.upgraded, .resume):
            return Actions()

        case (.exchanging, .begin), (.exchanging, .headReceived), (.exchanging, .responseEnded),
            (.exchanging, .enough), (.exchanging, .restIsLate), (.exchanging, .drainLimitExceeded),
            (.exchanging, .upgraded),
            (.idle, .requestSent), (.idle, .headReceived), (.idle, .pause), (.idle, .responseEnded),
            (.idle, .enough), (.idle, .restIsLate), (.idle, .drainLimitExceeded), (.idle, .upgraded),
            (.skipping, .begin), (.skipping, .requestSent), (.skipping, .headReceived), (.skipping, .pause),
            (.skipping, .enough), (.skipping, .upgraded),
            (.draining, .begin), (.draining, .requestSent), (.draining, .headReceived), (.draining, .pause),
            (.draining, .enough), (.draining, .restIsLate), (.draining, .upgraded),
            (.upgraded, .begin), (.upgraded, .requestSent), (.upgraded, .headReceived), (.upgraded, .pause),
            (.upgraded, .responseEnded), (.upgraded, .enough), (.upgraded, .restIsLate),
            (.upgraded, .drainLimitExceeded), (.upgraded, .upgraded),
            (.closed, .begin), (.closed, .requestSent), (.closed, .headReceived), (.closed, .pause),
            (.closed, .responseEnded), (.closed, .enough), (.closed, .restIsLate),
            (.closed, .drainLimitExceeded), (.closed, .upgraded):
            preconditionFailure("\(event) is impossible while \(state)")
        }
    }
}
