// SPDX-License-Identifier: MIT

package import LupineHTTP
import Synchronization

/// One request with its response on a connection; the layer above controls both with this object.
///
/// The request is fixed when the exchange is created. The pool leases a connection to the exchange, and the connection reports
/// events to the sink. The sink receives `exchangeEnded` exactly once in all cases. Any thread may cancel, skip, resume, suspend
/// or reprioritise the exchange.
package final class Exchange: Sendable {
    /// The request head; the connection adds framing, `Host` and `Expect`.
    package let head: RequestHead
    /// The request's content.
    package let content: OutgoingContent
    /// The destination: the pool's key.
    package let origin: Origin
    /// Further settings of the caller.
    package let options: ExchangeOptions
    /// Receives the events of the exchange.
    let sink: any ExchangeSink
    /// Reports the exchange to the program's transfer observers; nil without observers.
    let observation: TransferObservation?
    /// The loop whose connections the exchange prefers; nil for none.
    let loop: EventLoop?
    /// When the exchange was created. The `whole` time-out starts then.
    let createdAt: Instant

    /// The current stage of the life cycle.
    private let life: Lock<Life>
    /// How often the exchange has been returned to be sent again.
    private let replayCount = Atomic<Int>(0)
    /// Whether the next attempt needs a connection that has carried nothing.
    private let needsFreshConnection = Atomic<Bool>(false)
    /// The bit pattern of `priority`: there is no atomic `Float`.
    private let priorityBits = Atomic<UInt32>(Exchange.defaultPriority.bitPattern)
    /// The value of `isSuspended`.
    private let suspensionFlag = Atomic<Bool>(false)
    /// The value of `streamNumber`.
    private let storedStreamNumber = Atomic<UInt32>(0)
    /// How often the exchange has been submitted again. `markWaiting` uses it to ignore a late call for an earlier submission.
    private let submissionCount = Atomic<Int>(0)
    /// The time-outs that run while no connection carries the exchange.
    private let waitTimeouts = Lock(WaitTimeouts())
    /// The file that receives the content from the next `resume` on.
    private let fileTarget = Lock<FileTarget?>(nil)

    /// The timer of `runWaitTimeouts(on:)`, and what it measures.
    private struct WaitTimeouts: Sendable {
        /// The timer for the next check.
        var timer: (loop: EventLoop, token: EventLoop.TimerToken)?
        /// The number of calls of `runWaitTimeouts`. Only the timer of the latest call counts; earlier timers are ignored.
        var generation = 0
        /// When a check first found a dial for the exchange; nil while there is none.
        var dialedSince: Instant?
    }

    /// The life cycle of an exchange.
    private enum Life: Sendable {
        /// Not submitted, or submitted and not marked as waiting yet.
        case new
        /// In a queue of the pool.
        case waiting(ConnectionPool, WaiterID)
        /// Tied to a connection that is being opened and needs a decision about its peer.
        case claimed(ConnectionPool, ConnectionID)
        /// On a connection. `cancelled` is the error of a cancellation that the connection has not performed yet: if it breaks
        /// first and returns the exchange to the pool, the exchange still ends with that error.
        case running(EventLoop, LoopBound<Carrier>, cancelled: TransportError?)
        /// Without a connection: suspended by its owner, waiting until its content has been rewound, or waiting for the peer's
        /// HTTP/2 settings.
        case parked(ConnectionPool, ParkReason)
        /// Cancelled before it ran. The pool or the connection ends the exchange when it handles it next.
        case cancelled(TransportError)
        case over
    }

    /// Why an exchange has no connection, and is in no queue.
    enum ParkReason { case suspended, rewinding, awaitingSettings }

    /// Creates an exchange that has not been submitted.
    ///
    /// - Parameters:
    ///   - head: The request head.
    ///   - content: The request's content.
    ///   - origin: The destination.
    ///   - options: Further settings of the caller.
    ///   - observation: Reports the exchange to the program's transfer observers; nil without observers.
    ///   - loop: The loop whose connections it prefers. The default is the loop whose job creates the exchange, as the
    ///     program's task runs there.
    ///   - createdAt: The current time, by the clock of the pool's loops.
    ///   - sink: Receives the exchange's events.
    package init(
        head: RequestHead, content: OutgoingContent = .none, origin: Origin,
        options: ExchangeOptions = ExchangeOptions(),
        observation: TransferObservation? = nil, preferring loop: EventLoop? = EventLoop.ofRunningJob,
        at createdAt: Instant = MonotonicClock().now(),
        sink: any ExchangeSink
    ) {
        self.head = head
        self.content = content
        self.origin = origin
        self.options = options
        self.observation = observation
        self.sink = sink
        self.loop = loop
        self.createdAt = createdAt
        life = Lock(.new)
    }

    // MARK: for the layer above

    /// Ends the exchange with `error`, unless it has ended. The sink receives the end soon, on a loop; if the exchange has not
    /// been submitted, once it is.
    package func cancel(_ error: TransportError = .cancelled) {
        let previous = life.withLock { life -> Life in
            let previous = life
            switch life {
            case .new, .waiting, .claimed, .parked: life = .cancelled(error)
            case .running(let loop, let connection, let earlier):
                life = .running(loop, connection, cancelled: earlier ?? error)
            case .cancelled, .over: break
            }
            return previous
        }
        switch previous {
        // The pool or the connection that handles a new exchange next finds that it was cancelled, and ends it.
        case .new, .cancelled, .over: break
        case .waiting(let pool, let waiter): pool.cancel(waiter)
        case .claimed(let pool, let connection): pool.cancelClaim(connection)
        case .parked(let pool, _): pool.end(self, error)
        // The connection is already handling an earlier cancellation.
        case .running(_, _, cancelled: _?): break
        case .running(let loop, let connection, cancelled: nil):
            // A loop that has ended accepts no job, and has ended its exchanges. The same holds for the calls below.
            _ = loop.executeInline { connection.value.cancel(self, error) }
        }
    }

    /// The default priority of an exchange.
    package static let defaultPriority = ExchangePriority.normal

    /// The priority among exchanges of the same origin that wait for a connection: 0 to 1, the highest first. Over HTTP/2 it
    /// also determines whose content is sent first, and the priority that the peer receives (`Urgency`). May be set at any
    /// time; values out of range are clamped, NaN is ignored.
    package var priority: Float {
        get { Float(bitPattern: priorityBits.load(ordering: .acquiring)) }
        set {
            guard !newValue.isNaN else { return }
            priorityBits.store(min(max(newValue, 0), 1).bitPattern, ordering: .releasing)
            switch life.withLock({ $0 }) {
            case .waiting(let pool, let waiter): pool.reprioritise(waiter, of: self)
            case .running(let loop, let connection, cancelled: nil):
                _ = loop.executeInline { connection.value.priorityChanged(of: self) }
            // The pool or connection that next handles the exchange reads the priority after this store.
            case .new, .claimed, .running, .parked, .cancelled, .over: break
            }
        }
    }

    /// Ends the exchange early, because the owner needs no more of the response; the sink can do the same with `Demand.enough`.
    /// Cancels an exchange that has no response yet.
    package func skip() {
        guard case .running(let loop, let connection, _) = life.withLock({ $0 }) else { return cancel() }
        _ = loop.execute { connection.value.skip(self) }
    }

    /// Continues after the sink has answered `.pause`. Has no effect at any other time.
    package func resume() {
        guard case .running(let loop, let connection, _) = life.withLock({ $0 }) else { return }
        _ = loop.execute { connection.value.resume(self) }
    }

    /// Like `resume`, but if it is called on the exchange's loop, resumes before it returns. Must not be called from inside a
    /// call of the sink.
    package func resumeNow() {
        guard case .running(let loop, let connection, _) = life.withLock({ $0 }), loop.isOnLoop else {
            return resume()
        }
        connection.value.resume(self)
    }

    /// Writes the content into the file from the next `resume` on, as with the plan `.splice`. For a sink that answered the
    /// head with `.pause` in order to choose a file first.
    package func save(into target: FileTarget) { fileTarget.withLock { $0 = target } }

    /// Returns the file set by `save(into:)`, and nil in later calls.
    func takeFileTarget() -> FileTarget? { fileTarget.withLock { $0.take() } }

    /// Suspends or resumes the exchange. A suspended exchange sends and reads nothing; it keeps its connection if it has one, and
    /// takes none otherwise. Only its `whole` time-out runs.
    package func setSuspended(_ isSuspended: Bool) {
        let wasSuspended = suspensionFlag.exchange(isSuspended, ordering: .sequentiallyConsistent)
        guard wasSuspended != isSuspended else { return }
        switch life.withLock({ $0 }) {
        // `begin` checks the flag when a connection begins the exchange.
        case .new, .waiting, .claimed, .cancelled, .over: break
        case .running(let loop, let connection, _):
            _ = loop.executeInline { connection.value.suspensionChanged(of: self) }
        case .parked(let pool, .suspended):
            if !isSuspended { submitAgain(to: pool) }
        // The exchange is submitted again when this wait ends; `begin` then checks the flag.
        case .parked(_, .rewinding), .parked(_, .awaitingSettings): break
        }
    }

    // MARK: for the pool and the connection

    /// Whether the owner has suspended the exchange.
    var isSuspended: Bool { suspensionFlag.load(ordering: .sequentiallyConsistent) }

    /// The identifier of the HTTP/2 stream that carries the exchange, or carried it last. Only its connection uses the number.
    var streamNumber: UInt32 {
        get { storedStreamNumber.load(ordering: .relaxed) }
        set { storedStreamNumber.store(newValue, ordering: .relaxed) }
    }

    /// The number of the current submission.
    var submissionNumber: Int { submissionCount.load(ordering: .relaxed) }

    /// Records that the pool has put the exchange in a queue. Returns false if the exchange was cancelled before.
    ///
    /// The call may come late: the exchange may be running already, or waiting again after another submission. It then changes
    /// nothing and returns true.
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

    /// Records that a connection is being opened for this exchange alone, whose verifier decides whether to trust the peer.
    /// Returns false if the exchange was cancelled before or is not waiting.
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

    /// Submits the exchange to the pool again, if it is still parked.
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

    /// Parks the exchange until its connection has received the peer's settings. Returns false if the exchange was cancelled.
    func awaitSettings(in pool: ConnectionPool) -> Bool {
        life.withLock { life in
            guard case .running(let loop, _, cancelled: nil) = life else { return false }
            loop.exchangeLeft()
            life = .parked(pool, .awaitingSettings)
            // Its connection is fresh already. Requiring a fresh one would make the exchange wait for another connection.
            needsFreshConnection.store(false, ordering: .relaxed)
            return true
        }
    }

    /// Called when a connection begins the exchange. Returns false if the exchange is suspended; it is submitted again when its
    /// owner resumes it. Throws the error that the exchange was cancelled with; the caller then ends the exchange.
    func begin(
        on connection: LoopBound<Carrier>, loop: EventLoop, of pool: ConnectionPool
    ) throws(TransportError) -> Bool {
        let (hasBegun, cancellationError) = life.withLock { life -> (Bool, TransportError?) in
            if case .cancelled(let error) = life { return (false, error) }
            if isSuspended {
                life = .parked(pool, .suspended)
                return (false, nil)
            }
            life = .running(loop, connection, cancelled: nil)
            // The loop counts its exchanges: other threads may borrow it only while it carries none.
            loop.exchangeBegan()
            return (true, nil)
        }
        if let cancellationError { throw cancellationError }
        return hasBegun
    }

    /// Parks the exchange until its content has been rewound and it can be sent again. Returns false if it was cancelled or has
    /// ended. With `needsFresh`, this and all later attempts need a connection that has carried nothing.
    func park(in pool: ConnectionPool, needsFresh: Bool) -> Bool {
        life.withLock { life in
            switch life {
            case .running(_, _, cancelled: nil), .waiting, .claimed, .new:
                if case .running(let loop, _, _) = life { loop.exchangeLeft() }
                replayCount.add(1, ordering: .relaxed)
                if needsFresh { needsFreshConnection.store(true, ordering: .relaxed) }
                life = .parked(pool, .rewinding)
                return true
            case .running(_, _, cancelled: _?), .cancelled, .parked, .over: return false
            }
        }
    }

    /// How often the exchange has been returned to be sent again.
    var replays: Int { replayCount.load(ordering: .relaxed) }

    /// Whether the exchange has been returned to be sent again.
    var wasReplayed: Bool { replays > 0 }

    /// The error that the exchange was cancelled with; nil if it was not cancelled, or once it has ended.
    var cancellation: TransportError? {
        life.withLock { life in
            switch life {
            case .cancelled(let error), .running(_, _, cancelled: let error?): error
            case .new, .waiting, .claimed, .running(_, _, cancelled: nil), .parked, .over: nil
            }
        }
    }

    /// Ends the exchange and calls the sink's `exchangeEnded`; later calls have no effect. Called on a loop.
    func end(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        let isFirst = life.withLock { life -> Bool in
            if case .over = life { return false }
            if case .running(let loop, _, _) = life { loop.exchangeLeft() }
            life = .over
            return true
        }
        guard isFirst else { return }
        // Called after success too: if the response came before the request was complete, the source may still produce content.
        content.abandon()
        stopWaitTimeouts()
        observation?.reportEnd(result, metrics)
        sink.exchangeEnded(result, metrics)
    }

    // MARK: time-outs without a connection

    /// Whether any time-out applies while no connection carries the exchange.
    var hasWaitTimeouts: Bool { options.timeouts.whole != nil || options.timeouts.idle != nil }

    /// Runs the time-outs of an exchange without a connection: `whole`, and `idle` while a connection is being opened for it.
    /// Called on `loop`. A timer checks again whenever a time-out may be due, until a call on another loop replaces this one.
    func runWaitTimeouts(on loop: EventLoop) {
        // Incremented before the check, so that the timer of this call cannot replace that of a later call on another loop.
        let generation = waitTimeouts.withLock { waitTimeouts in
            waitTimeouts.generation += 1
            return waitTimeouts.generation
        }
        guard let next = checkTimeouts(at: loop.now) else { return }
        let token = loop.schedule(at: next) { [weak self] reason in
            guard let self, reason == .due else { return }
            // If a later call has replaced this one, the stored timer belongs to that call.
            let isLatest = waitTimeouts.withLock { waitTimeouts in
                guard waitTimeouts.generation == generation else { return false }
                waitTimeouts.timer = nil
                return true
            }
            if isLatest { runWaitTimeouts(on: loop) }
        }
        // The timer to cancel: the previously stored one or, if a later call has replaced this one, the timer just scheduled.
        let obsolete = waitTimeouts.withLock { waitTimeouts in
            var timer: (loop: EventLoop, token: EventLoop.TimerToken)? = (loop, token)
            if waitTimeouts.generation == generation { swap(&waitTimeouts.timer, &timer) }
            return timer
        }
        if let obsolete { _ = obsolete.loop.executeInline { obsolete.loop.cancel(obsolete.token) } }
        // The exchange may have ended on another loop meanwhile, without seeing this timer.
        if case .over = life.withLock({ $0 }) { stopWaitTimeouts() }
    }

    /// Cancels the timer of `runWaitTimeouts(on:)`.
    private func stopWaitTimeouts() {
        let timer = waitTimeouts.withLock { $0.timer.take() }
        if let timer { _ = timer.loop.executeInline { timer.loop.cancel(timer.token) } }
    }

    /// Cancels the exchange if a time-out has expired. Returns the time of the next check; nil if no time-out runs any more.
    private func checkTimeouts(at now: Instant) -> Instant? {
        // Errors name the path of a Unix-domain socket in place of the host.
        let (host, port) = (origin.unixPath ?? origin.host, origin.port)
        let life = life.withLock { $0 }
        if case .over = life { return nil }
        var next: Instant?
        if let whole = options.timeouts.whole {
            next = createdAt + whole
            if createdAt + whole <= now {
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
        let idleStart = waitTimeouts.withLock { waitTimeouts -> Instant in
            let start = waitTimeouts.dialedSince ?? now
            // While the idle time does not run, no start is stored: the time begins again with the next dial.
            waitTimeouts.dialedSince = progress == nil || isSuspended ? nil : start
            return start
        }
        guard let progress, !isSuspended else {
            // The idle time does not run: other exchanges are ahead, the dial waits for the program's decision, or the exchange
            // is suspended. No event reports when the dial makes progress, so a timer checks, often enough that the time-out is
            // at most a quarter late.
            let nextCheck = now + max(Interval(nanoseconds: idle.nanoseconds / 4), .milliseconds(10))
            return min(nextCheck, next ?? nextCheck)
        }
        let deadline = max(idleStart, progress) + idle
        guard deadline > now else {
            cancel(TransportError(host: host, port: port, .idle, after: idle))
            return nil
        }
        return min(deadline, next ?? deadline)
    }
}

extension TransferObservation {
    /// Reports the start when the exchange is first submitted to the pool; later submissions are ignored.
    func reportStart(of exchange: Exchange) {
        reportStart(at: exchange.createdAt) { TransferStart(exchange, $0) }
    }
}

extension TransferStart {
    /// Creates the event that observers receive when the exchange is submitted.
    fileprivate init(_ exchange: Exchange, _ transfer: TransferIdentity) {
        let origin = exchange.origin
        cause = transfer.cause
        taskIdentifier = transfer.taskIdentifier
        method = exchange.head.method
        scheme = origin.scheme == .https ? "https" : "http"
        host = origin.host
        port = origin.port
        target = exchange.head.target.description
        fields = exchange.head.fields
        contentLength =
            switch exchange.content.announcement {
            case .none: 0
            case .known(let length): length
            case .unknown: nil
            }
        proxy = origin.proxy?.description
        unixSocketPath = origin.unixPath
    }
}

/// Options of an exchange.
package struct ExchangeOptions: Sendable {
    /// The time-outs of the exchange; the settings of the pool limit connecting and the TLS handshake.
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
    /// Decides on behalf of the exchange whether to trust the peer of the connection. It does not decide which exchanges may
    /// share a connection: the TLS profile in `Origin` does.
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
