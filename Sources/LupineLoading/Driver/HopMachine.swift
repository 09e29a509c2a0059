// SPDX-License-Identifier: MIT

internal import Foundation

/// Decides the course of one task's load. A load consists of hops, which run one after the other: a hop is one request with its
/// response. Between two hops the load may ask its client a question. The load ends exactly once.
///
/// The machine has no side effects: `TaskDriver` reports events to it and performs the actions that it returns. The machine sees
/// no requests, responses or cache entries: the driver evaluates a response and reports the `ResponseDecision`. At most one hop
/// runs at a time, and no hop outlives the load: a load that is cancelled while a hop runs ends when the hop has ended.
struct HopMachine: Sendable {
    /// The states. The comment behind each case lists the states that may follow it.
    enum State: Sendable {
        /// The load has not started.
        case new  // → preparing, over
        /// The driver prepares the next hop; no hop is running.
        case preparing  // → running, deliveringCached, over
        /// The load waits for connectivity; no hop is running.
        case offline  // → preparing, over
        /// A hop is running; its response has not arrived.
        case running  // → asking, discarding, delivering, offline, preparing, stopping, over
        /// The client has been asked a question about the hop's response, and has not answered. The payload is nil while the hop
        /// runs; once the hop has ended, it says how.
        case asking(HopEnd?)  // → preparing, discarding, delivering, deliveringCached, stopping, over
        /// The hop discards the rest of its content. When the hop has ended, the load continues as the payload says.
        case discarding(then: AfterDiscarding)  // → preparing, deliveringCached, over, stopping
        /// The hop's response is the load's final response: its content goes to the client.
        case delivering  // → storing, stopping, over
        /// The driver delivers the cached response to the client; no hop is running.
        case deliveringCached  // → over
        /// The client has received all content, and is asked what to store in the cache; no hop is running.
        case storing  // → over
        /// The hop was cancelled. When it has ended, the load ends with this error.
        case stopping(URLError)  // → over
        /// The load has ended.
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

    /// What the load does after a hop whose content was discarded.
    enum AfterDiscarding: Sendable { case prepareHop, deliverCached, end }

    /// What follows from a response, or from a proxy's refusal to open a tunnel for the hop.
    enum ResponseDecision: Sendable {
        /// Deliver the response to the client.
        case deliver
        /// Ask the client what to do.
        case ask
        /// Send another request in a new hop, without a question to the client.
        case nextHop
        /// Deliver the cache entry, which the server has confirmed.
        case deliverCached
        /// Deliver the response without its content.
        case deliverWithoutContent
        /// End the load with this error.
        case fail(URLError)
    }

    /// The outcome of the preparation of a hop.
    enum PreparationOutcome: Sendable {
        /// The hop is ready: start it.
        case startHop
        /// The cache has the response: deliver it.
        case deliverCached
        /// End the load with this error.
        case fail(URLError)
    }

    /// What a hop's end means for the load, as the driver interprets it. The machine uses it only in the states `running` and
    /// `delivering`.
    enum HopEndMeaning: Sendable {
        /// The load ends as the hop did.
        case endLoad
        /// There was no connectivity, and the load has to wait for it.
        case noNetwork
        /// A proxy has refused to open a tunnel for the hop without authentication.
        case refusedByProxy(ResponseDecision)
        /// The content is complete and may be stored.
        case storable
    }

    /// An event that the driver reports.
    enum Event: Sendable {
        case start
        case cancel(URLError)
        /// The preparation of a hop has ended.
        case preparationEnded(PreparationOutcome)
        /// The preparation can continue: the digest of a body or the cache entry that it waited for is available, or another
        /// thread takes it over.
        case canContinuePreparing
        /// The hop's final response has arrived. The payload is the driver's decision about it.
        case responseArrived(ResponseDecision)
        /// The client has answered the question. The payload is the driver's decision about the answer.
        case questionAnswered(ResponseDecision)
        /// The running hop has ended.
        case hopEnded(HopEnd, HopEndMeaning)
        /// The state of the network has changed, so that another attempt may succeed. If an attempt is running, it may have
        /// begun before the change: the next wait for connectivity then ends at once.
        case networkChanged
        /// The client is ready for more of the cached response.
        case clientResumed
        /// The client has received all of the cached response, or wants no more of it.
        case cachedResponseDelivered
        /// The client has answered what to store in the cache, and the driver has stored it.
        case storageFinished
    }

