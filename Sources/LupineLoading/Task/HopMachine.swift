// SPDX-License-Identifier: MIT

internal import Foundation

/// Decides the life of one task's load: one hop after the other, what is asked between them, and the one end.
///
/// Pure: `TaskDriver` tells it what happens and performs what it says. What a request, an answer or an entry of the cache
/// is, it does not know; what they lead to has been judged before. A hop is one transaction; at most one is under way, and
/// none outlives the load: where a hop runs, the load ends with it.
struct HopMachine: Sendable {
    enum State: Sendable {
        /// Not started.
        case new  // → preparing, over
        /// The next hop is made: no hop runs.
        case preparing  // → running, answering, over
        /// There is no way to the network: no hop runs.
        case offline  // → preparing, over
        /// A hop runs, and has not answered.
        case running  // → thinking, leaving, delivering, offline, preparing, stopping, over
        /// Its answer is held while somebody is asked what to do with it. The payload is how the hop has ended, if it has.
        case thinking(HopEnd?)  // → preparing, leaving, delivering, stopping, over
        /// The hop is not wanted any more; its end is awaited.
        case leaving(Next)  // → preparing, answering, over, stopping
        /// The hop's answer is the load's.
        case delivering  // → storing, stopping, over
        /// What the cache has is the load's answer: no hop runs.
        case answering  // → over
        /// All is delivered; what is to be stored is being asked: no hop runs.
        case storing  // → over
        /// The hop was told to end; then the load ends with this.
        case stopping(URLError)  // → over
        case over
    }

    /// How a hop has ended.
    enum HopEnd: Sendable {
        case success
        case failure(any Error)

        var error: (any Error)? {
            switch self {
            case .success: nil
            case .failure(let error): error
            }
        }
    }

    /// What follows when an unwanted hop has ended.
    enum Next: Sendable { case hop, cached, end }

    /// What a response of a hop, or its refusal by a proxy, leads to.
    enum Judgement: Sendable {
        /// It is the answer.
        case deliver
        /// Somebody is to be asked.
        case ask
        /// Another hop follows, without asking.
        case again
        /// The cache's entry is still good, and is the answer.
        case cached
        /// It is the answer, and what the source goes on to say is not.
        case deliverAlone
        case fail(URLError)
    }

    /// What was made of the next hop.
    enum Preparation: Sendable {
        /// It is ready to run.
        case load
        /// The cache has the answer.
        case answer
        case fail(URLError)
    }

    /// What the end of a hop means, if it comes where it can mean it.
    enum Meaning: Sendable {
        case end
        /// There was no way to the network, and the load is to wait for one.
        case noNetwork
        /// A proxy has refused to pass the hop on.
        case refused(Judgement)
        /// The content is whole and may be stored.
        case storable
    }

    enum Event: Sendable {
        case start
        case cancel(URLError)
        case prepared(Preparation)
        /// What the preparation had to wait for is there.
        case ready
        /// The hop's final response.
        case judged(Judgement)
        /// The answer to what was asked.
        case decided(Judgement)
        case hopEnded(HopEnd, Meaning)
        /// The network has changed.
        case online
        /// The client takes more of the cache's answer.
        case resumed
        /// The client has all that it wants of the cache's answer.
        case answered
        case stored
    }

    /// Something that is done one after the other, and nothing else meanwhile that the client could hear of.
    enum Work: Sendable {
        /// Make the next hop, or find the answer.
        case prepare
        /// Go on with that.
        case make
        /// Tell the client which request goes out.
        case announce
        /// Hand the held response to the client.
        case respond
        /// Ask the question that the response raises.
        case ask
        /// Wait for the network.
        case wait
        /// Hand the cache's answer to the client.
        case answer
        /// Go on with that.
        case pump
        /// Ask what is to be stored.
        case offer
        /// Tell the client that it is over.
        case end((any Error)?)
    }

    /// What the hop is told, after the work.
    enum Order: Sendable {
        case none
        case start
        /// It goes on as the client has answered the response.
        case proceed
        case skip
        case cancel(URLError)
    }

    /// What is to be performed: the work in its order, then what the hop is told.
    struct Actions: Sendable {
        var work: Few<Work>
        var order: Order

        init(_ work: Work? = nil, order: Order = .none) {
            self.work = Few()
            self.order = order
            if let work { self.work.append(work) }
        }
    }

    private(set) var state = State.new

    /// Whether what the hop says goes on to the client.
    var isDelivering: Bool {
        if case .delivering = state { return true }
        return false
    }

    /// Whether the hop is under way and nothing has ended the load.
    var isRunning: Bool {
        switch state {
        case .running, .delivering: true
        case .new, .preparing, .offline, .thinking, .leaving, .answering, .storing, .stopping, .over: false
        }
    }

    /// Whether the next hop is being made.
    var isPreparing: Bool {
        if case .preparing = state { return true }
        return false
    }

    /// Whether the hop has not answered yet.
    var awaitsResponse: Bool {
        if case .running = state { return true }
        return false
    }

    /// Whether the cache's answer is being handed on.
    var isAnswering: Bool {
        if case .answering = state { return true }
        return false
    }

    /// Whether the network is waited for.
    var isOffline: Bool {
        if case .offline = state { return true }
        return false
    }

    /// Whether a question about a response is open.
    var isThinking: Bool {
        if case .thinking = state { return true }
        return false
    }

    /// Whether what is to be stored is being asked.
    var isStoring: Bool {
        if case .storing = state { return true }
        return false
    }

    /// Whether the load has ended.
    var isOver: Bool {
        if case .over = state { return true }
        return false
    }

