// SPDX-License-Identifier: MIT

package import LupineHTTP
import Synchronization

/// One request going down, and the way to stop or resume it: what the layer above holds while it is under way.
///
/// The request is fixed when the exchange is made. The pool gives it a connection; the connection reports to the sink;
/// the sink hears `exchangeEnded` exactly once, whatever happens. `cancel`, `resume` and `state` may be used from any
/// thread.
package final class Exchange: Sendable {
    /// What is asked for; framing, `Host` and `Expect` are the connection's to add.
    package let head: RequestHead
    /// What goes out as the request's content.
    package let content: OutgoingContent
    /// Where it goes: the pool's key.
    package let origin: Origin
    /// What the caller asks for besides.
    package let options: ExchangeOptions
    let sink: any ExchangeSink
    /// Who is told of its steps; nil where nobody listens.
    let observation: TransferObservation?
    /// The loop whose connections it prefers; nil for none.
    let loop: EventLoop?
    /// When the exchange was made: its whole time-out runs from here.
    let began: Instant

    private let life: Lock<Life>
    /// How often it has been given back to be sent again.
    private let replayCount = Atomic<Int>(0)
    /// Whether the next time goes over a connection that has carried nothing.
    private let wantsFresh = Atomic<Bool>(false)
    /// The bits of `priority`.
    private let urgency = Atomic<UInt32>(Exchange.defaultPriority.bitPattern)
    private let suspended = Atomic<Bool>(false)
    /// What `streamNumber` is.
    private let stream = Atomic<UInt32>(0)
    /// How often it has been given to the pool: late news about an earlier time is known by it.
    private let submission = Atomic<Int>(0)
    /// What is timed while no connection carries it.
    private let watch = Lock(WaitWatch())
    /// Where content goes from the next `resume` on.
    private let place = Lock<FileTarget?>(nil)

    private struct WaitWatch: Sendable {
        var timer: (loop: EventLoop, token: EventLoop.TimerToken)?
        /// How often somebody has looked: who holds the latest number has the watch.
        var turn = 0
        /// Since when a dial has been under way for it.
        var dialedSince: Instant?
    }

    /// Where an exchange stands on its way.
    private enum Life: Sendable {
        case new
        case waiting(ConnectionPool, WaiterID)
        /// Tied to a connection that is being opened and asks about its peer.
        case claimed(ConnectionPool, ConnectionID)
        /// On a connection. Once cancelled it stays so, should the connection break and give it back first.
        case running(EventLoop, LoopBound<Carrier>, cancelled: TransportError?)
        /// Nobody's for now: its owner has suspended it, or its content is being made ready to be sent again.
        case parked(ConnectionPool, ParkReason)
        /// Taken back before it ran; whoever holds it next ends it.
        case cancelled(TransportError)
        case over
    }

    enum ParkReason { case suspended, rewinding, awaitingSettings }

    /// An exchange that has not been submitted.
    ///
    /// - Parameters:
    ///   - head: What is asked for.
    ///   - content: What goes out as its content.
    ///   - origin: Where it goes.
    ///   - options: What the caller asks for besides.
    ///   - observation: Who is told of its steps.
    ///   - loop: Whose connections it prefers: at first those of the loop whose job makes it, as the program's task runs there.
    ///   - began: The present moment, by the clock of the pool's loops.
    ///   - sink: Hears of it.
    package init(
        head: RequestHead, content: OutgoingContent = .none, origin: Origin,
        options: ExchangeOptions = ExchangeOptions(),
        observation: TransferObservation? = nil, preferring loop: EventLoop? = EventLoop.ofRunningJob,
        at began: Instant = MonotonicClock().now(),
        sink: any ExchangeSink
    ) {
        self.head = head
        self.content = content
        self.origin = origin
        self.options = options
        self.observation = observation
        self.sink = sink
        self.loop = loop
        self.began = began
        life = Lock(.new)
    }

    // MARK: for the layer above

    /// Ends the exchange with `error`, unless it is over. The sink hears of it soon, on a loop.
    package func cancel(_ error: TransportError = .cancelled) {
        let found = life.withLock { life -> Life in
            let found = life
            switch life {
            case .new, .waiting, .claimed, .parked: life = .cancelled(error)
            case .running(let loop, let connection, let earlier):
                life = .running(loop, connection, cancelled: earlier ?? error)
            case .cancelled, .over: break
            }
            return found
        }
        switch found {
        case .new, .cancelled, .over: break
        case .waiting(let pool, let waiter): pool.cancel(waiter)
        case .claimed(let pool, let connection): pool.cancelClaim(connection)
        case .parked(let pool, _): pool.end(self, error)
        case .running(_, _, cancelled: _?): break
        case .running(let loop, let connection, cancelled: nil):
            _ = loop.executeInline { connection.value.cancel(self, error) }
        }
    }

    /// The priority of an exchange that was given none.
    package static let defaultPriority: Float = 0.5

    /// Who gets a connection first among exchanges that wait for one of the same origin: 0 to 1, the highest first. Over HTTP/2
    /// also whose content goes first, and what the peer is told (`Urgency`). May be set at any time; what is beyond the bounds
    /// counts as the bound, what is no number changes nothing.
    package var priority: Float {
        get { Float(bitPattern: urgency.load(ordering: .acquiring)) }
        set {
            guard !newValue.isNaN else { return }
            urgency.store(min(max(newValue, 0), 1).bitPattern, ordering: .releasing)
            switch life.withLock({ $0 }) {
            case .waiting(let pool, let waiter): pool.reprioritise(waiter, of: self)
            case .running(let loop, let connection, cancelled: nil):
                // A connection that has just begun with it reads the priority after this.
                _ = loop.executeInline { connection.value.priorityChanged(of: self) }
            case .new, .claimed, .running, .parked, .cancelled, .over: break
            }
        }
    }

    /// The owner has all it wants of the response: the exchange ends as after `Demand.enough`. One that has no response
    /// yet is cancelled.
    package func skip() {
        let found = life.withLock { $0 }
        guard case .running(let loop, let connection, _) = found else { return cancel() }
        _ = loop.execute { connection.value.skip(self) }
    }

    /// Goes on after the sink has answered `.pause`. Harmless at any other time.
    package func resume() {
        let found = life.withLock { $0 }
        guard case .running(let loop, let connection, _) = found else { return }
        _ = loop.execute { connection.value.resume(self) }
    }

    /// The same at once: on the exchange's loop, and not from inside one of the sink's calls.
    package func resumeNow() {
        guard case .running(let loop, let connection, _) = life.withLock({ $0 }), loop.isOnLoop else {
            return resume()
        }
        connection.value.resume(self)
    }

    /// Content goes into the file from the next `resume` on, as with the plan `.splice`. For a sink that answered the head
    /// by `.pause`, to find a place first.
    package func save(into target: FileTarget) { place.withLock { $0 = target } }

    /// The place that was named, once.
    func takePlace() -> FileTarget? { place.withLock { $0.take() } }

    /// While suspended it sends nothing and reads nothing, gives up no connection that it has and takes none, and no
    /// time counts but the whole.
    package func setSuspended(_ isSuspended: Bool) {
        guard suspended.exchange(isSuspended, ordering: .sequentiallyConsistent) != isSuspended else {
            return
        }
        switch life.withLock({ $0 }) {
        case .new, .waiting, .claimed, .cancelled, .over: break
        case .running(let loop, let connection, _):
            _ = loop.executeInline { connection.value.suspensionChanged(of: self) }
        case .parked(let pool, .suspended):
            if !isSuspended { submitAgain(to: pool) }
        case .parked(_, .rewinding), .parked(_, .awaitingSettings): break
        }
    }

    // MARK: for the pool and the connection

    /// Whether its owner wants it to stand still.
    var isSuspended: Bool { suspended.load(ordering: .sequentiallyConsistent) }

    /// Which stream of its HTTP/2 connection carries it, or has carried it last: the connection's alone.
    var streamNumber: UInt32 {
        get { stream.load(ordering: .relaxed) }
        set { stream.store(newValue, ordering: .relaxed) }
    }

    /// The number of the present submission.
    var submissionNumber: Int { submission.load(ordering: .relaxed) }

    /// The pool has put it in a queue. False when it was cancelled before.
    ///
    /// The news may come late: when the exchange runs already, or even waits again, by another submission.
    func isWaiting(in pool: ConnectionPool, as waiter: WaiterID, submission number: Int) -> Bool {
        life.withLock { life in
            switch life {
            case .new where number == submissionNumber:
                life = .waiting(pool, waiter)
                return true
            case .cancelled: return false
            case .new, .waiting, .claimed, .running, .parked, .over: return true
            }
        }
    }

    /// A connection that is being opened asks on its behalf. False when it was cancelled before.
    func isClaimed(in pool: ConnectionPool, by connection: ConnectionID) -> Bool {
        life.withLock { life in
            switch life {
            case .new, .waiting:
                life = .claimed(pool, connection)
                return true
            case .claimed, .running, .parked, .cancelled, .over: return false
            }
        }
    }

    /// Gives it to the pool once more, if it is still parked.
    func submitAgain(to pool: ConnectionPool) {
        let isParked = life.withLock { life -> Bool in
            guard case .parked = life else { return false }
            submission.add(1, ordering: .relaxed)
            life = .new
            return true
        }
        guard isParked else { return }
        let needsFresh = wantsFresh.load(ordering: .relaxed)
        if options.isWebSocket { return pool.submitWebSocket(self, needsFresh: needsFresh) }
        pool.submit(self, needsFresh: needsFresh)
    }

    /// The connection that has it gives it back until it knows what its peer allows. False when it was cancelled.
    func awaitSettings(in pool: ConnectionPool) -> Bool {
        life.withLock { life in
            guard case .running(_, _, cancelled: nil) = life else { return false }
            life = .parked(pool, .awaitingSettings)
            // The connection that it waits for is as fresh as was wanted; another one would be waited for as well.
            wantsFresh.store(false, ordering: .relaxed)
            return true
        }
    }

    /// A connection takes it. False: it is suspended and comes back for a connection later. Throws when it was cancelled
    /// before, and its end is then due.
    func begin(
        on connection: LoopBound<Carrier>, loop: EventLoop, of pool: ConnectionPool
    ) throws(TransportError) -> Bool {
        let (begins, cancelled) = life.withLock { life -> (Bool, TransportError?) in
            if case .cancelled(let error) = life { return (false, error) }
            if isSuspended {
                life = .parked(pool, .suspended)
                return (false, nil)
            }
            life = .running(loop, connection, cancelled: nil)
            return (true, nil)
        }
        if let cancelled { throw cancelled }
        return begins
    }

    /// The connection gives it back to be sent again, once its content is ready for that. False when nobody wants that
    /// any more. If it `needsFresh`, it goes over a connection that has carried nothing, then and ever after.
    func park(in pool: ConnectionPool, needsFresh: Bool) -> Bool {
        life.withLock { life in
            switch life {
            case .running(_, _, cancelled: nil), .waiting, .claimed, .new:
                replayCount.add(1, ordering: .relaxed)
                if needsFresh { wantsFresh.store(true, ordering: .relaxed) }
                life = .parked(pool, .rewinding)
                return true
            case .running(_, _, cancelled: _?), .cancelled, .parked, .over: return false
            }
        }
    }

    /// How often it has been given back to be sent again.
    var replays: Int { replayCount.load(ordering: .relaxed) }

    /// Whether it is not being sent for the first time.
    var wasReplayed: Bool { replays > 0 }

    /// The error it was cancelled with, as far as nobody has acted on it.
    var cancellation: TransportError? {
        life.withLock { life in
            switch life {
            case .cancelled(let error), .running(_, _, cancelled: let error?): error
            case .new, .waiting, .claimed, .running(_, _, cancelled: nil), .parked, .over: nil
            }
        }
    }

    /// Ends it and tells the sink, once. On a loop.
    func end(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        let isFirst = life.withLock { life -> Bool in
            if case .over = life { return false }
            life = .over
            return true
        }
        guard isFirst else { return }
        // Also after an early answer: the source may still be asked for a piece that nobody wants.
        content.abandon()
        stopWatch()
        observation?.ended(result, metrics)
        sink.exchangeEnded(result, metrics)
    }

    // MARK: time without a connection

    /// Whether anything is to be timed while no connection carries it.
    var needsWatch: Bool { options.timeouts.whole != nil || options.timeouts.idle != nil }

    /// Sees to it that time counts while no connection does that: the whole, and the idle time once a connection is
    /// being opened for it. On `loop`; looks again whenever something may be due, until another loop takes the watch over.
    func watchWaiting(on loop: EventLoop) {
        // Before it looks: what another loop sees later is not overruled by what was seen here.
        let turn = watch.withLock { watch in
            watch.turn += 1
            return watch.turn
        }
        guard let next = nextLook(at: loop.now) else { return }
        let token = loop.schedule(at: next) { [weak self] reason in
            guard let self, reason == .due else { return }
            // Behind a loop that has taken over, the timer that is written down is that loop's.
            let isLatest = watch.withLock { watch in
                guard watch.turn == turn else { return false }
                watch.timer = nil
                return true
            }
            if isLatest { watchWaiting(on: loop) }
        }
        let old = watch.withLock { watch in
            var timer: (loop: EventLoop, token: EventLoop.TimerToken)? = (loop, token)
            if watch.turn == turn { swap(&watch.timer, &timer) }
            return timer
        }
        if let old { _ = old.loop.executeInline { old.loop.cancel(old.token) } }
        // It may have ended meanwhile, on another loop, without seeing this timer.
        if case .over = life.withLock({ $0 }) { stopWatch() }
    }

    private func stopWatch() {
        let timer = watch.withLock { $0.timer.take() }
        if let timer { _ = timer.loop.executeInline { timer.loop.cancel(timer.token) } }
    }

    /// When to look again; nil when there is nothing to watch, or nothing any more because a time has run out.
    private func nextLook(at now: Instant) -> Instant? {
        let (host, port) = (origin.unixPath ?? origin.host, origin.port)
        let life = life.withLock { $0 }
        if case .over = life { return nil }
        var next: Instant?
        if let whole = options.timeouts.whole {
            next = began + whole
            if began + whole <= now {
                cancel(TransportError(host: host, port: port, .whole, after: whole))
                return nil
            }
        }
        guard let idle = options.timeouts.idle else { return next }
        let progress: Instant?
        switch life {
        case .new, .running, .parked, .cancelled, .over: return next
        case .waiting(let pool, let waiter): progress = pool.dialProgress(for: waiter, to: origin)
        case .claimed(let pool, let connection): progress = pool.dialProgress(of: connection)
        }
        let since = watch.withLock { watch -> Instant in
            let since = watch.dialedSince ?? now
            watch.dialedSince = progress == nil || isSuspended ? nil : since
            return since
        }
        guard let progress, !isSuspended else {
            // Others are ahead of it. Nobody says when its turn comes: it is looked after now and then.
            let look = now + max(Interval(nanoseconds: idle.nanoseconds / 4), .milliseconds(10))
            return min(look, next ?? look)
        }
        let due = max(since, progress) + idle
        guard due > now else {
            cancel(TransportError(host: host, port: port, .idle, after: idle))
            return nil
        }
        return min(due, next ?? due)
    }
}

