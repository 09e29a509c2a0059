// SPDX-License-Identifier: MIT

internal import Foundation

/// Decides the course of one task's load: its hops one after the other, the questions to the client between them, and its single
/// end.
///
/// Pure: `TaskDriver` reports events to it and performs the actions that it returns. The machine sees no requests, responses or
/// cache entries: the driver evaluates a response and reports the `ResponseDecision`. At most one hop runs at a time, and none
/// outlives the load: a load that is cancelled while a hop runs ends when the hop has ended.
struct HopMachine: Sendable {
    /// The states, each with those that may follow it.
    enum State: Sendable {
        /// Not started.
        case new  // → preparing, over
        /// The next hop is being prepared; none is running.
        case preparing  // → running, deliveringCached, over
        /// There is no connectivity; no hop is running.
        case offline  // → preparing, over
        /// A hop is running; its response has not arrived.
        case running  // → asking, discarding, delivering, offline, preparing, stopping, over
        /// The hop's response is held until the client answers a question about it. The payload is nil while the hop runs, and
        /// its end afterwards.
        case asking(HopEnd?)  // → preparing, discarding, delivering, deliveringCached, stopping, over
        /// The rest of the hop is being discarded; when the hop has ended, `Next` follows.
        case discarding(Next)  // → preparing, deliveringCached, over, stopping
        /// The hop's response is final: its content goes to the client.
        case delivering  // → storing, stopping, over
        /// The client gets the cached response; no hop is running.
        case deliveringCached  // → over
        /// All content has been delivered, and the client is asked what to store in the cache; no hop is running.
        case storing  // → over
        /// The hop was cancelled; when it has ended, the load ends with this error.
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

    /// The continuation of the load after a discarded hop: another hop, the cached response, or the end.
    enum Next: Sendable { case hop, cached, end }

    /// The consequence of a response, or of the refusal of the hop by a proxy.
    enum ResponseDecision: Sendable {
        /// The response is delivered.
        case deliver
        /// The client is asked what to do.
        case ask
        /// Another hop follows without a question.
        case again
        /// The server has confirmed the cache entry, which is delivered.
        case cached
        /// The response is delivered without its content.
        case deliverAlone
        case fail(URLError)
    }

    /// The outcome of the preparation of a hop.
    enum Preparation: Sendable {
        /// The hop is ready to start.
        case load
        /// The cache has the response.
        case cached
        case fail(URLError)
    }

    /// The driver's interpretation of a hop's end. The machine ignores it in states in which it makes no difference.
    enum EndMeaning: Sendable {
        /// The load ends as the hop did.
        case end
        /// There was no connectivity, and the load has to wait for it.
        case noNetwork
        /// A proxy has refused the hop's request.
        case refused(ResponseDecision)
        /// The content is complete and may be stored.
        case storable
    }

    enum Event: Sendable {
        case start
        case cancel(URLError)
        case prepared(Preparation)
        /// The digest of a body or the cache entry, for which the preparation waited, is available; or another thread takes over
        /// the preparation.
        case canContinuePreparing
        /// The hop's final response has arrived; the payload is the driver's decision about it.
        case responded(ResponseDecision)
        /// The client has answered the question; the payload is the consequence of its answer.
        case decided(ResponseDecision)
        case hopEnded(HopEnd, EndMeaning)
        /// The network has changed.
        case online
        /// The client can take more of the cached response.
        case resumed
        /// The client has got all of the cached response, or wants no more of it.
        case cachedDelivered
        /// The client has answered what to store, and the cache has it.
        case stored
    }

