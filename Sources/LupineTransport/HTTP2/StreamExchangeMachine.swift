// SPDX-License-Identifier: MIT

/// The state machine of one exchange on its stream, from the request's head to the end.
///
/// Pure: `HTTP2Connection` reports events and performs the returned actions. `HTTP2Machine` interprets the frames of a stream;
/// this machine tracks what the exchange and its consumer have done. As in `HTTP1Machine` the two halves have separate states;
/// unlike there, no event here ends the connection.
struct StreamExchangeMachine: ~Copyable {
    enum State: Hashable {
        case exchanging(Outward, Inward)  // → leaving, over
        /// The consumer needs no more. Input that has been read is dropped; then the stream is reset, if it has not ended.
        case leaving  // → over
        case over
    }
    // The halves and their events are the same as in `HTTP1Machine`: each machine shows its whole table of transitions.

    /// The state of the request.
    enum Outward: Hashable {
        /// The head announces content, which waits for `100 Continue`.
        case holding
        case sending
        case sent
    }
    /// The state of the response.
    enum Inward: Hashable {
        case awaitingHead
        case receiving
        /// The consumer accepts no more for now.
        case paused
    }

    enum Event: Hashable {
        /// The content is held back until the peer asks for it.
        case hold
        /// The peer asked for the content, or the wait for `100 Continue` timed out.
        case release
        case requestSent
        case headReceived
        case pause
        case resume
        /// The response is complete, and all of it has been delivered.
        case responseEnded
        /// The consumer needs no more of the response.
        case enough
        /// All input that was read in this turn has been handled.
        case turnEnded
        /// The owner cancelled the exchange, or a local error occurred.
        case cancel
        /// The stream is gone: the peer or the codec has reset it, or its connection has ended.
        case broken
    }

    struct Actions: Hashable {
        var exchange = ExchangeAction.keep
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

    private(set) var state = State.exchanging(.sending, .awaitingHead)

    /// The only writer of `state`.
    mutating func handle(_ event: Event) -> Actions {
        switch (state, event) {
        case (.exchanging(.sending, let inward), .hold):
            state = .exchanging(.holding, inward)
            return Actions()
        case (.exchanging(.holding, let inward), .release):
            state = .exchanging(.sending, inward)
            return Actions(releasesContent: true)
        case (.exchanging(_, let inward), .requestSent):
            state = .exchanging(.sent, inward)
            return Actions()
        case (.exchanging(let outward, .awaitingHead), .headReceived):
            state = .exchanging(outward, .receiving)
            return Actions()
        case (.exchanging(let outward, .receiving), .pause):
            state = .exchanging(outward, .paused)
            return Actions()
        case (.exchanging(let outward, .paused), .resume):
            state = .exchanging(outward, .receiving)
            return Actions()
        case (.exchanging(_, .receiving), .responseEnded):
            // Early or not: the response is complete, and the rest of the request is not sent.
            state = .over
            return Actions(exchange: .succeed)
        case (.exchanging(_, .receiving), .enough):
            state = .leaving
            return Actions()
        case (.exchanging, .cancel), (.exchanging, .broken), (.leaving, .cancel):
            state = .over
            return Actions(exchange: .fail)
        case (.leaving, .responseEnded), (.leaving, .turnEnded), (.leaving, .broken):
            // Whatever happens to the rest, all that the consumer needed has arrived.
            state = .over
            return Actions(exchange: .succeed)

        // Late calls from above, or from the connection's own buffers, have no effect.
        case (.exchanging, .release), (.exchanging, .resume), (.exchanging, .pause),
            (.exchanging, .turnEnded),
            (.leaving, .release), (.leaving, .resume), (.leaving, .requestSent), (.leaving, .pause),
            (.leaving, .enough),
            (.over, .release), (.over, .resume), (.over, .requestSent), (.over, .pause), (.over, .enough),
            (.over, .turnEnded), (.over, .cancel), (.over, .broken):
            return Actions()

        case (.exchanging, .hold), (.exchanging, .headReceived), (.exchanging, .responseEnded),
            (.exchanging, .enough),
            (.leaving, .hold), (.leaving, .headReceived),
            (.over, .hold), (.over, .headReceived), (.over, .responseEnded):
            preconditionFailure("\(event) is impossible while \(state)")
        }
    }
}
