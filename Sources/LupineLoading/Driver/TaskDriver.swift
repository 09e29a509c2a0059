// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineTransport

/// Carries out the load of one task. It runs the hops of the load one after the other; a hop is one request with its response.
/// Between two hops it asks its client, the task, how to continue. It delivers the final response to the client.
///
/// `HopMachine` decides, and this driver acts: it reports events to the machine under its one lock, and performs the returned
/// actions after it has released the lock. Only one thread at a time performs the machine's steps; other threads add their
/// actions to its `StepTurn`. The calls of a hop go to the client directly, and the machine ensures that no step runs meanwhile.
///
/// All methods may be called on any thread. No method blocks, and no method calls the client before it returns. There is one
/// exception: a cached response in memory may be delivered inside `start()` if the client defers its callbacks.
final class TaskDriver: Sendable {
    typealias Event = HopMachine.Event
    typealias Step = HopMachine.Step

    /// The state of the load, which the lock guards.
    struct State: ~Copyable, Sendable {
        var machine = HopMachine()
        var turn = StepTurn()
        /// What the current hop was made from, and the next one is made from.
        var basis: HopBasis
        /// The settings of the hops that the task may change at any time.
        var controls: HopControls
        /// The current hop or, between hops, the last one.
        var hop: PreparedHop
        /// The preparation of a hop, while it waits for input.
        var waitingPreparation: HopPreparation?
        /// Continues the preparation of a hop. Set when the input that the preparation has waited for is available.
        var preparationStep: (@Sendable () -> Void)?
        /// The questions to the client about responses.
        var questions = LoadQuestions()
        /// The response that the client is asked about or receives.
        var response: URLResponse?
        /// The delivery of a cached response; nil if there is none.
        var cachedDelivery: CachedDelivery?
        /// Passes the challenges of connections to the program. Created for the first hop that may cause such a challenge.
        var verifier: TaskPeerVerifier?
        /// Stops watching the network; nil if the load has not waited for connectivity.
        var endNetworkWatch: NetworkWatch.End?
        /// Whether a connection has been established. After that, a loss of connectivity ends the load with an error.
        var hasConnected = false
        /// When the resource time-out expires; nil without a limit.
        var deadline: Instant?
        /// Cancels the alarm for `deadline`; nil if no alarm is set.
        var cancelAlarm: SessionClock.Cancel?
        /// The metrics of the hops that have ended.
        var hopMetrics = SmallArray<HopMetrics>()

        /// The state of a load that has not started.
        init(_ definition: TaskDefinition, _ settings: SessionSettings) {
            let service = definition.request.networkServiceType
            basis = HopBasis(definition)
            controls = HopControls(
                priority: (service == .default ? settings.networkServiceType : service).priority)
            hop = PreparedHop(sentRequest: definition.request, visibleRequest: definition.request)
        }

        /// The hop that is running; nil if there is none.
        var runningHop: (any HopLoad)? { machine.isRunning ? hop.load : nil }

        /// When an alarm for the resource time-out has to be set; nil if one is set already, or none is needed.
        var missingAlarm: Instant? { cancelAlarm == nil && !machine.isOver ? deadline : nil }

        /// Stores the function that cancels the alarm. Returns false if no alarm is missing any more.
        mutating func storeAlarm(_ cancel: @escaping SessionClock.Cancel) -> Bool {
            if missingAlarm == nil { return false }
            cancelAlarm = cancel
            return true
        }

        /// Stores the function that stops watching the network. Returns false if the load has ended.
        mutating func storeNetworkWatch(_ end: @escaping NetworkWatch.End) -> Bool {
            if machine.isOver { return false }
            endNetworkWatch = end
            return true
        }

        /// Closes the open question, and returns it. Returns nil if the question was answered before or another one is open.
        mutating func closeQuestion(_ number: Int) -> HopQuestion? {
            machine.isAsking && questions.end(number) ? questions.open.take() : nil
        }

        /// Whether the load waits for the response of this hop.
        func awaitsResponse(of load: any HopLoad) -> Bool { hop.load === load && machine.awaitsResponse }

        /// Collects content of a hop for the cache. Returns whether the client receives the content, and the URL of the cache
        /// entry that has to be removed, because the content is now too long to replace it.
        mutating func receive(_ content: Data, from load: any HopLoad) -> (
            isWanted: Bool, invalidatedURL: URL?
        ) {
            guard hop.load === load, machine.isRunning else { return (false, nil) }
            return (true, hop.cacheUse.collect(content) ? nil : hop.cacheUse.invalidatedURL)
        }