    /// A step for the driver. It performs steps one after the other, and makes no other calls to the client meanwhile.
    enum Step: Sendable {
        /// Prepare the next hop, or find the cached response.
        case prepare
        /// Continue the preparation.
        case continuePreparing
        /// Report to the client which request is sent.
        case reportRequest
        /// Deliver the held response to the client.
        case deliverResponse
        /// Ask the client the question that the response raises.
        case ask
        /// Wait for connectivity.
        case waitForNetwork
        /// Deliver the cached response to the client.
        case deliverCached
        /// Continue to deliver the cached response.
        case continueDelivery
        /// Ask the client what is to be stored.
        case askWhatToStore
        /// Report the end of the load to the client.
        case end((any Error)?)
    }

    /// A command to the hop, which the driver gives after the steps.
    enum Command: Sendable {
        case none
        case start
        /// Consume the content as the client's `HopPlan` for the response says.
        case applyPlan
        /// Discard the rest of the content.
        case skip
        case cancel(URLError)
    }

    /// The actions to perform: first the steps in their order, then the command to the hop.
    struct Actions: Sendable {
        var steps: SmallArray<Step>
        var command: Command

        init(_ step: Step? = nil, command: Command = .none) {
            steps = SmallArray()
            self.command = command
            if let step { steps.append(step) }
        }
    }

    private(set) var state = State.new

    /// Whether the hop's content is passed on to the client.
    var isDelivering: Bool {
        if case .delivering = state { return true }
        return false
    }

    /// Whether a hop is running whose calls go to the client.
    var isRunning: Bool {
        switch state {
        case .running, .delivering: true
        case .new, .preparing, .offline, .asking, .discarding, .deliveringCached, .storing, .stopping, .over:
            false
        }
    }

    /// Whether the next hop is being prepared.
    var isPreparing: Bool {
        if case .preparing = state { return true }
        return false
    }

    /// Whether a hop is running whose response has not arrived.
    var awaitsResponse: Bool {
        if case .running = state { return true }
        return false
    }

    /// Whether the cached response is being delivered.
    var isDeliveringCached: Bool {
        if case .deliveringCached = state { return true }
        return false
    }

    /// Whether the load waits for connectivity.
    var isOffline: Bool {
        if case .offline = state { return true }
        return false
    }