    /// A step of the load, which the driver performs. The driver performs steps one after the other, and makes no other calls to
    /// the client meanwhile. These steps have nothing to do with a request's lane.
    enum Step: Sendable {
        /// Begin to prepare the next hop. The preparation may find a cached response instead.
        case prepare
        /// Continue the preparation, which has waited for its input.
        case continuePreparing
        /// Report to the client which request is sent.
        case reportRequest
        /// Deliver the response of the hop to the client.
        case deliverResponse
        /// Ask the client the question that the response raises.
        case ask
        /// Wait for connectivity.
        case waitForNetwork
        /// Deliver the cached response to the client.
        case deliverCached
        /// Continue to deliver the content of the cached response after a pause.
        case continueDelivery
        /// Ask the client what is to be stored.
        case askWhatToStore
        /// Report the end of the load to the client.
        case end((any Error)?)
    }

    /// A command to the hop. The driver executes it after the steps.
    enum Command: Sendable {
        case none
        case start
        /// Treat the content as the client's `HopPlan` for the response says.
        case applyPlan
        /// Discard the rest of the content.
        case skip
        case cancel(URLError)
    }

    /// The actions that the driver has to perform: first the steps in their order, then the command to the hop.
    struct Actions: Sendable {
        var steps: SmallArray<Step>
        var command: Command

        /// Whether a step ends the load; no actions follow then.
        var endsLoad: Bool { steps.contains { if case .end = copy $0 { true } else { false } } }

        /// Creates actions of at most one step and a command. Without arguments, there is nothing to do.
        init(_ step: Step? = nil, command: Command = .none) {
            steps = SmallArray()
            self.command = command
            if let step { steps.append(step) }
        }
    }

    private(set) var state = State.new
    /// Whether the network has changed since the load last waited for connectivity.
    private var networkHasChanged = false

    /// Whether a hop is running whose calls the driver passes on to the client.
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

    /// Whether the client has been asked a question about a response and has not answered.
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

    /// Changes the state as the event requires, and returns the actions to perform. An event that the state does not expect has
    /// no effect, because the program may answer or cancel at any time.
    mutating func handle(_ event: Event) -> Actions {
        switch event {
        case .start: start()
        case .cancel(let error): cancel(error)
        case .preparationEnded(let outcome): endPreparation(outcome)
        case .canContinuePreparing: continuePreparing()
        case .responseArrived(let decision): applyToResponse(decision)
        case .questionAnswered(let decision): applyToQuestion(decision)
        case .hopEnded(let end, let meaning): endHop(end, meaning)
        case .networkChanged: receiveNetworkChange()
        case .clientResumed: continueDelivery()
        case .cachedResponseDelivered: isDeliveringCached ? end(nil) : Actions()
        case .storageFinished: isStoring ? end(nil) : Actions()
        }
    }

    /// Ends the load at once, after `step` if there is one. No hop may be running.
    private mutating func end(_ error: (any Error)?, after step: Step? = nil) -> Actions {
        state = .over
        var actions = Actions(step)
        actions.steps.append(.end(error))
        return actions
    }

    /// Begins to prepare the next hop.
    private mutating func prepare() -> Actions {
        state = .preparing
        return Actions(.prepare)
    }

    /// Cancels the running hop; the load ends when the hop has ended.
    private mutating func stop(_ error: URLError) -> Actions {
        state = .stopping(error)
        return Actions(command: .cancel(error))
    }

    private mutating func start() -> Actions {
        switch state {
        case .new: prepare()
        case .preparing, .offline, .running, .asking, .discarding, .delivering, .deliveringCached, .storing,
            .stopping,
            .over:
            Actions()
        }
    }

    /// Cancels the load: at once if no hop is running, otherwise when the hop has ended.
    private mutating func cancel(_ error: URLError) -> Actions {
        switch state {
        case .new, .preparing, .offline, .asking(.some), .deliveringCached, .storing: end(error)
        case .running, .asking(nil), .discarding, .delivering: stop(error)
        case .stopping, .over: Actions()
        }
    }

    private mutating func endPreparation(_ outcome: PreparationOutcome) -> Actions {
        guard case .preparing = state else { return Actions() }
        switch outcome {
        case .startHop:
            state = .running
            return Actions(.reportRequest, command: .start)
        case .deliverCached:
            state = .deliveringCached
            return Actions(.deliverCached)
        case .fail(let error): return end(error)
        }
    }

