// SPDX-License-Identifier: MIT

internal import Foundation

/// Decides the course of one task's load: its transactions one after the other, the questions between them, and its single end. A
/// transaction is a hop that is carried out: a request and its response.
///
/// Pure: `TaskDriver` reports events to it and performs the actions that it returns. It knows nothing about requests, responses
/// and cache entries; what they lead to has been judged before. At most one transaction runs at a time, and none outlives the
/// load: while one runs, the load ends only when it has ended.
struct HopMachine: Sendable {
    enum State: Sendable {
        /// Not started.
        case new  // → preparing, over
        /// The next transaction is being prepared; none is running.
        case preparing  // → running, answering, over
        /// There is no connectivity; no transaction is running.
        case offline  // → preparing, over
        /// A transaction is running and has not responded.
        case running  // → thinking, leaving, delivering, offline, preparing, stopping, over
        /// Its response is held while the client is asked what to do with it. The payload is how the transaction has ended, if
        /// it has.
        case thinking(HopEnd?)  // → preparing, leaving, delivering, answering, stopping, over
        /// The transaction is not wanted any more; its end is awaited.
        case leaving(Next)  // → preparing, answering, over, stopping
        /// The transaction's response is the load's.
        case delivering  // → storing, stopping, over
        /// The cached response is the load's; no transaction is running.
        case answering  // → over
        /// All content is delivered, and the client is asked what to store; no transaction is running.
        case storing  // → over
        /// The transaction was cancelled; when it has ended, the load ends with this error.
        case stopping(URLError)  // → over
        case over
    }

    /// How a transaction has ended.
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

    /// What follows when an unwanted transaction has ended.
    enum Next: Sendable { case hop, cached, end }

    /// What a response, or the refusal of the transaction by a proxy, leads to.
    enum ResponseDecision: Sendable {
        /// The response is delivered.
        case deliver
        /// The client is asked.
        case ask
        /// Another transaction follows, without asking.
        case again
        /// The cache entry is still valid, and is delivered.
        case cached
        /// The response is delivered, but not the content that follows it.
        case deliverAlone
        case fail(URLError)
    }

    /// The outcome of the preparation of a transaction.
    enum Preparation: Sendable {
        /// The transaction is ready to start.
        case load
        /// The cache has the response.
        case answer
        case fail(URLError)
    }

    /// What the end of a transaction means, if it comes in a state in which it can mean that.
    enum Meaning: Sendable {
        case end
        /// There was no connectivity, and the load has to wait for it.
        case noNetwork
        /// A proxy has refused the transaction.
        case refused(ResponseDecision)
        /// The content is complete and may be stored.
        case storable
    }

    enum Event: Sendable {
        case start
        case cancel(URLError)
        case prepared(Preparation)
        /// What the preparation waited for is available.
        case ready
        /// The transaction's final response has arrived, and the driver has judged it.
        case judged(ResponseDecision)
        /// The client has answered the question; the payload is what its answer leads to.
        case decided(ResponseDecision)
        case hopEnded(HopEnd, Meaning)
        /// The network has changed.
        case online
        /// The client can take more of the cached response.
        case resumed
        /// The client needs no more of the cached response.
        case answered
        case stored
    }

    /// A step of work. Steps are performed one after the other, and the client is told of nothing else meanwhile.
    enum Work: Sendable {
        /// Prepare the next transaction, or find the cached response.
        case prepare
        /// Continue the preparation.
        case make
        /// Tell the client which request is sent.
        case announce
        /// Deliver the held response to the client.
        case respond
        /// Ask the client the question that the response raises.
        case ask
        /// Wait for connectivity.
        case wait
        /// Deliver the cached response to the client.
        case answer
        /// Continue to deliver it.
        case pump
        /// Ask the client what is to be stored.
        case offer
        /// Tell the client that the load has ended.
        case end((any Error)?)
    }

    /// What the transaction is told after the work.
    enum Order: Sendable {
        case none
        case start
        /// It continues as the client has decided about the response's content.
        case proceed
        case skip
        case cancel(URLError)
    }

    /// The actions to perform: the work in its order, then the order to the transaction.
    struct Actions: Sendable {
        var work: SmallArray<Work>
        var order: Order

        init(_ work: Work? = nil, order: Order = .none) {
            self.work = SmallArray()
            self.order = order
            if let work { self.work.append(work) }
        }
    }

    private(set) var state = State.new

    /// Whether the transaction's content is passed on to the client.
    var isDelivering: Bool {
        if case .delivering = state { return true }
        return false
    }

    /// Whether a transaction is running and nothing has ended the load.
    var isRunning: Bool {
        switch state {
        case .running, .delivering: true
        case .new, .preparing, .offline, .thinking, .leaving, .answering, .storing, .stopping, .over: false
        }
    }

    /// Whether the next transaction is being prepared.
    var isPreparing: Bool {
        if case .preparing = state { return true }
        return false
    }

    /// Whether the transaction has not responded yet.
    var awaitsResponse: Bool {
        if case .running = state { return true }
        return false
    }

    /// Whether the cached response is being delivered.
    var isAnswering: Bool {
        if case .answering = state { return true }
        return false
    }

    /// Whether the load waits for connectivity.
    var isOffline: Bool {
        if case .offline = state { return true }
        return false
    }

    /// Whether a question about a response is open.
    var isThinking: Bool {
        if case .thinking = state { return true }
        return false
    }

    /// Whether the client is being asked what to store.
    var isStoring: Bool {
        if case .storing = state { return true }
        return false
    }

    /// Whether the load has ended.
    var isOver: Bool {
        if case .over = state { return true }
        return false
    }

    /// The only writer of `state`. Events that come too late have no effect, since the program may answer at any time.
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

    /// Ends the load now. No transaction may be running.
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

    /// Cancels the running transaction; the load ends when that has ended.
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

    private mutating func judged(_ judgement: ResponseDecision) -> Actions {
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

    private mutating func decided(_ judgement: ResponseDecision) -> Actions {
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
            // The resource time-out also limits the wait for the answer.
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

    /// Ends the load successfully if its state is the expected one.
    private mutating func finished(_ isDue: (State) -> Bool) -> Actions {
        isDue(state) ? end(nil) : Actions()
    }
}
