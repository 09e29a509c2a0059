// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineTransport

/// Carries out the load of one task: runs its hops one after the other, asks the client between them, and delivers the final
/// response to the client.
///
/// The driver of `HopMachine`: it reports events to the machine under its one lock, and performs the returned actions after
/// releasing the lock. Only one thread at a time performs the machine's steps; other threads add their actions to
/// `queuedActions`. The calls of a hop go to the client directly, and the machine ensures that no step runs meanwhile.
///
/// Any thread may call. No method blocks, and no method calls the client before it returns. The exception is a cached response
/// in memory: it may be delivered inside `start()` if the client defers its callbacks.
final class TaskDriver: Sendable {
    typealias Event = HopMachine.Event
    typealias Step = HopMachine.Step

    struct State: Sendable {
        var machine = HopMachine()
        /// Whether a thread performs steps. Other threads queue their steps meanwhile.
        var isPerforming = false
        /// Whether the client is asked about a response inside `hopReceivedResponse`. Commands to the hop are then queued too,
        /// because they become the result of that call.
        var queuesCommands = false
        /// Actions of other threads, for the thread that performs steps.
        var queuedActions = SmallArray<QueuedActions>()

        /// The hop's request as the program or a redirect specifies it, without the fields that the driver adds.
        var request: URLRequest
        var body: TaskDefinition.Body
        /// The request with all fields that were sent.
        var sent: URLRequest
        /// The request as the program sees it: `sent` without answers to challenges and conditional fields of the cache.
        var visibleRequest: URLRequest
        /// When the hop was created.
        var fetchStart = Date.distantPast
        /// The current hop; nil between hops.
        var hop: (any HopLoad)?
        /// Whether the hop uses the network, so that the driver handles its redirects, challenges and cookies.
        var usesNetwork = true
        /// Body streams that have been sent in full or in part. The driver sends no stream twice.
        var sentStreams: Set<ObjectIdentifier> = []

        /// The next step of the preparation, once its input is available.
        var preparationStep: (@Sendable () -> Void)?

        var isSuspended = false
        var priority: Float
        /// The event loop whose connections the hops prefer.
        var loop: EventLoop?
        /// The greatest change of origin among the redirects that were followed.
        var move = RedirectMove.withinOrigin
        /// The user and password in the URL of the last redirect.
        var redirectCredential: URLCredential?
        var redirectCount = 0
        /// Created when a challenge arrives, or when the driver may know an answer in advance.
        var authenticator: Boxed<Authenticator>?
        /// Whether the hop's request contains an answer to a challenge.
        var hasSentAnswer = false
        /// The answer to the server's challenge: the value of `Authorization`.
        var authorization: String?

        /// The judge of the server of the hop's connection; nil if storing cookies and responses does not depend on it.
        var judge: TrustJudge?

        var question: Question?
        /// The number of the last question. Answers to earlier questions, and second answers, are ignored.
        var questionNumber = 0
        /// The response that the client is asked about or gets.
        var response: URLResponse?

        var cache = CacheUse()
        /// Whether the next hop does not use the cache entry, because the 304 for its revalidation named another version.
        var ignoresCacheEntry = false
        /// When the delivery of the cached response began.
        var cachedDeliveryStart: Date?
        /// The number of bytes of the cached response that the client has got.
        var deliveredCachedBytes = 0
        /// Whether the client has paused the delivery of the cached response.
        var isPaused = false

        /// Passes the challenges of connections to the program. Created for the first hop that may cause one.
        var trust: TaskPeerVerifier?
        /// When the resource time-out expires; nil without a limit.
        var deadline: Instant?
        /// Cancels the alarm for `deadline`; nil if none is set.
        var alarm: SessionClock.Cancel?
        /// Ends the watch of the network; nil if it has not begun.
        var networkWatch: NetworkWatch.End?
        /// Whether `driverWaitsForConnectivity()` has been called.
        var hasReportedOffline = false
        /// Whether the network has changed since the last attempt.
        var networkHasChanged = false
        /// Whether a connection has been established. After that, a loss of connectivity ends the load with an error.
        var hasConnected = false
        /// The metrics of the hops that have ended.
        var hops = SmallArray<HopMetrics>()
        /// The last transfer that was reported to transfer observers; nil without observers.
        var lastTransfer: Boxed<LastTransfer>?
    }

