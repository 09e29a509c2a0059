// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineTransport

/// Carries out the load of one task: makes its hops one after the other, asks what is to be asked between them, and
/// reports to the task what is final.
///
/// The shell of `HopMachine`: what happens is told to the machine under the one lock, what it says is performed after. The
/// machine's work is performed by one thread at a time, whoever brings it; others leave theirs in a queue. Calls of the
/// hop go on to the client where they come; the machine sees to it that no work of its own does then. Any thread may call;
/// nothing blocks, and the client hears nothing before the call returns, but of an answer in memory if it only queues what it hears.
final class TaskDriver: Sendable {
    typealias Event = HopMachine.Event
    typealias Work = HopMachine.Work

    struct State: Sendable {
        var machine = HopMachine()
        /// Somebody performs work, or the client is being called by the hop with a question.
        var isPerforming = false
        /// A response of the hop's is being judged: what the hop is told is the answer to that.
        var holdsOrders = false
        var waiting = Few<Waiting>()

        /// The hop as the program wants it: nothing is added yet.
        var request: URLRequest
        var body: TaskOrder.Body
        /// The request as it went out.
        var sent: URLRequest
        /// The same as the program sees it: without answers to challenges and questions of the cache's.
        var announced: URLRequest
        var fetchStart = Date.distantPast
        var hop: (any HopLoad)?
        /// Whether redirects, challenges and cookies of the hop are the driver's to see to.
        var isTransaction = true
        /// Streams that have been sent, as far as they were: none is sent twice.
        var streams: Set<ObjectIdentifier> = []

        /// How the preparation of the hop goes on.
        var next: (@Sendable () -> Void)?

        var isSuspended = false
        var priority: Float
        /// Whose connections the hops prefer.
        var loop: EventLoop?
        /// The farthest that redirects have led.
        var move = RedirectMove.withinOrigin
        /// Whom the last redirect named.
        var redirectCredential: URLCredential?
        var redirectCount = 0
        /// Made when somebody asks, or may be known to.
        var authenticator: Rare<Authenticator>?
        /// Whether an answer to a challenge went out with the hop.
        var hasAnswered = false
        /// What of that was for the server.
        var authorization: String?

        /// Under whom the hop's connection is accepted, where that matters.
        var judge: TrustJudge?

        var question: Question?
        var questions = 0
        /// The response that is being thought about, or handed on.
        var response: URLResponse?

        var cache = CacheUse()
        /// The server has answered the question about what is stored with another version: the hop is loaded again without.
        var distrustsStored = false
        /// Since when the cache's answer is handed on.
        var answersSince: Date?
        /// What of it has been, and whether the client has had enough for now.
        var handedOn = 0
        var isPaused = false

        /// Takes what is asked about connections to the program. Made for the first hop that may lead to a question.
        var trust: TaskTrust?
        /// When all has to be over.
        var deadline: Instant?
        var alarm: SessionClock.Cancel?
        var watch: NetworkWatch.End?
        /// The client knows that the network is waited for.
        var saidOffline = false
        /// Since the network was last tried.
        var networkHasChanged = false
        /// A connection has stood: an end of the network is an error from here on.
        var hasConnected = false
        var hops = Few<HopMetrics>()
        /// What observers were told of last; nil where there are none.
        var observed: Rare<Observed>?
    }

    /// The last transfer of the load.
    struct Observed: Sendable {
        let id: TransferID
        /// How many redirects had been followed then.
        let redirectCount: Int
    }

    /// What somebody else has to perform, who is at it.
    struct Waiting: Sendable {
        let actions: HopMachine.Actions
        /// Not in the stack of whoever is at it now: that may be the program's call.
        let elsewhere: Bool
    }

    /// What is being asked about the hop's response.
    enum Question: Sendable {
        case redirect(HTTPURLResponse, RedirectRule.Proposal)
        /// By a protocol of the program's.
        case protocolRedirect(URLResponse, URLRequest)
        /// Of a server or proxy; the refusal of a tunnel is the task's error if nothing comes of it.
        case challenge(URLAuthenticationChallenge, refusal: URLError?)
    }

