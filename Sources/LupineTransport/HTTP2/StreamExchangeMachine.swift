// SPDX-License-Identifier: MIT

/// What happens next to one exchange on its stream, from the request's head to the end.
///
/// Pure: `HTTP2Connection` tells it what happened and performs what it answers. It stands beside `HTTP2Machine`, which knows
/// what the frames of a stream mean, and says what its consumer has come to. As in `HTTP1Machine` the two halves move on
/// their own; unlike there, nothing that happens here ends the connection.
struct StreamExchangeMachine: ~Copyable {
    enum State: Hashable {
        case exchanging(Outward, Inward)  // → leaving, over
        /// The consumer has all that it wants. What is at hand is dropped; then the stream is reset, if it has not ended.
        case leaving  // → over
        case over
    }
    /// Our half.
    enum Outward: Hashable {
        /// The head announces content, which waits for the peer's word.
        case holding
        case sending
        case sent
    }
    /// The peer's half.
    enum Inward: Hashable {
        case awaitingHead
        case receiving
        /// Our consumer takes no more for now.
        case paused
    }

    enum Event: Hashable {
        /// The content is held back until the peer asks for it.
        case hold
        /// The peer asked for the content, or our patience is over.
        case release
        case requestSent
        case headReceived
        case pause
        case resume
        /// The response is whole, and all of it has been passed on.
        case responseEnded
        /// The consumer wants no more of it.
        case enough
        /// Everything that was at hand has been looked at.
        case turnEnded
        /// Taken back from above, or something went wrong on our side.
        case cancel
        /// The stream is gone: the peer or the codec has reset it, or its connection has ended.
        case broken
    }

    struct Actions: Hashable {
        var exchange = ExchangeAction.keep
        /// The held content may be sent now.
        var releasesContent = false
    }
    enum ExchangeAction: Hashable {
        case keep
        /// Over, with all that was due.
        case succeed
        /// Over, with the error that the event came with.
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
            // Early or not: the answer is whole, and what is left of the request is nobody's any more.
            state = .over
            return Actions(exchange: .succeed)
        case (.exchanging(_, .receiving), .enough):
            state = .leaving
            return Actions()
        case (.exchanging, .cancel), (.exchanging, .broken), (.leaving, .cancel):
            state = .over
            return Actions(exchange: .fail)
        case (.leaving, .responseEnded), (.leaving, .turnEnded), (.leaving, .broken):
            // Whatever happens to the rest: all that was wanted has come.
            state = .over
            return Actions(exchange: .succeed)

        // What comes late, from above or out of our own buffers, means nothing any more.
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
