// SPDX-License-Identifier: MIT

package import LupineHTTP
import Synchronization

/// One request on its way through the transport, and the handle with which the layer above controls it.
///
/// The request is fixed when the exchange is made. The pool gives it a connection, and the connection reports to the sink. The
/// sink receives `exchangeEnded` exactly once in all cases. Any thread may cancel, skip, resume, suspend or reprioritise it.
package final class Exchange: Sendable {
    /// The request head; the connection adds framing, `Host` and `Expect`.
    package let head: RequestHead
    /// The request's content.
    package let content: OutgoingContent
    /// The destination: the pool's key.
    package let origin: Origin
    /// Further settings of the caller.
    package let options: ExchangeOptions
    let sink: any ExchangeSink
    /// The observer of the exchange's steps; nil if there is none.
    let observation: TransferObservation?
    /// The loop whose connections it prefers; nil for none.
    let loop: EventLoop?
    /// When the exchange was made: its whole time-out runs from here.
    let began: Instant

    private let life: Lock<Life>
    /// How often it has been returned to be sent again.
    private let replayCount = Atomic<Int>(0)
    /// Whether the next attempt needs a connection that has carried nothing.
    private let needsFreshConnection = Atomic<Bool>(false)
    /// The bit pattern of `priority`.
    private let priorityBits = Atomic<UInt32>(Exchange.defaultPriority.bitPattern)
    private let suspensionFlag = Atomic<Bool>(false)
    /// The value of `streamNumber`.
    private let storedStreamNumber = Atomic<UInt32>(0)
    /// How often it has been submitted to the pool. Late notifications about an earlier submission are recognised by it.
    private let submissionCount = Atomic<Int>(0)
    /// The timing state while no connection carries it.
    private let watch = Lock(WaitWatch())
    /// The file that receives the content from the next `resume` on.
    private let fileTarget = Lock<FileTarget?>(nil)

    private struct WaitWatch: Sendable {
        var timer: (loop: EventLoop, token: EventLoop.TimerToken)?
        /// Counts the calls of `watchWaiting`: the latest call owns the watch.
        var generation = 0
        /// The time since which a dial for it has been under way.
        var dialedSince: Instant?
    }

    /// The life cycle of an exchange.
    private enum Life: Sendable {
        case new
        case waiting(ConnectionPool, WaiterID)
        /// Tied to a connection that is being opened and needs a decision about its peer.
        case claimed(ConnectionPool, ConnectionID)
        /// On a connection. A cancellation is kept, in case the connection breaks and returns the exchange before it acts on
        /// it.
        case running(EventLoop, LoopBound<Carrier>, cancelled: TransportError?)
        /// Without a connection: its owner has suspended it, or its content is being rewound, or it waits for the peer's
        /// settings.
        case parked(ConnectionPool, ParkReason)
        /// Cancelled before it ran; the next object that handles it ends it.
        case cancelled(TransportError)
        case over
    }

    enum ParkReason { case suspended, rewinding, awaitingSettings }

    /// Creates an exchange that has not been submitted.
    ///
    /// - Parameters:
    ///   - head: The request head.
    ///   - content: The request's content.
    ///   - origin: The destination.
    ///   - options: Further settings of the caller.
    ///   - observation: The observer of its steps.
    ///   - loop: The loop whose connections it prefers. The default is the loop whose job creates the exchange, as the
    ///     program's task runs there.
    ///   - began: The current time, by the clock of the pool's loops.
    ///   - sink: Receives the exchange's events.
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

    /// Ends the exchange with `error`, unless it has ended. The sink is told soon, on a loop.
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

    /// The default priority of an exchange.
    package static let defaultPriority = ExchangePriority.normal

    /// The priority among exchanges of the same origin that wait for a connection: 0 to 1, the highest first. Over HTTP/2 it
    /// also determines whose content is sent first, and the priority that the peer is told (`Urgency`). May be set at any
    /// time; values out of range are clamped, NaN is ignored.
    package var priority: Float {
        get { Float(bitPattern: priorityBits.load(ordering: .acquiring)) }
        set {
            guard !newValue.isNaN else { return }
            priorityBits.store(min(max(newValue, 0), 1).bitPattern, ordering: .releasing)
            switch life.withLock({ $0 }) {
            case .waiting(let pool, let waiter): pool.reprioritise(waiter, of: self)
            case .running(let loop, let connection, cancelled: nil):
                // A connection that has just begun the exchange reads the priority after this.
                _ = loop.executeInline { connection.value.priorityChanged(of: self) }
            case .new, .claimed, .running, .parked, .cancelled, .over: break
            }
        }
    }

    /// Ends the exchange as after `Demand.enough`: the owner needs no more of the response. An exchange without a
    /// response yet is cancelled.
    package func skip() {
        let found = life.withLock { $0 }
        guard case .running(let loop, let connection, _) = found else { return cancel() }
        _ = loop.execute { connection.value.skip(self) }
    }

    /// Continues after the sink has answered `.pause`. Has no effect at any other time.
    package func resume() {
        let found = life.withLock { $0 }
        guard case .running(let loop, let connection, _) = found else { return }
        _ = loop.execute { connection.value.resume(self) }
    }

    /// Resumes immediately when called on the exchange's loop. Must not be called from inside one of the sink's calls.
    package func resumeNow() {
        guard case .running(let loop, let connection, _) = life.withLock({ $0 }), loop.isOnLoop else {
            return resume()
        }
        connection.value.resume(self)
    }

    /// Writes the content into the file from the next `resume` on, as with the plan `.splice`. For a sink that answered the
    /// head with `.pause` in order to choose a file first.
    package func save(into target: FileTarget) { fileTarget.withLock { $0 = target } }

    /// Returns the file set by `save(into:)`, once.
    func takeFileTarget() -> FileTarget? { fileTarget.withLock { $0.take() } }

    /// Suspends or resumes the exchange. While suspended it sends and reads nothing, keeps its connection if it has one, takes
    /// none otherwise, and only the `whole` time-out runs.
    package func setSuspended(_ isSuspended: Bool) {
        guard suspensionFlag.exchange(isSuspended, ordering: .sequentiallyConsistent) != isSuspended else {
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

    /// Whether the owner has suspended it.
    var isSuspended: Bool { suspensionFlag.load(ordering: .sequentiallyConsistent) }

    /// The HTTP/2 stream that carries it, or carried it last. Used only by its connection.
    var streamNumber: UInt32 {
        get { storedStreamNumber.load(ordering: .relaxed) }
        set { storedStreamNumber.store(newValue, ordering: .relaxed) }
    }

    /// The number of the current submission.
    var submissionNumber: Int { submissionCount.load(ordering: .relaxed) }

    /// Called when the pool has put it in a queue. Returns false when it was cancelled before.
    ///
    /// The call may come late: the exchange may be running already, or waiting again after another submission.
    func markWaiting(in pool: ConnectionPool, as waiter: WaiterID, submission number: Int) -> Bool {
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

    /// Called when a connection that is being opened needs a decision on its behalf. Returns false when it was cancelled
    /// before.
    func markClaimed(in pool: ConnectionPool, by connection: ConnectionID) -> Bool {
        life.withLock { life in
            switch life {
            case .new, .waiting:
                life = .claimed(pool, connection)
                return true
            case .claimed, .running, .parked, .cancelled, .over: return false
            }
        }
    }

    /// Submits it to the pool again, if it is still parked.
    func submitAgain(to pool: ConnectionPool) {
        let isParked = life.withLock { life -> Bool in
            guard case .parked = life else { return false }
            submissionCount.add(1, ordering: .relaxed)
            life = .new
            return true
        }
        guard isParked else { return }
        let needsFresh = needsFreshConnection.load(ordering: .relaxed)
        if options.isWebSocket { return pool.submitWebSocket(self, needsFresh: needsFresh) }
        pool.submit(self, needsFresh: needsFresh)
    }

    /// Called when its connection returns it to wait for the peer's settings. Returns false when it was cancelled.
    func awaitSettings(in pool: ConnectionPool) -> Bool {
        life.withLock { life in
            guard case .running(_, _, cancelled: nil) = life else { return false }
            life = .parked(pool, .awaitingSettings)
            // The connection it waits for is fresh already; asking for a fresh one would mean waiting for another.
            needsFreshConnection.store(false, ordering: .relaxed)
            return true
        }
    }

    /// Called when a connection takes it. Returns false when it is suspended: it asks for a connection again later. Throws the
    /// error it was cancelled with; the caller then ends it.
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

    /// Called when the connection returns it to be sent again, once its content has been rewound. Returns false when it was
    /// cancelled or has ended. With `needsFresh`, this and all later attempts need a connection that has carried nothing.
    func park(in pool: ConnectionPool, needsFresh: Bool) -> Bool {
        life.withLock { life in
            switch life {
            case .running(_, _, cancelled: nil), .waiting, .claimed, .new:
                replayCount.add(1, ordering: .relaxed)
                if needsFresh { needsFreshConnection.store(true, ordering: .relaxed) }
                life = .parked(pool, .rewinding)
                return true
            case .running(_, _, cancelled: _?), .cancelled, .parked, .over: return false
            }
        }
    }

    /// How often it has been returned to be sent again.
    var replays: Int { replayCount.load(ordering: .relaxed) }

    /// Whether it has been sent before.
    var wasReplayed: Bool { replays > 0 }

    /// The error it was cancelled with, until the exchange has ended.
    var cancellation: TransportError? {
        life.withLock { life in
            switch life {
            case .cancelled(let error), .running(_, _, cancelled: let error?): error
            case .new, .waiting, .claimed, .running(_, _, cancelled: nil), .parked, .over: nil
            }
        }
    }

    /// Ends it and tells the sink, once. Called on a loop.
    func end(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        let isFirst = life.withLock { life -> Bool in
            if case .over = life { return false }
            life = .over
            return true
        }
        guard isFirst else { return }
        // Also needed after an early response: the source may still be asked for a piece that is no longer needed.
        content.abandon()
        stopWatch()
        observation?.ended(result, metrics)
        sink.exchangeEnded(result, metrics)
    }

    // MARK: time without a connection

    /// Whether any time-out applies while no connection carries it.
    var needsWatch: Bool { options.timeouts.whole != nil || options.timeouts.idle != nil }

    /// Runs the time-outs that no connection runs yet: `whole`, and `idle` once a connection is being opened for it. Called on
    /// `loop`; checks again whenever a time-out may be due, until another loop takes the watch over.
    func watchWaiting(on loop: EventLoop) {
        // Before the check, so that the result of this one cannot overrule a later check on another loop.
        let generation = watch.withLock { watch in
            watch.generation += 1
            return watch.generation
        }
        guard let next = nextCheck(at: loop.now) else { return }
        let token = loop.schedule(at: next) { [weak self] reason in
            guard let self, reason == .due else { return }
            // If another loop has taken over, the stored timer belongs to that loop.
            let isLatest = watch.withLock { watch in
                guard watch.generation == generation else { return false }
                watch.timer = nil
                return true
            }
            if isLatest { watchWaiting(on: loop) }
        }
        let old = watch.withLock { watch in
            var timer: (loop: EventLoop, token: EventLoop.TimerToken)? = (loop, token)
            if watch.generation == generation { swap(&watch.timer, &timer) }
            return timer
        }
        if let old { _ = old.loop.executeInline { old.loop.cancel(old.token) } }
        // The exchange may have ended on another loop meanwhile, without seeing this timer.
        if case .over = life.withLock({ $0 }) { stopWatch() }
    }

    private func stopWatch() {
        let timer = watch.withLock { $0.timer.take() }
        if let timer { _ = timer.loop.executeInline { timer.loop.cancel(timer.token) } }
    }

    /// Returns the time of the next check; nil when there is nothing to watch, or when a time-out has expired.
    private func nextCheck(at now: Instant) -> Instant? {
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
            // Other exchanges are ahead of it, and nothing reports when its turn comes, so it is polled.
            let check = now + max(Interval(nanoseconds: idle.nanoseconds / 4), .milliseconds(10))
            return min(check, next ?? check)
        }
        let due = max(since, progress) + idle
        guard due > now else {
            cancel(TransportError(host: host, port: port, .idle, after: idle))
            return nil
        }
        return min(due, next ?? due)
    }
}

/// Options of an exchange.
package struct ExchangeOptions: Sendable {
    /// The time-outs of each part of the exchange; the pool times connecting and TLS.
    package var timeouts: TransferTimeouts
    /// The limit of received body bytes per second.
    package var receiveRate: Int?
    /// The limit of sent body bytes per second.
    package var sendRate: Int?
    /// Sends `Expect: 100-continue` and waits this long for `100 Continue` before the content is sent anyway; nil to send it
    /// at once.
    package var continueTimeout: Interval?
    /// Whether a final response that arrives before all content has been sent stops the sending. The connection is then not
    /// reused.
    package var stopsSendingWhenAnswered = false
    /// Answers the trust questions of the connection on behalf of the exchange. It does not decide which exchanges may share a
    /// connection: the origin's profile does.
    package var verifier: (any PeerVerifier)?
    /// Whether the head is a WebSocket handshake, in its HTTP/1.1 form. An HTTP/2 connection translates it to an extended
    /// CONNECT (RFC 8441).
    package var isWebSocket = false

    /// Creates options without limits and without waiting for `100 Continue`.
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