        /// Handles an event. Returns the actions if the caller has to perform them; nil if another thread performs them.
        mutating func handle(_ event: Event, asynchronously: Bool = false) -> HopMachine.Actions? {
            turn.claim(machine.handle(event), asynchronously: asynchronously)
        }

        /// Handles the end of the current hop. Returns the actions if the caller has to perform them.
        ///
        /// - Parameters:
        ///   - error: The error of the hop; nil after a success.
        ///   - metrics: The metrics of the hop.
        ///   - refusal: What follows if a proxy has refused to open a tunnel without authentication; nil otherwise.
        ///   - mayWait: Whether the session waits for connectivity.
        mutating func endHop(
            _ error: (any Error)?, _ metrics: HopMetrics, _ refusal: LoadAuthentication.Outcome?,
            mayWait: Bool
        ) -> HopMachine.Actions? {
            hop.load = nil
            hopMetrics.append(metrics)
            hasConnected = hasConnected || metrics.hasConnected
            var meaning = HopMachine.HopEndMeaning.endLoad
            if let refusal {
                questions.open = refusal.question
                meaning = .refusedByProxy(refusal.decision)
            } else if let error {
                let isOffline = (error as? URLError)?.code == .notConnectedToInternet && !hasConnected
                if mayWait, hop.usesNetwork, isOffline { meaning = .noNetwork }
            } else if hop.cacheUse.isCollecting {
                meaning = .storable
            }
            return handle(.hopEnded(error.map { .failure($0) } ?? .success, meaning))
        }
    }

    let definition: TaskDefinition
    let context: SessionContext
    let client: any TaskDriverClient
    let state: Lock<State>
    /// The queue for steps that must not run on the caller's stack.
    static let queue = DispatchQueue(label: "lupine.loads", qos: .userInitiated, attributes: .concurrent)

    /// Creates a driver that has not started. The driver retains its client, and the client retains the driver until the load has
    /// ended.
    init(_ definition: TaskDefinition, context: SessionContext, client: any TaskDriverClient) {
        self.definition = definition
        self.context = context
        self.client = client
        state = Lock(State(definition, context.settings))
    }

    // MARK: calls of the task

    /// Starts the load, and the resource time-out, which limits the duration of the whole load.
    func start() {
        let deadline = context.settings.resourceTimeout.map { context.clock.now() + $0 }
        handle(.start) { $0.deadline = deadline }
    }

    /// Ends the load with `error`, unless it has ended. From then on the driver makes only one call to the client, `driverEnded`.
    func cancel(_ error: URLError) { handle(.cancel(error), asynchronously: true) }

    /// Resumes after the client has returned `.pause`. No effect at any other time.
    func resumeReading() {
        let (hop, cachedDelivery) = state.withLock { ($0.runningHop, $0.cachedDelivery) }
        hop?.resumeReading()
        guard let cachedDelivery else { return }
        cachedDelivery.resume()
        handle(.clientResumed, asynchronously: true)
    }

    /// Directs the content into a file. The content is then not stored in the cache.
    func save(into target: FileTarget) {
        let hop = state.withLock { state in
            state.hop.cacheUse.stopCollecting()
            return state.runningHop
        }
        hop?.save(into: target)
    }

    /// Suspends the load, or resumes it. Suspension does not stop the resource time-out (U-6.4, U-14.4).
    func setSuspended(_ isSuspended: Bool) {
        let (hop, isDeliveringCached) = state.withLock { state in
            state.controls.isSuspended = isSuspended
            return (state.hop.load, state.cachedDelivery != nil)
        }
        if isSuspended { setAlarm() }
        hop?.setSuspended(isSuspended)
        if !isSuspended, isDeliveringCached { handle(.clientResumed, asynchronously: true) }
    }

    /// Sets the priority, 0...1, of this load's hops among those that wait for a connection.
    func setPriority(_ priority: Float) {
        let hop = state.withLock { state in
            state.controls.priority = priority
            return state.hop.load
        }
        hop?.setPriority(priority)
    }

    /// Makes the hops prefer connections of `loop`.
    func prefer(_ loop: EventLoop) { state.withLock { $0.controls.preferredLoop = loop } }

    // MARK: the machine