    /// What few loads have and is large stands apart from the state.
    indirect enum Rare<Value: Sendable>: Sendable {
        case value(Value)

        var value: Value {
            switch self {
            case .value(let value): value
            }
        }
    }

    let order: TaskOrder
    let context: SessionContext
    let client: any TaskDriverClient
    let state: Lock<State>
    /// For what must not happen in the stack of whoever called.
    static let queue = DispatchQueue(label: "lupine.loads", qos: .userInitiated, attributes: .concurrent)

    /// A driver that has not started. It holds its client until the end has been told.
    init(_ order: TaskOrder, context: SessionContext, client: any TaskDriverClient) {
        self.order = order
        self.context = context
        self.client = client
        let service = order.request.networkServiceType
        state = Lock(
            State(
                request: order.request, body: order.body, sent: order.request,
                announced: order.request,
                priority: (service == .default ? context.settings.networkServiceType : service).priority))
    }

    // MARK: what the task says

    /// Begins. The time for the whole load runs from here.
    func start() {
        let deadline = context.settings.resourceTimeout.map { context.clock.now() + $0 }
        handle(.start) { $0.deadline = deadline }
    }

    /// Ends the load with `error`, unless it is over: the client hears `driverEnded` and nothing else any more.
    func cancel(_ error: URLError) { handle(.cancel(error), elsewhere: true) }

    /// Goes on after the client has answered `.pause`. Harmless at any other time.
    func resumeReading() {
        let (hop, isAnswering) = state.withLock { state -> ((any HopLoad)?, Bool) in
            state.isPaused = false
            return (state.machine.isRunning ? state.hop : nil, state.machine.isAnswering)
        }
        hop?.resumeReading()
        if isAnswering { handle(.resumed, elsewhere: true) }
    }

    /// The content goes into a file, and so into no cache.
    func save(into target: FileTarget) {
        let hop = state.withLock { state -> (any HopLoad)? in
            state.cache.giveUp()
            return state.machine.isRunning ? state.hop : nil
        }
        hop?.save(into: target)
    }

    /// Holds the load, or lets it go on. The time for the whole of it goes on meanwhile (U-6.4, U-14.4).
    func setSuspended(_ isSuspended: Bool) {
        let (hop, isAnswering) = state.withLock { state -> ((any HopLoad)?, Bool) in
            state.isSuspended = isSuspended
            return (state.hop, state.machine.isAnswering)
        }
        if isSuspended { setAlarm() }
        hop?.setSuspended(isSuspended)
        if !isSuspended, isAnswering { handle(.resumed, elsewhere: true) }
    }

    /// Orders the hops of this load among those that wait for a connection.
    func setPriority(_ priority: Float) {
        let hop = state.withLock { state -> (any HopLoad)? in
            state.priority = priority
            return state.hop
        }
        hop?.setPriority(priority)
    }

    /// Has the hops prefer connections of that loop.
    func prefer(_ loop: EventLoop) { state.withLock { $0.loop = loop } }

    // MARK: the machine

    /// Tells the machine what happened and performs what it says.
    ///
    /// - Parameters:
    ///   - elsewhere: Work is not to be done in this stack.
    ///   - update: What changes along with the machine's state.
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

    /// What the caller is to perform: orders to the hop at once, work only if nobody else is at it.
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
                // Nothing comes after it.
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

    /// The work that was left, in one; nil when there is none, and others may begin.
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

    /// Does one piece of work; a response gives the client's plan for its content.
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

    /// A timer of the driver's own while it is parked: nobody else counts then.
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

    /// The time for the whole goes on after the end, while the task still waits for an answer of the program's (U-5.10).
    func whenTimeIsUp(_ ring: @escaping @Sendable (URLError) -> Void) -> SessionClock.Cancel {
        let (deadline, url) = state.withLock { ($0.deadline, $0.request.url) }
        guard let deadline else { return {} }
        let time = context.settings.resourceTimeout
        return context.clock.alarm(deadline) { ring(.tooLong(url, after: time)) }
    }

    /// The whole load has taken too long.
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
                hops: hops, redirectCount: count, created: order.created, completed: now,
                clock: MilestoneClock(context.clock.transport.now(), at: now)))
    }
}