    /// Whether a question about a response is open.
    var isAsking: Bool {
        if case .asking = state { return true }
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

    /// The only writer of `state`. Events that no longer apply have no effect, because the program may answer at any time.
    mutating func handle(_ event: Event) -> Actions {
        switch event {
        case .start: started()
        case .cancel(let error): cancelled(error)
        case .prepared(let preparation): prepared(preparation)
        case .canContinuePreparing: continuePreparing()
        case .responded(let decision): responded(decision)
        case .decided(let decision): decided(decision)
        case .hopEnded(let end, let meaning): hopEnded(end, meaning)
        case .online: online()
        case .resumed: resumed()
        case .cachedDelivered: isDeliveringCached ? end(nil) : Actions()
        case .stored: isStoring ? end(nil) : Actions()
        }
    }

    /// Ends the load now. No hop may be running.
    private mutating func end(_ error: (any Error)?, after step: Step? = nil) -> Actions {
        state = .over
        var actions = Actions(step)
        actions.steps.append(.end(error))
        return actions
    }

    private mutating func prepare() -> Actions {
        state = .preparing
        return Actions(.prepare)
    }

    /// Cancels the running hop; the load ends when the hop has ended.
    private mutating func stop(_ error: URLError) -> Actions {
        state = .stopping(error)
        return Actions(command: .cancel(error))
    }

    private mutating func started() -> Actions {
        switch state {
        case .new: prepare()
        case .preparing, .offline, .running, .asking, .discarding, .delivering, .deliveringCached, .storing,
            .stopping,
            .over:
            Actions()
        }
    }

    private mutating func cancelled(_ error: URLError) -> Actions {
        switch state {
        case .new, .preparing, .offline, .asking(.some), .deliveringCached, .storing: end(error)
        case .running, .asking(nil), .discarding, .delivering: stop(error)
        case .stopping, .over: Actions()
        }
    }

    private mutating func prepared(_ preparation: Preparation) -> Actions {
        guard case .preparing = state else { return Actions() }
        switch preparation {
        case .load:
            state = .running
            return Actions(.reportRequest, command: .start)
        case .cached:
            state = .deliveringCached
            return Actions(.deliverCached)
        case .fail(let error): return end(error)
        }
    }

    private func continuePreparing() -> Actions {
        if case .preparing = state { return Actions(.continuePreparing) }
        return Actions()
    }

    private mutating func responded(_ decision: ResponseDecision) -> Actions {
        guard case .running = state else { return Actions() }
        switch decision {
        case .deliver:
            state = .delivering
            return Actions(.deliverResponse)
        case .deliverAlone:
            state = .discarding(.end)
            return Actions(.deliverResponse, command: .skip)
        case .ask:
            state = .asking(nil)
            return Actions(.ask)
        case .again:
            state = .discarding(.hop)
            return Actions(command: .skip)
        case .cached:
            state = .discarding(.cached)
            return Actions(command: .skip)
        case .fail(let error): return stop(error)
        }
    }

    private mutating func decided(_ decision: ResponseDecision) -> Actions {
        guard case .asking(let hopEnd) = state else { return Actions() }
        switch (decision, hopEnd) {
        case (.ask, _): return Actions(.ask)
        case (.deliver, nil):
            state = .delivering
            return Actions(.deliverResponse, command: .applyPlan)
        case (.deliverAlone, nil):
            state = .discarding(.end)
            return Actions(.deliverResponse, command: .skip)
        case (.deliver, let hopEnd?), (.deliverAlone, let hopEnd?):
            return end(hopEnd.error, after: .deliverResponse)
        case (.again, nil):
            state = .discarding(.hop)
            return Actions(command: .skip)
        case (.again, _?): return prepare()
        case (.cached, nil):
            state = .discarding(.cached)
            return Actions(command: .skip)
        case (.cached, _?):
            state = .deliveringCached
            return Actions(.deliverCached)
        case (.fail(let error), nil): return stop(error)
        case (.fail(let error), _?): return end(error)
        }
    }

    private mutating func hopEnded(_ hopEnd: HopEnd, _ meaning: EndMeaning) -> Actions {
        switch state {
        case .running: return endedUnanswered(hopEnd, meaning)
        case .asking(nil):
            // The resource time-out also limits the wait for the client's answer.
            if let error = hopEnd.error as? URLError, error.code == .timedOut { return end(error) }
            state = .asking(hopEnd)
            return Actions()
        case .discarding(.hop): return prepare()
        case .discarding(.cached):
            state = .deliveringCached
            return Actions(.deliverCached)
        case .discarding(.end): return end(nil)
        case .delivering:
            if case (.success, .storable) = (hopEnd, meaning) {
                state = .storing
                return Actions(.askWhatToStore)
            }
            return end(hopEnd.error)
        case .stopping(let error): return end(error)
        case .new, .preparing, .offline, .asking(.some), .deliveringCached, .storing, .over: return Actions()
        }
    }

    /// Handles the end of a hop that has got no response.
    private mutating func endedUnanswered(_ hopEnd: HopEnd, _ meaning: EndMeaning) -> Actions {
        switch meaning {
        case .noNetwork:
            state = .offline
            return Actions(.waitForNetwork)
        case .refused(.again): return prepare()
        case .refused(.ask):
            state = .asking(hopEnd)
            return Actions(.ask)
        case .refused(.fail(let error)): return end(error)
        case .refused(.deliver), .refused(.deliverAlone), .refused(.cached), .end, .storable:
            return end(hopEnd.error)
        }
    }

    private mutating func online() -> Actions {
        switch state {
        case .offline: prepare()
        case .new, .preparing, .running, .asking, .discarding, .delivering, .deliveringCached, .storing,
            .stopping,
            .over:
            Actions()
        }
    }

    private func resumed() -> Actions {
        isDeliveringCached ? Actions(.continueDelivery) : Actions()
    }
}