    /// Reports an event to the machine and performs the actions that it returns.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - asynchronously: Whether the returned steps are performed on `TaskDriver.queue` instead of the caller's stack.
    ///   - update: Changes the driver's state under the same lock, before the machine handles the event.
    func handle(
        _ event: Event, asynchronously: Bool = false, update: (inout State) -> Void = { _ in }
    ) {
        let (actions, hop) = state.withLock { state -> (HopMachine.Actions?, (any HopLoad)?) in
            update(&state)
            // The first element is nil if another thread is performing steps, which then performs these actions too.
            return (state.handle(event, asynchronously: asynchronously), state.hop.load)
        }
        guard let actions else { return }
        if asynchronously, !actions.steps.isEmpty {
            Self.queue.async { self.performActions(actions, hop) }
        } else {
            performActions(actions, hop)
        }
    }

    /// Performs the actions, and then the actions that other threads have queued meanwhile.
    ///
    /// - Parameters:
    ///   - actions: The actions of the machine.
    ///   - hop: The hop that was current when the machine returned the actions.
    func performActions(_ actions: HopMachine.Actions, _ hop: (any HopLoad)?) {
        var (actions, hop) = (actions, hop)
        while true {
            // Without steps, the turn was not taken for these actions, and does not have to be ended.
            if actions.steps.isEmpty {
                actions.command.execute(on: hop)
                return
            }
            let plan = performSteps(of: actions)
            // The machine returns no command with the end, and no other actions after it.
            if actions.endsLoad { return }
            let (command, currentHop) = (actions.command, hop)
            // The turn ends before the command is executed. After the command, the hop may report its response on another
            // thread, which then takes the turn itself.
            let (queued, nextHop) = state.withLock { ($0.turn.next(), $0.hop.load) }
            command.execute(on: currentHop, plan: plan)
            guard let queued else { return }
            (actions, hop) = (queued.actions, nextHop)
            if queued.mustDispatch {
                return Self.queue.async { [self, actions, hop] in performActions(actions, hop) }
            }
        }
    }

    /// Performs the steps. Returns the client's plan for the content if one of them delivers a response.
    func performSteps(of actions: HopMachine.Actions) -> HopPlan? {
        var plan: HopPlan?
        actions.steps.forEachElement { plan = performStep(copy $0) ?? plan }
        return plan
    }

    /// Performs one step of the machine. Returns the client's plan for the content if the step delivers a response.
    private func performStep(_ step: Step) -> HopPlan? {
        switch step {
        case .prepare: prepare()
        // The stored closure is called outside of the lock.
        case .continuePreparing: state.withLock { $0.preparationStep.take() }?()
        case .reportRequest: reportRequest()
        case .deliverResponse: return deliverResponse()
        case .ask: ask()
        case .waitForNetwork: waitForNetwork()
        case .deliverCached, .continueDelivery: deliverCachedResponse()
        case .askWhatToStore: askWhatToStore()
        case .end(let error): end(error)
        }
        return nil
    }

    // MARK: the end

    /// Sets an alarm for the resource time-out. It is needed while the load waits for the program, the cache or the network,
    /// because no connection enforces the time-out then. No effect if the alarm is set already or the load has ended.
    func setAlarm() {
        guard let deadline = state.withLock({ $0.missingAlarm }) else { return }
        // Retains the driver until its end, which cancels the alarm.
        let cancel = context.clock.alarm(deadline) { [self] in
            let url = state.withLock { $0.basis.request.url }
            self.cancel(.resourceTimeout(of: url, after: context.settings.resourceTimeout))
        }
        // The load may have ended, or another thread may have set an alarm, since `deadline` was read.
        if !state.withLock({ $0.storeAlarm(cancel) }) { cancel() }
    }

    /// Calls `action` with the error when the resource time-out expires, even if the load has ended by then, because the task may
    /// still wait for an answer of the program (U-5.10). Returns a closure that cancels the call.
    func atResourceTimeout(_ action: @escaping @Sendable (URLError) -> Void) -> SessionClock.Cancel {
        let (deadline, url) = state.withLock { ($0.deadline, $0.basis.request.url) }
        // Without a limit there is no call to cancel.
        guard let deadline else { return {} }
        let timeout = context.settings.resourceTimeout
        return context.clock.alarm(deadline) { action(.resourceTimeout(of: url, after: timeout)) }
    }

