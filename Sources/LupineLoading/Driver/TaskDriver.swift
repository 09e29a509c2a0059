// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineTransport

/// Carries out the load of one task. It runs the hops of the load one after the other; a hop is one request with its response.
/// Between two hops it asks its client, the task, how to continue. It delivers the final response to the client.
///
/// `HopMachine` decides, and this driver acts: it reports events to the machine under its one lock, and performs the returned
/// actions after it has released the lock. Only one thread at a time performs the machine's steps; other threads add their
/// actions to `queuedActions`. The calls of a hop go to the client directly, and the machine ensures that no step runs meanwhile.
///
/// All methods may be called on any thread. No method blocks, and no method calls the client before it returns. There is one
/// exception: a cached response in memory may be delivered inside `start()` if the client defers its callbacks.
final class TaskDriver: Sendable {
    typealias Event = HopMachine.Event
    typealias Step = HopMachine.Step

    /// The state of the load, which the lock guards.
    struct State: Sendable {
        var machine = HopMachine()
        /// Whether a thread is performing steps. Other threads add their steps to `queuedActions` meanwhile.
        var isPerformingSteps = false
        /// Whether the client is being asked about a response inside `hopReceivedResponse`. Commands to the hop are then queued
        /// too, because the result of `hopReceivedResponse` carries them out.
        var queuesCommands = false
        /// Actions of other threads, which the thread that performs steps has to perform next.
        var queuedActions = SmallArray<QueuedActions>()

        /// The hop's request as the program or a redirect specifies it, without the fields that the driver adds.
        var request: URLRequest
        /// The source of the hop's body.
        var body: TaskDefinition.Body
        /// The request with all fields that the driver has added.
        var sentRequest: URLRequest
        /// The request as the program sees it: `sentRequest` without answers to challenges and conditional fields of the cache.
        var visibleRequest: URLRequest
        /// When the current hop was created.
        var fetchStart = Date.distantPast
        /// The current hop; nil between hops.
        var hop: (any HopLoad)?
        /// Whether the hop uses the network, so that the driver handles its redirects, challenges and cookies.
        var usesNetwork = true
        /// The body streams that have been sent in full or in part. The driver sends no stream twice.
        var sentStreams: Set<ObjectIdentifier> = []

        /// Continues the preparation of a hop. Set when the input that the preparation has waited for is available.
        var preparationStep: (@Sendable () -> Void)?

        /// Whether the task is suspended.
        var isSuspended = false
        /// The priority, 0...1, of the hops among those that wait for a connection.
        var priority: Float
        /// The event loop whose connections the hops prefer.
        var preferredLoop: EventLoop?
        /// The greatest change of origin among the redirects that were followed.
        var farthestMove = RedirectMove.withinOrigin
        /// The user and password in the URL of the last redirect.
        var redirectCredential: URLCredential?
        /// The number of redirects that were followed.
        var redirectCount = 0
        /// Answers challenges. Created when a challenge arrives, or when the driver may know an answer in advance.
        var authenticator: Boxed<Authenticator>?
        /// Whether the hop's request contains an answer to a challenge.
        var hasSentAnswer = false
        /// The answer to the server's challenge that the hop sends: the value of `Authorization`. Nil if it sends none.
        var authorization: String?

        /// The judge decides whether the server of the hop's connection is trusted. Nil if storing cookies and responses does not
        /// depend on the judge.
        var judge: TrustJudge?

        /// The question that the client has not answered; nil if there is none.
        var question: Question?
        /// The number of the last question. Answers to earlier questions, and second answers, are ignored.
        var questionNumber = 0
        /// The response that the client is asked about or receives.
        var response: URLResponse?

        /// How the current hop uses the cache.
        var cacheUse = CacheUse()
        /// Whether the next hop must not use the cache entry, because the 304 that should have confirmed the entry was about
        /// another version of the resource.
        var ignoresCacheEntry = false
        /// When the delivery of the cached response began.
        var cachedDeliveryStart: Date?
        /// The number of bytes of the cached response that the client has received.
        var deliveredCachedBytes = 0
        /// Whether the client has paused the delivery of the cached response.
        var isDeliveryPaused = false

        /// Passes the challenges of connections to the program. Created for the first hop that may cause such a challenge.
        var verifier: TaskPeerVerifier?
        /// When the resource time-out expires; nil without a limit.
        var deadline: Instant?
        /// Cancels the alarm for `deadline`; nil if no alarm is set.
        var cancelAlarm: SessionClock.Cancel?
        /// Stops watching the network; nil if the network is not watched.
        var endNetworkWatch: NetworkWatch.End?
        /// Whether `driverWaitsForConnectivity()` has been called.
        var hasReportedOffline = false
        /// Whether the network has changed during the attempt that followed the last wait for connectivity.
        var networkHasChanged = false
        /// Whether a connection has been established. After that, a loss of connectivity ends the load with an error.
        var hasConnected = false
        /// The metrics of the hops that have ended.
        var hopMetrics = SmallArray<HopMetrics>()
        /// The last transfer that was reported to transfer observers; nil without observers.
        var lastTransfer: Boxed<LastTransfer>?
    }