    /// The last transfer of the load that was reported to observers.
    struct LastTransfer: Sendable {
        let id: TransferID
        /// The number of redirects that were followed before the transfer.
        let redirectCount: Int
    }

    /// Actions for the thread that performs steps at the time.
    struct QueuedActions: Sendable {
        let actions: HopMachine.Actions
        /// Whether the thread must dispatch the actions to `TaskDriver.queue`, because its stack may contain a call by the
        /// program.
        let mustDispatch: Bool
    }

    /// A question to the client about a response.
    enum Question: Sendable {
        /// Whether to follow a server's redirect.
        case redirect(HTTPURLResponse, RedirectRule.Proposal)
        /// Whether to follow the redirect of a program's `URLProtocol`.
        case protocolRedirect(URLResponse, URLRequest)
        /// How to answer the challenge of a server or proxy. Without an answer, `refusal` becomes the task's error; it is set if
        /// the proxy has refused a tunnel.
        case challenge(URLAuthenticationChallenge, refusal: URLError?)
    }

    /// Stores a large value out of line, so that `State` stays small for the many loads without one.
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
    /// Performs steps that must not run in the caller's stack.
    static let queue = DispatchQueue(label: "lupine.loads", qos: .userInitiated, attributes: .concurrent)

    /// Creates a driver that has not started. The driver retains its client; the client releases the driver after the end.
    init(_ definition: TaskDefinition, context: SessionContext, client: any TaskDriverClient) {
        self.definition = definition
        self.context = context
        self.client = client
        let service = definition.request.networkServiceType
        state = Lock(
            State(
                request: definition.request, body: definition.body, sent: definition.request,
                visibleRequest: definition.request,
                priority: (service == .default ? context.settings.networkServiceType : service).priority))
    }

    // MARK: calls of the task

    /// Starts the load and the resource time-out.
    func start() {
        let deadline = context.settings.resourceTimeout.map { context.clock.now() + $0 }
        handle(.start) { $0.deadline = deadline }
    }

    /// Ends the load with `error`, unless it has ended. The client gets `driverEnded` and no other call.
    func cancel(_ error: URLError) { handle(.cancel(error), asynchronously: true) }

    /// Resumes after the client has returned `.pause`. No effect at any other time.
    func resumeReading() {
        let (hop, isDeliveringCached) = state.withLock { state -> ((any HopLoad)?, Bool) in
            state.isPaused = false
            return (state.machine.isRunning ? state.hop : nil, state.machine.isDeliveringCached)
        }
        hop?.resumeReading()
        if isDeliveringCached { handle(.clientResumed, asynchronously: true) }
    }