    /// Releases the objects of the load, and reports its end to the client.
    private func end(_ error: (any Error)?) {
        let now = Date()
        // The preparation and the ignored element retain objects of the program, which are released outside of the lock.
        var waitingPreparation: HopPreparation?
        let (endedHops, cachedDelivery, redirectCount, cancelAlarm, endWatch, verifier, _) =
            state.withLock { state in
                swap(&state.waitingPreparation, &waitingPreparation)
                return (
                    state.hopMetrics.takeAll(), state.cachedDelivery, state.basis.redirects.count,
                    state.cancelAlarm.take(), state.endNetworkWatch.take(), state.verifier.take(),
                    (state.hop.load.take(), state.questions.open.take(), state.preparationStep.take())
                )
            }
        var hopMetrics = endedHops
        if let metrics = cachedDelivery?.metrics(until: now) { hopMetrics.append(metrics) }
        cancelAlarm?()
        endWatch?()
        verifier?.end()
        // The `WallClockMapping` converts the transport's monotonic instants to dates.
        client.driverEnded(
            error,
            URLSessionTaskMetrics(
                hops: hopMetrics, redirectCount: redirectCount, created: definition.created, completed: now,
                clock: WallClockMapping(context.clock.transport.now(), at: now)))
    }
}

extension HopMachine.Command {
    /// Passes the command on to the hop.
    ///
    /// - Parameters:
    ///   - hop: The hop that was current when the machine returned the command.
    ///   - plan: The client's plan for the content; nil if no response was delivered.
    fileprivate func execute(on hop: (any HopLoad)?, plan: HopPlan? = nil) {
        switch self {
        case .none: break
        case .start: hop?.start()
        case .skip: hop?.skip()
        case .cancel(let error): hop?.cancel(error)
        case .applyPlan:
            switch plan {
            case .deliver?, .splice?: hop?.resumeReading()
            case .skip?: hop?.skip()
            // The hop has paused already.
            case .pause?, nil: break
            }
        }
    }

    /// Carries out the command inside the hop's call of `hopReceivedResponse`. Returns the result of that call: `plan`, or
    /// `.skip` if the command ends the hop. Cancels the hop if that is the command.
    func result(for hop: any HopLoad, _ plan: HopPlan) -> HopPlan {
        switch self {
        case .none, .start, .applyPlan: return plan
        case .skip: return .skip
        case .cancel(let error):
            hop.cancel(error)
            return .skip
        }
    }
}

extension HopMetrics {
    /// Whether a connection was established.
    fileprivate var hasConnected: Bool {
        exchanges.contains { $0.isReused || $0.requestStart != nil || $0.dial?.connectEnd != nil }
    }
}

/// Whose turn it is to perform the steps of a load: at most one thread performs steps at a time. Meanwhile the actions of other
/// threads are queued for that thread.
struct StepTurn: Sendable {
    /// Actions that another thread has queued.
    struct QueuedActions: Sendable {
        let actions: HopMachine.Actions
        /// Whether the performing thread must dispatch the actions to `TaskDriver.queue`, because a call by the program may be on
        /// its stack.
        let mustDispatch: Bool
    }

    /// What the thread does that has the turn.
    private enum Activity: Sendable {
        /// No thread has the turn.
        case none
        case performsSteps
        /// The thread asks the client inside `hopReceivedResponse`. Commands to the hop are then queued too, because the result
        /// of `hopReceivedResponse` carries them out.
        case asksDuringCall
    }

    private var activity = Activity.none
    private var queue = SmallArray<QueuedActions>()

    /// Returns the actions if the caller has to perform them; the caller then has the turn if they contain steps. Queues the
    /// actions and returns nil if another thread has the turn.
    mutating func claim(_ actions: HopMachine.Actions, asynchronously: Bool) -> HopMachine.Actions? {
        switch (activity, actions.steps.isEmpty) {
        case (.none, false): activity = .performsSteps
        // Actions without steps are a mere command.
        case (.none, true), (.performsSteps, true): break
        case (.performsSteps, false), (.asksDuringCall, _):
            queue.append(QueuedActions(actions: actions, mustDispatch: asynchronously))
            return nil
        }
        return actions
    }

    /// Takes the turn for a question that is asked inside `hopReceivedResponse`, which no step overlaps.
    mutating func takeForQuestion() { activity = .asksDuringCall }

    /// Removes and returns the next queued actions. If there are none, returns nil and ends the turn.
    mutating func next() -> QueuedActions? {
        let queued = queue.popFirst()
        if queued == nil { activity = .none }
        return queued
    }
}

extension TaskDriver: TaskLoad {}

extension SessionCore {
    /// Makes the driver that carries out a task.
    static let makeTaskDriver: LoadMaker = { TaskDriver($0, context: $1, client: $2) }
}