    /// The last transfer of the load that was reported to observers.
    struct LastTransfer: Sendable {
        let id: TransferID
        /// The number of redirects that were followed before the transfer.
        let redirectCount: Int
    }

    /// Actions that another thread has queued for the thread that performs steps.
    struct QueuedActions: Sendable {
        let actions: HopMachine.Actions
        /// Whether the performing thread must dispatch the actions to `TaskDriver.queue`, because a call by the program may be on
        /// its stack.
        let mustDispatch: Bool
    }

    /// A question to the client about a response.
    enum Question: Sendable {
        /// Whether to follow a server's redirect.
        case redirect(HTTPURLResponse, RedirectRule.Proposal)
        /// Whether to follow the redirect of a program's `URLProtocol`.
        case protocolRedirect(URLResponse, URLRequest)
        /// How to answer the challenge of a server or proxy. `refusal` is the error of a proxy that has refused a tunnel: the
        /// task fails with it if the client gives no answer. Nil if there is a response to deliver.
        case challenge(URLAuthenticationChallenge, refusal: URLError?)
    }

    /// Stores a large value in a separate allocation, so that `State` stays small for the many loads without such a value.
    indirect enum Boxed<Value: Sendable>: Sendable {
        case value(Value)

        var value: Value {
            switch self {
            case .value(let value): value
            }
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
        let service = definition.request.networkServiceType
        state = Lock(
            State(
                request: definition.request, body: definition.body, sentRequest: definition.request,
                visibleRequest: definition.request,
                priority: (service == .default ? context.settings.networkServiceType : service).priority))
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
        let (hop, isDeliveringCached) = state.withLock { state -> ((any HopLoad)?, Bool) in
            state.isDeliveryPaused = false
            return (state.machine.isRunning ? state.hop : nil, state.machine.isDeliveringCached)
        }
        hop?.resumeReading()
        if isDeliveringCached { handle(.clientResumed, asynchronously: true) }
    }

    /// Directs the content into a file. The content is then not stored in the cache.
    func save(into target: FileTarget) {
        let hop = state.withLock { state -> (any HopLoad)? in
            state.cacheUse.stopCollecting()
            return state.machine.isRunning ? state.hop : nil
        }
        hop?.save(into: target)
    }

    /// Suspends the load, or resumes it. Suspension does not stop the resource time-out (U-6.4, U-14.4).
    func setSuspended(_ isSuspended: Bool) {
        let (hop, isDeliveringCached) = state.withLock { state -> ((any HopLoad)?, Bool) in
            state.isSuspended = isSuspended
            return (state.hop, state.machine.isDeliveringCached)
        }
        if isSuspended { setAlarm() }
        hop?.setSuspended(isSuspended)
        if !isSuspended, isDeliveringCached { handle(.clientResumed, asynchronously: true) }
    }

    /// Sets the priority, 0...1, of this load's hops among those that wait for a connection.
    func setPriority(_ priority: Float) {
        let hop = state.withLock { state -> (any HopLoad)? in
            state.priority = priority
            return state.hop
        }
        hop?.setPriority(priority)
    }

    /// Makes the hops prefer connections of `loop`.
    func prefer(_ loop: EventLoop) { state.withLock { $0.preferredLoop = loop } }

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
            let actions = state.machine.handle(event)
            // The first element is nil if another thread is performing steps, which then performs these actions too.
            return (Self.claimOrQueue(actions, asynchronously: asynchronously, &state), state.hop)
        }
        guard let actions else { return }
        if asynchronously, !actions.steps.isEmpty {
            Self.queue.async { self.performActions(actions, hop) }
        } else {
            performActions(actions, hop)
        }
    }

    /// Returns the actions if the caller has to perform them. Queues them and returns nil if another thread is performing steps,
    /// which then performs them too.
    static func claimOrQueue(
        _ actions: HopMachine.Actions, asynchronously: Bool = false, _ state: inout State
    ) -> HopMachine.Actions? {
        // Actions without steps are a mere command, which is queued only if `queuesCommands` is set.
        if state.isPerformingSteps, state.queuesCommands || !actions.steps.isEmpty {
            state.queuedActions.append(QueuedActions(actions: actions, mustDispatch: asynchronously))
            return nil
        }
        if !actions.steps.isEmpty { state.isPerformingSteps = true }
        return actions
    }

    /// Performs the actions, and then the actions that other threads have queued meanwhile.
    ///
    /// - Parameters:
    ///   - actions: The actions of the machine.
    ///   - hop: The hop that was current when the machine returned the actions.
    func performActions(_ actions: HopMachine.Actions, _ hop: (any HopLoad)?) {
        var (actions, hop) = (actions, hop)
        while true {
            // Without steps, `isPerformingSteps` was not set for these actions and does not have to be reset.
            if actions.steps.isEmpty {
                execute(actions.command, on: hop)
                return
            }
            var plan: HopPlan?
            for step in actions.steps {
                // Only a step that delivers the response returns a plan.
                plan = performStep(step) ?? plan
                // The machine returns no command with the end, and no other actions after it.
                if case .end = step { return }
            }
            let command = actions.command
            let currentHop = hop
            // `isPerformingSteps` is reset before the command is executed. After the command, the hop may report its response on
            // another thread, which then sets `isPerformingSteps` itself.
            let (queued, nextHop) = state.withLock { state -> (QueuedActions?, (any HopLoad)?) in
                (Self.popQueuedActions(&state), state.hop)
            }
            execute(command, on: currentHop, plan: plan)
            guard let queued else { return }
            (actions, hop) = (queued.actions, nextHop)
            if queued.mustDispatch {
                return Self.queue.async { [self, actions, hop] in performActions(actions, hop) }
            }
        }
    }

    /// Removes and returns the next queued actions. If there are none, returns nil and lets other threads perform steps.
    static func popQueuedActions(_ state: inout State) -> QueuedActions? {
        if let queued = state.queuedActions.popFirst() { return queued }
        state.isPerformingSteps = false
        state.queuesCommands = false
        return nil
    }

    /// Passes a command of the machine on to the hop.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - hop: The hop that was current when the machine returned the command.
    ///   - plan: The client's plan for the content; nil if no response was delivered.
    func execute(_ command: HopMachine.Command, on hop: (any HopLoad)?, plan: HopPlan? = nil) {
        switch command {
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

    /// Performs one step of the machine. Returns the client's plan for the content if the step delivers a response.
    func performStep(_ step: Step) -> HopPlan? {
        switch step {
        case .prepare: prepare()
        // The stored closure is called outside of the lock.
        case .continuePreparing: state.withLock { $0.preparationStep.take() }?()
        case .reportRequest: reportRequest()
        case .deliverResponse: return deliverResponse()
        case .ask: ask()
        case .waitForNetwork: waitForNetwork()
        case .deliverCached: deliverCachedResponse()
        case .continueDelivery: deliverCachedPieces()
        case .askWhatToStore: askWhatToStore()
        case .end(let error): end(error)
        }
        return nil
    }

    // MARK: the end

    /// Sets an alarm for the resource time-out. It is needed while the load waits for the program, the cache or the network,
    /// because no connection enforces the time-out then. No effect if the alarm is set already or the load has ended.
    func setAlarm() {
        let deadline = state.withLock { state in
            state.cancelAlarm == nil && !state.machine.isOver ? state.deadline : nil
        }
        guard let deadline else { return }
        let cancel = context.clock.alarm(deadline) { [weak self] in
            guard let self else { return }
            handle(.cancel(timeoutError), asynchronously: true)
        }
        // The load may have ended, or another thread may have set an alarm, since `deadline` was read.
        let isUnneeded = state.withLock { state in
            if state.cancelAlarm != nil || state.machine.isOver { return true }
            state.cancelAlarm = cancel
            return false
        }
        if isUnneeded { cancel() }
    }

    /// Calls `action` with the error when the resource time-out expires, even if the load has ended by then, because the task may
    /// still wait for an answer of the program (U-5.10). Returns a closure that cancels the call.
    func atResourceTimeout(_ action: @escaping @Sendable (URLError) -> Void) -> SessionClock.Cancel {
        let (deadline, url) = state.withLock { ($0.deadline, $0.request.url) }
        // Without a limit there is no call to cancel.
        guard let deadline else { return {} }
        let timeout = context.settings.resourceTimeout
        return context.clock.alarm(deadline) { action(.resourceTimeout(of: url, after: timeout)) }
    }

    /// The error of a load that has exceeded its resource time-out.
    var timeoutError: URLError {
        .resourceTimeout(of: state.withLock { $0.request.url }, after: context.settings.resourceTimeout)
    }

    /// Releases the objects of the load, and reports its end to the client.
    private func end(_ error: (any Error)?) {
        let now = Date()
        // The ignored element retains objects of the program, which are released outside of the lock.
        let (hopMetrics, redirectCount, cancelAlarm, endNetworkWatch, verifier, _) = state.withLock { state in
            if let start = state.cachedDeliveryStart {
                state.hopMetrics.append(
                    HopMetrics(
                        request: state.visibleRequest, response: state.response, fetchType: .localCache,
                        exchanges: [],
                        fetchStart: start, end: now, bodyBytesBeforeEncoding: 0,
                        bodyBytesAfterDecoding: Int64(state.deliveredCachedBytes)))
            }
            let released = (state.hop.take(), state.question.take(), state.preparationStep.take())
            return (
                state.hopMetrics.takeAll(), state.redirectCount, state.cancelAlarm.take(),
                state.endNetworkWatch.take(),
                state.verifier.take(), released
            )
        }
        cancelAlarm?()
        endNetworkWatch?()
        verifier?.end()
        // The `WallClockMapping` converts the transport's monotonic instants to dates.
        client.driverEnded(
            error,
            URLSessionTaskMetrics(
                hops: hopMetrics, redirectCount: redirectCount, created: definition.created, completed: now,
                clock: WallClockMapping(context.clock.transport.now(), at: now)))
    }
}
