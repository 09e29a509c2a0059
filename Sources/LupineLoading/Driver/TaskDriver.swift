// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineTransport

/// Carries out the load of one task: performs its transactions one after the other, asks the client between them, and reports
/// to the task what is final.
///
/// The shell of `HopMachine`: events are reported to the machine under the one lock, and the actions that it returns are
/// performed afterwards. The machine's work is performed by one thread at a time, whichever brings it; other threads queue
/// theirs. Calls of a transaction are passed on to the client directly; the machine ensures that none of its own work is
/// performed at that time. Any thread may call; nothing blocks, and the client is not called before the call returns, except
/// with a cached response in memory if it only queues what it is told.
final class TaskDriver: Sendable {
    typealias Event = HopMachine.Event
    typealias Work = HopMachine.Work

    struct State: Sendable {
        var machine = HopMachine()
        /// Whether a thread performs work, or the client is asked within a call of the transaction.
        var isPerforming = false
        /// Whether a response is being judged within a call of the transaction: orders are then returned as the result of that
        /// call.
        var holdsOrders = false
        var waiting = SmallArray<Waiting>()

        /// The transaction's request as the program wants it: no fields are added yet.
        var request: URLRequest
        var body: TaskDefinition.Body
        /// The request as it was sent.
        var sent: URLRequest
        /// The sent request as the program sees it: without answers to challenges and conditional fields of the cache.
        var announced: URLRequest
        var fetchStart = Date.distantPast
        var hop: (any HopLoad)?
        /// Whether the driver handles redirects, challenges and cookies of the transaction.
        var isTransaction = true
        /// Body streams that have been sent, in full or in part: none is sent twice.
        var streams: Set<ObjectIdentifier> = []

        /// The continuation of the preparation.
        var next: (@Sendable () -> Void)?

        var isSuspended = false
        var priority: Float
        /// The loop whose connections the transactions prefer.
        var loop: EventLoop?
        /// The farthest that redirects have led.
        var move = RedirectMove.withinOrigin
        /// The user that the URL of the last redirect named.
        var redirectCredential: URLCredential?
        var redirectCount = 0
        /// Created when a challenge arrives, or an answer may be known in advance.
        var authenticator: Rare<Authenticator>?
        /// Whether an answer to a challenge was sent with the request.
        var hasAnswered = false
        /// The part of that for the server: the value of `Authorization`.
        var authorization: String?

        /// Who decides about the server of the transaction's connection, if that matters.
        var judge: TrustJudge?

        var question: Question?
        var questions = 0
        /// The response that the client is asked about, or that is delivered.
        var response: URLResponse?

        var cache = CacheUse()
        /// Whether the server has answered a revalidation with another version: the transaction is then repeated without the
        /// cache entry.
        var distrustsStored = false
        /// When the delivery of the cached response began.
        var answersSince: Date?
        /// The number of its bytes that were delivered, and whether the client has paused.
        var handedOn = 0
        var isPaused = false

        /// Passes the challenges of connections to the program. Created for the first transaction that may lead to one.
        var trust: TaskTrust?
        /// When the resource time-out expires.
        var deadline: Instant?
        var alarm: SessionClock.Cancel?
        var watch: NetworkWatch.End?
        /// Whether the client was told that the load waits for connectivity.
        var saidOffline = false
        /// Whether the network has changed since the last attempt.
        var networkHasChanged = false
        /// Whether a connection has been established: a loss of connectivity is an error from then on.
        var hasConnected = false
        var hops = SmallArray<HopMetrics>()
        /// The last transfer that observers were told of; nil without observers.
        var observed: Rare<Observed>?
    }

    /// The last transfer of the load.
    struct Observed: Sendable {
        let id: TransferID
        /// The number of redirects that had been followed before it.
        let redirectCount: Int
    }

    /// Actions left to the thread that is performing work.
    struct Waiting: Sendable {
        let actions: HopMachine.Actions
        /// Whether that thread must not perform them in its present stack, which may be inside a call of the program's.
        let elsewhere: Bool
    }

    /// The question that the client is asked about a response.
    enum Question: Sendable {
        case redirect(HTTPURLResponse, RedirectRule.Proposal)
        /// From a program's `URLProtocol`.
        case protocolRedirect(URLResponse, URLRequest)
        /// From a server or proxy; the refusal of a tunnel becomes the task's error if the challenge is not answered.
        case challenge(URLAuthenticationChallenge, refusal: URLError?)
    }

