// SPDX-License-Identifier: MIT

/// The state machine of one exchange on its stream, from the request's head to the end.
///
/// Pure: `HTTP2Connection` reports events and performs the returned actions. `HTTP2Machine` interprets the frames of a stream;
/// this machine tracks what the exchange and its consumer have done. As in `HTTP1Machine`, request and response have separate
/// states. Unlike there, no event ends the connection: an action concerns only the exchange.
struct StreamExchangeMachine: ~Copyable {
    /// The states, each with the states that may follow it.
    enum State: Hashable {
        case exchanging(RequestState, ResponseState)  // → skipping, over
        /// The consumer needs no more of the response. The connection drops the input that it has read, and then resets the
        /// stream, unless the stream has ended with that input.
        case skipping  // → over
        case over
    }
    // Both states and their events are the same as in `HTTP1Machine`: they are not shared, so that each machine shows its whole
    // table of transitions.

    /// The state of the request.
    enum RequestState: Hashable {
        /// The head announces content, which waits for `100 Continue`.
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
        /// The content must wait for `100 Continue`.
        case hold
        /// The content may be sent: the peer answered `100 Continue`, or the wait for that answer timed out.
        case release
        case requestSent
        case headReceived
        case pause
        case resume
        /// The response is complete, and all of it has been delivered.
        case responseEnded
        /// The consumer needs no more of the response.
        case enough
        /// The connection has handled all input that it read in this turn of the loop.
        case turnEnded
        /// The owner cancelled the exchange, or a local error occurred.
        case cancel
        /// The stream is gone: the peer or the codec has reset it, or its connection has ended.
        case broken
    }

    /// The actions that follow from an event.
    struct Actions: Hashable {
        var exchange = ExchangeAction.keep
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

    private(set) var state = State.exchanging(.sending, .awaitingHead)

    /// Changes the state for an event, and returns the actions to perform; nothing else changes the state. The events `hold`,
    /// `requestSent`, `headReceived`, `pause`, `resume` and `enough` need no action, so their callers discard the result.
    mutating func handle(_ event: Event) -> Actions {
        switch (state, event) {
        case (.exchanging(.sending, let response), .hold):
            state = .exchanging(.awaitingContinue, response)
            return Actions()
        case (.exchanging(.awaitingContinue, let response), .release):
            state = .exchanging(.sending, response)
            return Actions(releasesContent: true)
        case (.exchanging(_, let response), .requestSent):
            state = .exchanging(.sent, response)
            return Actions()
        case (.exchanging(let request, .awaitingHead), .headReceived):
            state = .exchanging(request, .receiving)
            return Actions()
        case (.exchanging(let request, .receiving), .pause):
            state = .exchanging(request, .paused)
            return Actions()
        case (.exchanging(let request, .paused), .resume):
            state = .exchanging(request, .receiving)
            return Actions()
        case (.exchanging(_, .receiving), .responseEnded):
            // The response is complete. If the request is not, the rest of it is not sent.
            state = .over
            return Actions(exchange: .succeed)
        case (.exchanging(_, .receiving), .enough):
            state = .skipping
            return Actions()
        case (.exchanging, .cancel), (.exchanging, .broken), (.skipping, .cancel):
            state = .over
            return Actions(exchange: .fail)
        case (.skipping, .responseEnded), (.skipping, .turnEnded), (.skipping, .broken):
            // The exchange succeeds although the remainder is lost: all that the consumer needed has arrived.
            state = .over
            return Actions(exchange: .succeed)

        // Late calls of the layer above, and late events from the connection's buffers, have no effect.
        case (.exchanging, .release), (.exchanging, .resume), (.exchanging, .pause),
            (.exchanging, .turnEnded),
            (.skipping, .release), (.skipping, .resume), (.skipping, .requestSent), (.skipping, .pause),
            (.skipping, .enough),
            (.over, .release), (.over, .resume), (.over, .requestSent), (.over, .pause), (.over, .enough),
            (.over, .turnEnded), (.over, .cancel), (.over, .broken):
            return Actions()

        case (.exchanging, .hold), (.exchanging, .headReceived), (.exchanging, .responseEnded),
            (.exchanging, .enough),
            (.skipping, .hold), (.skipping, .headReceived),
            (.over, .hold), (.over, .headReceived), (.over, .responseEnded):
            preconditionFailure("\(event) is impossible while \(state)")
        }
    }
}