/// How an exchange is to be carried out.
package struct ExchangeOptions: Sendable {
    /// Of each part of the exchange; connecting and TLS are the pool's to time.
    package var timeouts: TransferTimeouts
    /// Bytes of the body per second that may be received.
    package var receiveRate: Int?
    /// Bytes of the body per second that may be sent.
    package var sendRate: Int?
    /// Announces the content and waits so long for the peer's `100 Continue` before it is sent anyhow; nil: at once.
    package var continueTimeout: Interval?
    /// A final answer that comes before all of the content has gone stops the sending; the connection is not used again.
    package var stopsSendingWhenAnswered = false
    /// Who answers for the exchange when its connection has to be asked about. Who may share connections is not decided by
    /// it, but by the profile of the origin.
    package var verifier: (any PeerVerifier)?
    /// The head is a web socket's handshake, in the form that it has in HTTP/1.1. A connection of HTTP/2 makes an extended
    /// CONNECT of it (RFC 8441).
    package var isWebSocket = false

    /// No limits, no waiting.
    package init(
        timeouts: TransferTimeouts = TransferTimeouts(), receiveRate: Int? = nil, sendRate: Int? = nil,
        continueTimeout: Interval? = nil, verifier: (any PeerVerifier)? = nil
    ) {
        self.timeouts = timeouts
        self.receiveRate = receiveRate
        self.sendRate = sendRate
        self.continueTimeout = continueTimeout
        self.verifier = verifier
    }
}