    /// Stores a large value that few loads have outside of the state.
    indirect enum Rare<Value: Sendable>: Sendable {
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
    /// For work that must not be done in the caller's stack.
    static let queue = DispatchQueue(label: "lupine.loads", qos: .userInitiated, attributes: .concurrent)

    /// Creates a driver that has not started. It retains its client, which releases it after the end.
    init(_ definition: TaskDefinition, context: SessionContext, client: any TaskDriverClient) {
        self.definition = definition
        self.context = context
        self.client = client
        let service = definition.request.networkServiceType
        state = Lock(
            State(
                request: definition.request, body: definition.body, sent: definition.request,
                announced: definition.request,
                priority: (service == .default ? context.settings.networkServiceType : service).priority))
    }

    // MARK: what the task says

    /// Starts the load. The resource time-out runs from here.
    func start() {
        let deadline = context.settings.resourceTimeout.map { context.clock.now() + $0 }
        handle(.start) { $0.deadline = deadline }
    }

    /// Ends the load with `error`, unless it has ended: the client gets `driverEnded` and no other call.
    func cancel(_ error: URLError) { handle(.cancel(error), elsewhere: true) }

    /// Resumes after the client has returned `.pause`. No effect at any other time.
    func resumeReading() {
        let (hop, isAnswering) = state.withLock { state -> ((any HopLoad)?, Bool) in
            state.isPaused = false
            return (state.machine.isRunning ? state.hop : nil, state.machine.isAnswering)
        }
        hop?.resumeReading()
        if isAnswering { handle(.resumed, elsewhere: true) }
    }

    /// Lets the content go into a file, and therefore not into the cache.
    func save(into target: FileTarget) {
        let hop = state.withLock { state -> (any HopLoad)? in
            state.cache.giveUp()
            return state.machine.isRunning ? state.hop : nil
        }
        hop?.save(into: target)
    }

    /// Suspends the load, or resumes it. The resource time-out runs on meanwhile (U-6.4, U-14.4).
    func setSuspended(_ isSuspended: Bool) {
        let (hop, isAnswering) = state.withLock { state -> ((any HopLoad)?, Bool) in
            state.isSuspended = isSuspended
            return (state.hop, state.machine.isAnswering)
        }
        if isSuspended { setAlarm() }
        hop?.setSuspended(isSuspended)
        if !isSuspended, isAnswering { handle(.resumed, elsewhere: true) }
    }

    /// Sets the priority of this load among the transactions that wait for a connection.
    func setPriority(_ priority: Float) {
        let hop = state.withLock { state -> (any HopLoad)? in
            state.priority = priority
            return state.hop
        }
        hop?.setPriority(priority)
    }

    /// Makes the transactions prefer connections of that loop.
    func prefer(_ loop: EventLoop) { state.withLock { $0.loop = loop } }

    // MARK: the machine

    /// Reports an event to the machine and performs the actions that it returns.
    ///
    /// - Parameters:
    ///   - elsewhere: Whether work must not be done in the caller's stack.
    ///   - update: Changes the state along with the machine's.
    func handle(
        _ event: Event, elsewhere: Bool = false, update: (inout State) -> Void = { _ in }
    ) {
        let (actions, hop) = state.withLock { state -> (HopMachine.Actions?, (any HopLoad)?) in
            update(&state)
            let actions = state.machine.handle(event)
            return (Self.take(actions, elsewhere: elsewhere, &state), state.hop)
        }
        guard let actions else { return }
        if elsewhere, !actions.work.isEmpty {
            Self.queue.async { self.perform(actions, hop) }
        } else {
            perform(actions, hop)
        }
    }

    /// The actions that the caller has to perform: orders to the transaction at once, work only if no other thread performs
    /// any.
    static func take(
        _ actions: HopMachine.Actions, elsewhere: Bool = false, _ state: inout State
    ) -> HopMachine.Actions? {
        if state.isPerforming, state.holdsOrders || !actions.work.isEmpty {
            state.waiting.append(Waiting(actions: actions, elsewhere: elsewhere))
            return nil
        }
        if !actions.work.isEmpty { state.isPerforming = true }
        return actions
    }

    func perform(_ actions: HopMachine.Actions, _ hop: (any HopLoad)?) {
        var (actions, hop) = (actions, hop)
        while true {
            if actions.work.isEmpty {
                obey(actions.order, hop)
                return
            }
            var plan: HopPlan?
            for work in actions.work {
                plan = perform(work) ?? plan
                // Nothing follows the end.
                if case .end = work { return }
            }
            let order = actions.order
            let current = hop
            let next = state.withLock { state -> (Waiting?, (any HopLoad)?) in
                (Self.next(&state), state.hop)
            }
            obey(order, current, plan)
            guard let following = next.0 else { return }
            (actions, hop) = (following.actions, next.1)
            if following.elsewhere {
                return Self.queue.async { [self, actions, hop] in perform(actions, hop) }
            }
        }
    }

    /// The next queued actions; nil if there are none, and other threads may begin.
    static func next(_ state: inout State) -> Waiting? {
        if let waiting = state.waiting.popFirst() { return waiting }
        state.isPerforming = false
        state.holdsOrders = false
        return nil
    }

    func obey(_ order: HopMachine.Order, _ hop: (any HopLoad)?, _ plan: HopPlan? = nil) {
        switch order {
        case .none: break
        case .start: hop?.start()
        case .skip: hop?.skip()
        case .cancel(let error): hop?.cancel(error)
        case .proceed:
            switch plan {
            case .deliver?, .splice?: hop?.resumeReading()
            case .skip?: hop?.skip()
            case .pause?, nil: break
            }
        }
    }

    /// Performs one step of work; delivering a response returns the client's plan for its content.
    func perform(_ work: Work) -> HopPlan? {
        switch work {
        case .prepare: prepare()
        case .make: state.withLock { $0.next.take() }?()
        case .announce: announce()
        case .respond: return respond()
        case .ask: ask()
        case .wait: waitForNetwork()
        case .answer: answerFromCache()
        case .pump: pump()
        case .offer: offer()
        case .end(let error): end(error)
        }
        return nil
    }

    // MARK: the end

    /// Sets a timer for the resource time-out while the load waits and no transaction enforces it.
    func setAlarm() {
        let deadline = state.withLock { state in
            state.alarm == nil && !state.machine.isOver ? state.deadline : nil
        }
        guard let deadline else { return }
        let cancel = context.clock.alarm(deadline) { [weak self] in
            guard let self else { return }
            handle(.cancel(timeOut), elsewhere: true)
        }
        let isLate = state.withLock { state in
            if state.alarm != nil || state.machine.isOver { return true }
            state.alarm = cancel
            return false
        }
        if isLate { cancel() }
    }

    /// The resource time-out runs on after the end, while the task still waits for an answer of the program's (U-5.10).
    func atResourceTimeout(_ ring: @escaping @Sendable (URLError) -> Void) -> SessionClock.Cancel {
        let (deadline, url) = state.withLock { ($0.deadline, $0.request.url) }
        guard let deadline else { return {} }
        let time = context.settings.resourceTimeout
        return context.clock.alarm(deadline) { ring(.tooLong(url, after: time)) }
    }

    /// The error of a load that exceeded its resource time-out.
    var timeOut: URLError {
        .tooLong(state.withLock { $0.request.url }, after: context.settings.resourceTimeout)
    }

    private func end(_ error: (any Error)?) {
        let now = Date()
        let (hops, count, alarm, watch, trust, _) = state.withLock { state in
            if let since = state.answersSince {
                state.hops.append(
                    HopMetrics(
                        request: state.announced, response: state.response, fetchType: .localCache,
                        exchanges: [],
                        fetchStart: since, end: now, bodyBytesBeforeEncoding: 0,
                        bodyBytesAfterDecoding: Int64(state.handedOn)))
            }
            let rest = (state.hop.take(), state.question.take(), state.next.take())
            return (
                state.hops.takeAll(), state.redirectCount, state.alarm.take(), state.watch.take(),
                state.trust.take(), rest
            )
        }
        alarm?()
        watch?()
        trust?.end()
        client.driverEnded(
            error,
            URLSessionTaskMetrics(
                hops: hops, redirectCount: count, created: definition.created, completed: now,
                clock: WallClockMapping(context.clock.transport.now(), at: now)))
    }
}