    /// The only writer of `state`. What comes too late is nothing: answers of a program's come when they come.
    mutating func handle(_ event: Event) -> Actions {
        switch event {
        case .start: started()
        case .cancel(let error): cancelled(error)
        case .prepared(let preparation): prepared(preparation)
        case .ready: ready()
        case .judged(let judgement): judged(judgement)
        case .decided(let judgement): decided(judgement)
        case .hopEnded(let end, let meaning): hopEnded(end, meaning)
        case .online: online()
        case .resumed: resumed()
        case .answered: finished { if case .answering = $0 { true } else { false } }
        case .stored: finished { if case .storing = $0 { true } else { false } }
        }
    }

    private mutating func end(_ error: (any Error)?, after work: Work? = nil) -> Actions {
        state = .over
        var actions = Actions(work)
        actions.work.append(.end(error))
        return actions
    }

    private mutating func prepare() -> Actions {
        state = .preparing
        return Actions(.prepare)
    }

    private mutating func stop(_ error: URLError) -> Actions {
        state = .stopping(error)
        return Actions(order: .cancel(error))
    }

    private mutating func started() -> Actions {
        switch state {
        case .new: prepare()
        case .preparing, .offline, .running, .thinking, .leaving, .delivering, .answering, .storing,
            .stopping,
            .over:
            Actions()
        }
    }

    private mutating func cancelled(_ error: URLError) -> Actions {
        switch state {
        case .new, .preparing, .offline, .thinking(.some), .answering, .storing: end(error)
        case .running, .thinking(nil), .leaving, .delivering: stop(error)
        case .stopping, .over: Actions()
        }
    }

    private mutating func prepared(_ preparation: Preparation) -> Actions {
        guard case .preparing = state else { return Actions() }
        switch preparation {
        case .load:
            state = .running
            return Actions(.announce, order: .start)
        case .answer:
            state = .answering
            return Actions(.answer)
        case .fail(let error): return end(error)
        }
    }

    private func ready() -> Actions {
        if case .preparing = state { return Actions(.make) }
        return Actions()
    }

    private mutating func judged(_ judgement: Judgement) -> Actions {
        guard case .running = state else { return Actions() }
        switch judgement {
        case .deliver:
            state = .delivering
            return Actions(.respond)
        case .deliverAlone:
            state = .leaving(.end)
            return Actions(.respond, order: .skip)
        case .ask:
            state = .thinking(nil)
            return Actions(.ask)
        case .again:
            state = .leaving(.hop)
            return Actions(order: .skip)
        case .cached:
            state = .leaving(.cached)
            return Actions(order: .skip)
        case .fail(let error): return stop(error)
        }
    }

    private mutating func decided(_ judgement: Judgement) -> Actions {
        guard case .thinking(let hopEnd) = state else { return Actions() }
        switch (judgement, hopEnd) {
        case (.ask, _): return Actions(.ask)
        case (.deliver, nil):
            state = .delivering
            return Actions(.respond, order: .proceed)
        case (.deliverAlone, nil):
            state = .leaving(.end)
            return Actions(.respond, order: .skip)
        case (.deliver, let hopEnd?), (.deliverAlone, let hopEnd?):
            return end(hopEnd.error, after: .respond)
        case (.again, nil):
            state = .leaving(.hop)
            return Actions(order: .skip)
        case (.again, _?): return prepare()
        case (.cached, nil):
            state = .leaving(.cached)
            return Actions(order: .skip)
        case (.cached, _?):
            state = .answering
            return Actions(.answer)
        case (.fail(let error), nil): return stop(error)
        case (.fail(let error), _?): return end(error)
        }
    }

    private mutating func hopEnded(_ hopEnd: HopEnd, _ meaning: Meaning) -> Actions {
        switch state {
        case .running: return endedUnanswered(hopEnd, meaning)
        case .thinking(nil):
            // Nobody waits longer than the whole load may take.
            if let error = hopEnd.error as? URLError, error.code == .timedOut { return end(error) }
            state = .thinking(hopEnd)
            return Actions()
        case .leaving(.hop): return prepare()
        case .leaving(.cached):
            state = .answering
            return Actions(.answer)
        case .leaving(.end): return end(nil)
        case .delivering:
            if case (.success, .storable) = (hopEnd, meaning) {
                state = .storing
                return Actions(.offer)
            }
            return end(hopEnd.error)
        case .stopping(let error): return end(error)
        case .new, .preparing, .offline, .thinking(.some), .answering, .storing, .over: return Actions()
        }
    }

    private mutating func endedUnanswered(_ hopEnd: HopEnd, _ meaning: Meaning) -> Actions {
        switch meaning {
        case .noNetwork:
            state = .offline
            return Actions(.wait)
        case .refused(.again): return prepare()
        case .refused(.ask):
            state = .thinking(hopEnd)
            return Actions(.ask)
        case .refused(.fail(let error)): return end(error)
        case .refused(.deliver), .refused(.deliverAlone), .refused(.cached), .end, .storable:
            return end(hopEnd.error)
        }
    }

    private mutating func online() -> Actions {
        switch state {
        case .offline: prepare()
        case .new, .preparing, .running, .thinking, .leaving, .delivering, .answering, .storing, .stopping,
            .over:
            Actions()
        }
    }

    private func resumed() -> Actions {
        isAnswering ? Actions(.pump) : Actions()
    }

    private mutating func finished(_ isDue: (State) -> Bool) -> Actions {
        isDue(state) ? end(nil) : Actions()
    }
}