    private func continuePreparing() -> Actions {
        if case .preparing = state { return Actions(.continuePreparing) }
        return Actions()
    }

    /// Applies the driver's decision about the response of the running hop.
    private mutating func applyToResponse(_ decision: ResponseDecision) -> Actions {
        guard case .running = state else { return Actions() }
        switch decision {
        case .deliver:
            state = .delivering
            return Actions(.deliverResponse)
        case .deliverWithoutContent:
            state = .discarding(then: .end)
            return Actions(.deliverResponse, command: .skip)
        case .ask:
            state = .asking(nil)
            return Actions(.ask)
        case .nextHop:
            state = .discarding(then: .prepareHop)
            return Actions(command: .skip)
        case .deliverCached:
            state = .discarding(then: .deliverCached)
            return Actions(command: .skip)
        case .fail(let error): return stop(error)
        }
    }

    /// Applies the driver's decision about the client's answer to a question. While the hop runs, its content has to be discarded
    /// or delivered first. If the hop has ended (`hopEnd` is not nil), the load continues at once.
    private mutating func applyToQuestion(_ decision: ResponseDecision) -> Actions {
        guard case .asking(let hopEnd) = state else { return Actions() }
        switch (decision, hopEnd) {
        // The state stays `asking`: the driver has the next question for the client.
        case (.ask, _): return Actions(.ask)
        case (.deliver, nil):
            state = .delivering
            return Actions(.deliverResponse, command: .applyPlan)
        case (.deliverWithoutContent, nil):
            state = .discarding(then: .end)
            return Actions(.deliverResponse, command: .skip)
        case (.deliver, let hopEnd?), (.deliverWithoutContent, let hopEnd?):
            return end(hopEnd.error, after: .deliverResponse)
        case (.nextHop, nil):
            state = .discarding(then: .prepareHop)
            return Actions(command: .skip)
        case (.nextHop, _?): return prepare()
        case (.deliverCached, nil):
            state = .discarding(then: .deliverCached)
            return Actions(command: .skip)
        case (.deliverCached, _?):
            state = .deliveringCached
            return Actions(.deliverCached)
        case (.fail(let error), nil): return stop(error)
        case (.fail(let error), _?): return end(error)
        }
    }

    /// Continues or ends the load after the end of a hop.
    private mutating func endHop(_ hopEnd: HopEnd, _ meaning: HopEndMeaning) -> Actions {
        switch state {
        case .running: return endHopWithoutResponse(hopEnd, meaning)
        case .asking(nil):
            // The resource time-out also limits the wait for the client's answer, so a hop that it has ended ends the load.
            if let error = hopEnd.error as? URLError, error.code == .timedOut { return end(error) }
            state = .asking(hopEnd)
            return Actions()
        // An error of the hop does not matter after this, because its content was not wanted.
        case .discarding(then: .prepareHop): return prepare()
        case .discarding(then: .deliverCached):
            state = .deliveringCached
            return Actions(.deliverCached)
        case .discarding(then: .end): return end(nil)
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

    /// Continues or ends the load after the end of a hop that has received no response.
    private mutating func endHopWithoutResponse(_ hopEnd: HopEnd, _ meaning: HopEndMeaning) -> Actions {
        switch meaning {
        case .noNetwork:
            if networkHasChanged {
                networkHasChanged = false
                return prepare()
            }
            state = .offline
            return Actions(.waitForNetwork)
        case .refusedByProxy(.nextHop): return prepare()
        case .refusedByProxy(.ask):
            state = .asking(hopEnd)
            return Actions(.ask)
        case .refusedByProxy(.fail(let error)): return end(error)
        // Only `endLoad` occurs here: a refused tunnel has no response to deliver, and a hop without a response nothing to store.
        case .refusedByProxy(.deliver), .refusedByProxy(.deliverWithoutContent),
            .refusedByProxy(.deliverCached), .endLoad, .storable:
            return end(hopEnd.error)
        }
    }

    /// Prepares another attempt if the load waits for connectivity; otherwise records the change.
    private mutating func receiveNetworkChange() -> Actions {
        switch state {
        case .offline: return prepare()
        case .new, .preparing, .running, .asking, .discarding, .delivering, .deliveringCached, .storing,
            .stopping,
            .over:
            networkHasChanged = true
            return Actions()
        }
    }

    /// Continues the delivery of the cached response after a pause.
    private func continueDelivery() -> Actions {
        isDeliveringCached ? Actions(.continueDelivery) : Actions()
    }
}