    /// Directs the content into a file. The content is then not stored in the cache.
    func save(into target: FileTarget) {
        let hop = state.withLock { state -> (any HopLoad)? in
            state.cache.stopCollecting()
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
    func prefer(_ loop: EventLoop) { state.withLock { $0.loop = loop } }

    // MARK: the machine

    /// Reports an event to the machine and performs the actions that it returns.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - asynchronously: Whether the returned steps must not be performed in the caller's stack.
    ///   - update: Changes the driver's state under the same lock, before the machine handles the event.
    func handle(
        _ event: Event, asynchronously: Bool = false, update: (inout State) -> Void = { _ in }
    ) {
        let (actions, hop) = state.withLock { state -> (HopMachine.Actions?, (any HopLoad)?) in
            update(&state)
            let actions = state.machine.handle(event)
            return (Self.claim(actions, asynchronously: asynchronously, &state), state.hop)
        }
        guard let actions else { return }
        if asynchronously, !actions.steps.isEmpty {
            Self.queue.async { self.performActions(actions, hop) }
        } else {
            performActions(actions, hop)
        }
    }

    /// Returns the actions if the caller has to perform them. Returns nil if another thread performs steps and `actions` were
    /// queued for that thread.
    static func claim(
        _ actions: HopMachine.Actions, asynchronously: Bool = false, _ state: inout State
    ) -> HopMachine.Actions? {
        if state.isPerforming, state.queuesCommands || !actions.steps.isEmpty {
            state.queuedActions.append(QueuedActions(actions: actions, mustDispatch: asynchronously))
            return nil
        }
        if !actions.steps.isEmpty { state.isPerforming = true }
        return actions
    }

    /// Performs the actions, and then those that other threads have queued meanwhile.
    func performActions(_ actions: HopMachine.Actions, _ hop: (any HopLoad)?) {
        var (actions, hop) = (actions, hop)
        while true {
            if actions.steps.isEmpty {
                execute(actions.command, hop)
                return
            }
            var plan: HopPlan?
            for step in actions.steps {
                plan = performStep(step) ?? plan
                // No command follows the end.
                if case .end = step { return }
            }
            let command = actions.command
            let currentHop = hop
            // Before the command: afterwards the hop may report its response on another thread, and then sets `isPerforming`.
            let (queued, nextHop) = state.withLock { state -> (QueuedActions?, (any HopLoad)?) in
                (Self.popQueuedActions(&state), state.hop)
            }
            execute(command, currentHop, plan)
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
        state.isPerforming = false
        state.queuesCommands = false
        return nil
    }

    /// Gives a command to the hop.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - hop: The hop that was current when the machine returned the command.
    ///   - plan: The client's plan for the content; nil if no response was delivered.
    func execute(_ command: HopMachine.Command, _ hop: (any HopLoad)?, _ plan: HopPlan? = nil) {
        switch command {
        case .none: break
        case .start: hop?.start()
        case .skip: hop?.skip()
        case .cancel(let error): hop?.cancel(error)
        case .applyPlan:
            switch plan {
            case .deliver?, .splice?: hop?.resumeReading()
            case .skip?: hop?.skip()
            case .pause?, nil: break
            }
        }
    }

    /// Performs one step. Returns the client's plan for the content if the step delivers a response.
    func performStep(_ step: Step) -> HopPlan? {
        switch step {
        case .prepare: prepare()
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

    /// Sets an alarm for the resource time-out, which no connection enforces while the load waits for the program, the cache or
    /// the network. No effect if the alarm is set or the load has ended.
    func setAlarm() {
        let deadline = state.withLock { state in
            state.alarm == nil && !state.machine.isOver ? state.deadline : nil
        }
        guard let deadline else { return }
        let cancel = context.clock.alarm(deadline) { [weak self] in
            guard let self else { return }
            handle(.cancel(timeOut), asynchronously: true)
        }
        let isUnneeded = state.withLock { state in
            if state.alarm != nil || state.machine.isOver { return true }
            state.alarm = cancel
            return false
        }
        if isUnneeded { cancel() }
    }

    /// Calls `action` with the error when the resource time-out expires, also after the end of the load: the task may still wait
    /// for an answer of the program's (U-5.10). The returned closure cancels the call.
    func atResourceTimeout(_ action: @escaping @Sendable (URLError) -> Void) -> SessionClock.Cancel {
        let (deadline, url) = state.withLock { ($0.deadline, $0.request.url) }
        guard let deadline else { return {} }
        let time = context.settings.resourceTimeout
        return context.clock.alarm(deadline) { action(.tooLong(url, after: time)) }
    }

    /// The error of a load that exceeded its resource time-out.
    var timeOut: URLError {
        .tooLong(state.withLock { $0.request.url }, after: context.settings.resourceTimeout)
    }

    /// Releases what the load held, and reports its end to the client.
    private func end(_ error: (any Error)?) {
        let now = Date()
        // The last element is released outside of the lock.
        let (hops, redirectCount, alarm, networkWatch, trust, _) = state.withLock { state in
            if let start = state.cachedDeliveryStart {
                state.hops.append(
                    HopMetrics(
                        request: state.visibleRequest, response: state.response, fetchType: .localCache,
                        exchanges: [],
                        fetchStart: start, end: now, bodyBytesBeforeEncoding: 0,
                        bodyBytesAfterDecoding: Int64(state.deliveredCachedBytes)))
            }
            let released = (state.hop.take(), state.question.take(), state.preparationStep.take())
            return (
                state.hops.takeAll(), state.redirectCount, state.alarm.take(), state.networkWatch.take(),
                state.trust.take(), released
            )
        }
        alarm?()
        networkWatch?()
        trust?.end()
        client.driverEnded(
            error,
            URLSessionTaskMetrics(
                hops: hops, redirectCount: redirectCount, created: definition.created, completed: now,
                clock: WallClockMapping(context.clock.transport.now(), at: now)))
    }
}
