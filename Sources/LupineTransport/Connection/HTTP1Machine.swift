// SPDX-License-Identifier: MIT

/// What happens next on one HTTP/1.1 connection: its life from the first exchange to the close.
///
/// Pure: no socket, clock or codec. `HTTP1Connection` tells it what happened and performs what it answers. The two
/// halves of an exchange move on their own, since a response may begin, and even end, while its request is still
/// being sent.
struct HTTP1Machine: ~Copyable {
    enum State: Hashable {
        case idle  // → exchanging, closed
        case exchanging(Outward, Inward)  // → idle, leaving, upgraded, closed
        /// The exchange is as good as over: the short rest of its response is being skipped, and its end is held back for
        /// a moment, so that whoever hears of it finds the connection at hand.
        case leaving  // → idle, draining, closed
        /// The exchange is over for everybody above; the rest of its response is being skipped.
        case draining  // → idle, closed
        case upgraded  // → closed
        case closed
    }
    /// Our half.
    enum Outward: Hashable {
        /// The head is out and announces content, which waits for the peer's word.
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
        /// An exchange begins; whether it has content that is held back, content, or none.
        case begin(Outward)
        /// The peer asked for the content, or our patience is over.
        case release
        case requestSent
        case headReceived
        case pause
        case resume
        /// The last octet of a response has been read.
        case responseEnded(reusable: Bool)
        /// The consumer wants no more of it.
        case enough(rest: Rest)
        /// The rest is not here yet: nobody is to wait any longer for it.
        case restIsLate
        /// More of a skipped body came than is worth reading.
        case drainedEnough
        case upgraded
        /// Taken back from above.
        case cancel
        /// The peer closed, something broke, a time ran out, or octets came that belong to nothing.
        case broken
        /// The pool wants it closed.
        case close
    }
    /// What is left of a body nobody wants.
    enum Rest: Hashable { case short, long }

    /// One field per kind of effect: effects combine without combined cases.
    struct Actions: Hashable {
        var exchange = ExchangeAction.keep
        var connection = ConnectionAction.keep
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
    enum ConnectionAction: Hashable {
        case keep
        /// Give it back to the pool, to be lent again.
        case giveBack
        case close
    }

    private(set) var state = State.idle

    /// The only writer of `state`.
    mutating func handle(_ event: Event) -> Actions {
        switch (state, event) {
        case (.idle, .begin(let outward)):
            state = .exchanging(outward, .awaitingHead)
            return Actions()

        case (.exchanging(.holding, let inward), .release):
            state = .exchanging(.sending, inward)
            return Actions(releasesContent: true)
        case (.exchanging(_, let inward), .requestSent):
            state = .exchanging(.sent, inward)
            return Actions()
        case (.exchanging(let outward, .awaitingHead), .headReceived):
            // A final answer to held content says that the peer does not want it: it is never sent.
            state = .exchanging(outward, .receiving)
            return Actions()
        case (.exchanging(let outward, .receiving), .pause):
            state = .exchanging(outward, .paused)
            return Actions()
        case (.exchanging(let outward, .paused), .resume):
            state = .exchanging(outward, .receiving)
            return Actions()
        case (.exchanging(.sent, .receiving), .responseEnded(reusable: true)):
            state = .idle
            return Actions(exchange: .succeed, connection: .giveBack)
        case (.exchanging(_, .receiving), .responseEnded):
            // Early: the answer is whole, the rest of the request is nobody's any more.
            state = .closed
            return Actions(exchange: .succeed, connection: .close)
        case (.exchanging(.sent, .receiving), .enough(rest: .short)):
            state = .leaving
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

        case (.leaving, .responseEnded(reusable: true)):
            state = .idle
            return Actions(exchange: .succeed, connection: .giveBack)
        case (.leaving, .restIsLate):
            state = .draining
            return Actions(exchange: .succeed)
        case (.leaving, .cancel):
            state = .draining
            return Actions(exchange: .fail)
        case (.leaving, .responseEnded), (.leaving, .drainedEnough), (.leaving, .broken), (.leaving, .close):
            // Whatever happens to the rest: all that was wanted has come.
            state = .closed
            return Actions(exchange: .succeed, connection: .close)

        case (.draining, .responseEnded(reusable: true)):
            state = .idle
            return Actions(connection: .giveBack)
        case (.draining, .responseEnded), (.draining, .drainedEnough), (.draining, .broken),
            (.draining, .close):
            state = .closed
            return Actions(connection: .close)

        case (.idle, .broken), (.idle, .close):
            state = .closed
            return Actions(connection: .close)
        case (.upgraded, .broken), (.upgraded, .close), (.upgraded, .cancel):
            state = .closed
            return Actions(connection: .close)

        // What comes late from above means nothing any more.
        case (.closed, .release), (.closed, .resume), (.closed, .cancel), (.closed, .broken),
            (.closed, .close),
            (.exchanging, .release), (.exchanging, .resume), (.exchanging, .pause),
            (.idle, .release), (.idle, .resume), (.idle, .cancel),
            (.leaving, .release), (.leaving, .resume),
            (.draining, .release), (.draining, .resume), (.draining, .cancel),
            (.upgraded, .release), (.upgraded, .resume):
            return Actions()

        case (.exchanging, .begin), (.exchanging, .headReceived), (.exchanging, .responseEnded),
            (.exchanging, .enough), (.exchanging, .restIsLate), (.exchanging, .drainedEnough),
            (.exchanging, .upgraded),
            (.idle, .requestSent), (.idle, .headReceived), (.idle, .pause), (.idle, .responseEnded),
            (.idle, .enough), (.idle, .restIsLate), (.idle, .drainedEnough), (.idle, .upgraded),
            (.leaving, .begin), (.leaving, .requestSent), (.leaving, .headReceived), (.leaving, .pause),
            (.leaving, .enough), (.leaving, .upgraded),
            (.draining, .begin), (.draining, .requestSent), (.draining, .headReceived), (.draining, .pause),
            (.draining, .enough), (.draining, .restIsLate), (.draining, .upgraded),
            (.upgraded, .begin), (.upgraded, .requestSent), (.upgraded, .headReceived), (.upgraded, .pause),
            (.upgraded, .responseEnded), (.upgraded, .enough), (.upgraded, .restIsLate),
            (.upgraded, .drainedEnough), (.upgraded, .upgraded),
            (.closed, .begin), (.closed, .requestSent), (.closed, .headReceived), (.closed, .pause),
            (.closed, .responseEnded), (.closed, .enough), (.closed, .restIsLate), (.closed, .drainedEnough),
            (.closed, .upgraded):
            preconditionFailure("\(event) is impossible while \(state)")
        }
    }
}
