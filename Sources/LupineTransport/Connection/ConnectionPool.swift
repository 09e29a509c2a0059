// SPDX-License-Identifier: MIT

package import LupineHTTP

/// Performs the decisions of `PoolMachine`: leases connections of all loops to exchanges, dials, and closes.
///
/// A machine decides and does nothing else; this class is its driver. Any thread may submit an exchange (one request with its
/// response), or cancel it. One lock guards the machine (`PoolState`). The pool performs the machine's actions after it has
/// released the lock, on the loops of the connections.
package final class ConnectionPool: Sendable {
    /// The settings with which the pool opens connections.
    package struct Configuration: Sendable {
        /// The limits of the number of connections and of their idle time.
        package var limits = PoolLimits()
        /// The settings of dials.
        package var dial = DialConfiguration()
        /// The limits of a response's head and framing.
        package var parserLimits = ParserLimits()
        /// The deviations from the syntax that are accepted in a response's head.
        package var leniency = Leniency.client
        /// Whether an HTTP/2 connection may also carry requests to other origins (`CoalescibleConnections`).
        package var coalescesConnections = true

        /// Creates the default settings.
        package init() {}
    }

    private let configuration: Configuration
    private let group: EventLoopGroup
    private let resolver: Resolver
    private let state: Lock<PoolState>
    /// The pool for WebSocket exchanges that no open connection of this pool can carry. If it is nil, this pool dials for them,
    /// as for all other exchanges.
    private let webSocketPool: ConnectionPool?
    /// Fires when an idle connection must be closed; confined to the first loop.
    private let alarm: LoopBound<PoolAlarm>?

    /// Creates a pool whose connections run on the loops of `group`. WebSocket exchanges that no connection can carry go to
    /// `webSocketPool`, or to this pool if it is nil.
    package init(
        configuration: Configuration, group: EventLoopGroup, resolver: Resolver,
        webSockets webSocketPool: ConnectionPool? = nil
    ) {
        self.configuration = configuration
        self.webSocketPool = webSocketPool
        self.group = group
        self.resolver = resolver
        state = Lock(PoolState(limits: configuration.limits, versions: configuration.dial.versions))
        alarm = group.loops.first.map { LoopBound(sending: PoolAlarm(), to: $0) }
    }

    /// The limits of a response's head and framing.
    var parserLimits: ParserLimits { configuration.parserLimits }
    /// The deviations from the syntax that are accepted in a response's head.
    var leniency: Leniency { configuration.leniency }
    /// The number of connections opened so far.
    package var connectionsOpened: Int { state.withLock { $0.connectionsOpened } }
    /// The number of open connections, dials included.
    package var openCount: Int { state.withLock { $0.machine.openCount } }
    /// The number of connections that carry no exchange.
    package var idleCount: Int { state.withLock { $0.machine.idleCount } }

    /// The numbers of connections and of waiting exchanges, by origin. The pool's lock is held while they are counted.
    package var counts: [PoolCounts] {
        let keys = state.withLock { $0.machine.counts }
        return PoolCounts.joined(keys.map(PoolCounts.init))
    }

    // MARK: exchanges

    /// Accepts an exchange, whose sink receives the outcome. With `needsFresh`, the pool leases to it only a connection that has
    /// carried nothing.
    package func submit(_ exchange: Exchange, needsFresh: Bool = false) {
        exchange.observation?.reportStart(of: exchange)
        enqueue(exchange, needsFresh: needsFresh)
    }

    /// Passes an exchange to the machine, which leases a connection to it or queues it.
    private func enqueue(_ exchange: Exchange, needsFresh: Bool) {
        // A loop of another group has none of this pool's connections, so it cannot be preferred.
        let loop = exchange.loop.flatMap { group.contains($0) ? $0.number : nil }
        // On a loop, the exchange begins only after the submission has returned. Another thread may begin it within the
        // submission, if it can borrow the connection's loop (`EventLoop.executeWhileIdle`).
        passToMachine(runsInline: false) { state in
            .submit(
                state.store(exchange), to: exchange.origin, needsFresh: needsFresh,
                priority: exchange.priority, replays: exchange.replays, loop: loop)
        }
    }

    /// Accepts a WebSocket exchange: it runs on an open HTTP/2 connection that accepts WebSockets, or else on a connection of the
    /// pool `webSocketPool`. Without that pool, it is submitted like any other exchange.
    package func submitWebSocket(_ exchange: Exchange, needsFresh: Bool = false) {
        exchange.observation?.reportStart(of: exchange)
        guard let webSocketPool else { return enqueue(exchange, needsFresh: needsFresh) }
        // No open HTTP/2 connection is fresh, so `webSocketPool` gets the exchange. `needsFresh` is false there: a connection
        // that has become a WebSocket never returns to its pool.
        if needsFresh { return webSocketPool.enqueue(exchange, needsFresh: false) }
        passToMachine(runsInline: false) { state in
            .submitWebSocket(state.store(exchange), to: exchange.origin)
        }
    }

    /// Called when the connection's peer has enabled WebSockets over HTTP/2 (RFC 8441).
    func acceptsWebSockets(_ connection: ConnectionID) {
        passToMachine { _ in .acceptsWebSockets(connection) }
    }

    /// Called when a waiting exchange was cancelled.
    func cancel(_ waiter: WaiterID) { passToMachine { _ in .cancel(waiter) } }

    /// Called when the exchange that a dial is tied to was cancelled.
    func cancelClaim(_ connection: ConnectionID) { passToMachine { _ in .cancelClaim(connection) } }

    /// Ties a dial to one waiting exchange, and returns that exchange's verifier, which decides whether to trust the peer. If no
    /// exchange waits for the dial, the machine abandons the dial.
    private func claim(_ connection: ConnectionID) -> PeerClaim {
        passToMachine { _ in .claim(connection) }
        guard let exchange = state.withLock({ $0.claimant(of: connection) }) else { return .abandoned }
        // False if the exchange was cancelled meanwhile: the dial is then abandoned.
        let isClaimed = exchange.markClaimed(in: self, by: connection)
        if isClaimed { return .claimed(exchange.options.verifier) }
        cancelClaim(connection)
        return .abandoned
    }

    /// Called when a waiting exchange has a new priority. The priority is read under the lock, so that the last value set wins.
    func reprioritise(_ waiter: WaiterID, of exchange: Exchange) {
        passToMachine { _ in .reprioritise(waiter, exchange.priority) }
    }

    /// Sends an exchange whose connection broke again if that is safe, and otherwise fails it with `error`. `isUnprocessed` says
    /// that the peer has certainly not processed the request, so that sending it again is safe.
    func replayOrFail(
        _ exchange: Exchange, _ metrics: ExchangeMetrics, _ error: TransportError, requestBegan: Bool,
        connectionWasReused: Bool, isUnprocessed: Bool = false
    ) {
        let attempt = ReplayRule.FailedAttempt(
            connectionWasReused: connectionWasReused, responseBegan: metrics.responseStart != nil,
            requestBegan: requestBegan, method: exchange.head.method,
            bodyIsReplayable: exchange.content.isReplayable, isUnprocessed: isUnprocessed,
            replays: exchange.replays)
        // A peer that has not processed the request may have reached its limit of concurrent requests: the same connection may
        // serve the exchange soon. Only the last attempt needs a connection that has carried nothing.
        let needsFresh = !isUnprocessed || exchange.replays + 1 == ReplayRule.replayLimit
        // `park` returns false if the exchange was cancelled or has ended.
        guard ReplayRule.mayReplay(attempt), exchange.park(in: self, needsFresh: needsFresh) else {
            return exchange.end(.failure(exchange.cancellation ?? error), metrics)
        }
        exchange.observation?.connectionWasLost(at: metrics.responseEnd ?? group.clock.now())
        exchange.sink.willReplay(metrics)
        guard requestBegan else { return exchange.submitAgain(to: self) }
        exchange.content.rewind { [group] isReady in
            if isReady { return exchange.submitAgain(to: self) }
            // A loop that has ended accepts no job: the exchange then ends here.
            let isAccepted = group.next().execute { exchange.end(.failure(error), metrics) }
            if !isAccepted { exchange.end(.failure(error), metrics) }
        }
    }

    /// Returns the time at which a dial for a waiter last made progress. Returns nil if other waiters are ahead, so that no dial
    /// will serve this one, and while a dial waits for the program's decision about its peer. If there are several dials, any of
    /// them may serve the waiter, so the most recent progress counts.
    func dialProgress(for waiter: WaiterID, to origin: Origin) -> Instant? {
        state.withLock { $0.dialProgress(for: waiter, to: origin) }
    }

    /// Returns the time at which the dial that an exchange is tied to last made progress.
    func dialProgress(of connection: ConnectionID) -> Instant? {
        state.withLock { $0.dialProgress(of: connection) }
    }

    // MARK: connections

    /// Called when an exchange on the connection has ended in order. `reuse` says whether the connection can carry another one.
    func exchangeFinished(on connection: ConnectionID, _ reuse: PoolEvent.Reuse, at now: Instant) {
        passToMachine(at: now) { _ in .finished(connection, reuse) }
    }

    /// Called when the connection accepts no further exchanges; those it carries continue. If its peer has rejected some
    /// exchanges, `carried` is the number of exchanges that the connection has carried in total.
    func retireConnection(_ connection: ConnectionID, carried: Int? = nil) {
        passToMachine { _ in .retire(connection, carried: carried) }
    }

    /// Called when the connection's limit of concurrent exchanges has changed.
    func capacityChanged(_ connection: ConnectionID, to capacity: Int) {
        passToMachine { _ in .capacityChanged(connection, capacity) }
    }

    /// Called when a request to `origin`, sent over a connection of another origin, got a 421 response.
    func requestMisdirected(to origin: Origin) { passToMachine { _ in .misdirected(origin) } }

    /// Returns the offer by which a dial, once it knows the addresses of its origin, finds an open connection to use instead.
    /// Returns nil for an origin whose requests must not share connections with other origins.
    private func offer(for dial: ConnectionID, to origin: Origin) -> ConnectionOffer? {
        guard configuration.coalescesConnections, configuration.dial.versions.contains(.http2),
            origin.mayCoalesce
        else { return nil }
        return ConnectionOffer { [self] addresses in
            let candidates = state.withLock { state in
                state.coalescible.candidates(for: origin, at: addresses)
                    .filter { state.machine.mayCoalesce(dial, onto: $0.id) }
            }
            // This runs outside of the lock, because `covers` checks every name in the certificate.
            return candidates.first { $0.covers(origin) }
        } coalesce: { [self] candidate in
            passToMachine { _ in .coalesce(dial, onto: candidate.id) }
            // The machine has ended the dial if the candidate could carry another exchange.
            return state.withLock { !$0.machine.isDialing(dial) }
        }
    }

    /// Called once for each connection, when it has been closed.
    func connectionClosed(_ connection: ConnectionID) {
        passToMachine { state in
            state.recordEnd(of: connection)
            state.coalescible.remove(connection)
            return .lost(connection)
        }
    }

    /// Called on `loop` when a dial has ended: adds its connection to the pool, or reports the failure.
    private func dialEnded(
        _ id: ConnectionID, to origin: Origin, on loop: EventLoop,
        _ outcome: Result<DialedChannel, TransportError>
    ) {
        switch outcome {
        case .success(let dialed):
            // Never nil: only this call takes the channel of a dial.
            guard let channel = dialed.takeChannel() else { return dialFailed(id, .shutDown) }
            let connection = makeCarrier(over: channel, dialed, id, on: loop)
            let phase = PoolState.Phase.open(loop, LoopBound(connection, on: loop))
            let isWanted = state.withLock { state -> Bool in
                guard state.replace(id, with: phase) else { return false }
                state.connectionsOpened += 1
                if dialed.speaksHTTP2 { state.coalescible.insert(id, to: origin, over: dialed.route) }
                return true
            }
            // If the machine has abandoned the dial meanwhile, the connection closes. It then calls `connectionClosed`.
            guard isWanted else { return connection.close() }
            let (newKey, capacity) = (dialed.newKey, connection.capacity)
            passToMachine { _ in .connected(id, capacity: capacity, newKey: newKey, loop: loop.number) }
            connection.didOpen()
        case .failure(let error):
            dialFailed(id, error)
        }
    }

    /// Creates the connection for the protocol that the dial has negotiated.
    private func makeCarrier(
        over channel: consuming ByteChannel, _ dialed: DialedChannel, _ id: ConnectionID, on loop: EventLoop
    ) -> Carrier {
        if dialed.speaksHTTP2 {
            return HTTP2Connection(
                channel, dialed, id, limits: configuration.parserLimits, pool: self, loop: loop)
        }
        return HTTP1Connection(channel, dialed, id, pool: self, loop: loop)
    }

    /// Called once for each dial that has ended without a connection.
    private func dialFailed(_ id: ConnectionID, _ error: TransportError) {
        passToMachine(error) { state in
            state.recordEnd(of: id)
            return if case .outOfDescriptors = error { .descriptorsExhausted(id) } else { .dialFailed(id) }
        }
    }

    // MARK: the end

    /// Closes all idle connections.
    package func dropIdle() { passToMachine { _ in .dropIdle } }

    /// Shuts the pool down: exchanges that wait or run fail with `shutDown`, and connections close. `whenDone` is called on an
    /// arbitrary thread once the last connection is gone.
    package func shutDown(_ whenDone: @escaping @Sendable () -> Void = {}) {
        // Fails the waiting exchanges and closes the idle connections. The other connections are aborted below.
        retire(whenDone)
        let phases = state.withLock { $0.phases }
        for phase in phases {
            switch phase {
            case .reserved: break
            case .dialing(let loop, let dialer): _ = loop.execute { dialer.value.cancel(.shutDown) }
            case .open(let loop, let connection): _ = loop.execute { connection.value.abort(.shutDown) }
            }
        }
    }

    /// Shuts the pool down gracefully: no exchange begins any more, running exchanges continue, and their connections close after
    /// them. `whenDone` is called as by `shutDown`.
    package func retire(_ whenDone: @escaping @Sendable () -> Void = {}) {
        passToMachine { state in
            state.isShutDown = true
            return .shutDown
        }
        let loops = group.loops[...]
        // When the last connection closes, its loop may still call sinks in the same turn.
        let whenDone = { @Sendable in Self.runAfterTurns(of: loops, whenDone) }
        // The machine has closed all idle connections, so the alarm is not needed.
        if let loop = group.loops.first, let alarm { _ = loop.execute { alarm.value.cancel(on: loop) } }
        let isEmpty = state.withLock { state -> Bool in
            if state.liveCount > 0 { state.completionHandlers.append(whenDone) }
            return state.liveCount == 0
        }
        if isEmpty { whenDone() }
    }

    // MARK: the driver

    /// Passes the event that `event` returns to the machine, and performs the machine's actions. `cause` is the error of a failed
    /// dial. If `runsInline` is false and the caller is on the loop of an exchange's connection, the exchange begins only after
    /// the call.
    private func passToMachine(
        _ cause: TransportError? = nil, runsInline: Bool = true, at instant: Instant? = nil,
        _ event: @Sendable (inout PoolState) -> PoolEvent
    ) {
        let now = instant ?? group.clock.now()
        var effects = PoolState.Effects()
        state.withLock { state in
            let poolEvent = event(&state)
            state.handle(poolEvent, cause, at: now, into: &effects)
        }
        guard let first = effects.first.take() else { return }
        perform(first, runsInline)
        guard let second = effects.second.take() else { return }
        perform(second, runsInline)
        for effect in effects.others { perform(effect, runsInline) }
    }

    /// Performs an effect. The caller does not hold the lock. A loop that does not accept a job has ended.
    private func perform(_ effect: PoolState.Effect, _ runsInline: Bool) {
        switch effect {
        case .run(let exchange, let loop, let connection):
            if runsInline, loop.isOnLoop { return connection.value.run(exchange) }
            // If the loop is idle, the calling thread begins a small request itself.
            if exchange.content.isSmall, loop.executeWhileIdle({ connection.value.run(exchange) }) { return }
            let isAccepted = loop.execute { connection.value.run(exchange) }
            if !isAccepted { end(exchange, .shutDown) }
        case .wait(let exchange, let waiter, let submission, let priority):
            // False if the exchange was cancelled before it was marked.
            let isMarked = exchange.markWaiting(in: self, as: waiter, submission: submission)
            guard isMarked else { return cancel(waiter) }
            // While the exchange was not marked as waiting, the setter of `priority` did not pass a new value to the pool.
            if let priority, priority != exchange.priority { reprioritise(waiter, of: exchange) }
            if exchange.hasWaitTimeouts {
                let loop = group.next()
                _ = loop.execute { exchange.runWaitTimeouts(on: loop) }
            }
        case .dial(let id, let progress, let loopNumber):
            dial(id, progress, on: loopNumber)
        case .redial(let id, let progress, let loopNumber):
            runAfterJobs(on: group.loops[...]) { self.dial(id, progress, on: loopNumber) }
        case .abandon(let loop, let dialer):
            _ = loop.execute { dialer.value.cancel(.cancelled) }
        case .close(let loop, let connection):
            _ = loop.executeInline { connection.value.close() }
        case .fail(let exchange, let error):
            end(exchange, error)
        case .passToWebSocketPool(let exchange):
            webSocketPool?.enqueue(exchange, needsFresh: false)
        case .wake(let timer):
            guard let loop = group.loops.first, let alarm else { return }
            _ = loop.execute { [self] in
                // `retire` has cancelled the alarm of a pool that is shut down: no timer may be set after that.
                if isShutDown { return }
                alarm.value.set(at: timer.at, on: loop) { [self] in timerFired(timer.number) }
            }
        case .ended(let completionHandlers):
            for whenDone in completionHandlers { whenDone() }
        }
    }

    /// Runs `body` after each of the loops has done the jobs submitted to it before, such as closing connections. The caller's
    /// own loop has done them already.
    private func runAfterJobs(on loops: ArraySlice<EventLoop>, _ body: @escaping @Sendable () -> Void) {
        guard let loop = loops.first else { return body() }
        let isAccepted = loop.executeInline { self.runAfterJobs(on: loops.dropFirst(), body) }
        if !isAccepted { runAfterJobs(on: loops.dropFirst(), body) }
    }

    /// Runs `body` after each of the loops has finished its current turn, in which it may be calling sinks.
    private static func runAfterTurns(
        of loops: ArraySlice<EventLoop>, _ body: @escaping @Sendable () -> Void
    ) {
        guard let loop = loops.first else { return body() }
        let isAccepted = loop.execute { runAfterTurns(of: loops.dropFirst(), body) }
        if !isAccepted { runAfterTurns(of: loops.dropFirst(), body) }
    }

    /// Ends an exchange that is neither on a connection nor in a queue. The sink is called on a loop, and never inside the
    /// call that submitted the exchange, unless the loops have ended.
    package func end(_ exchange: Exchange, _ error: TransportError) {
        let metrics = ExchangeMetrics(fetchStart: exchange.createdAt)
        let isAccepted = group.next().execute { exchange.end(.failure(error), metrics) }
        if !isAccepted { exchange.end(.failure(error), metrics) }
    }

    private var isShutDown: Bool { state.withLock { $0.isShutDown } }

    /// Called when a timer fires; a timer that another one has replaced is ignored.
    private func timerFired(_ number: UInt64) {
        let isCurrent = state.withLock { $0.timer?.number == number }
        if isCurrent { passToMachine { _ in .tick } }
    }

    /// Starts a dial on the given loop, or on the next one, unless the machine has abandoned it.
    private func dial(_ id: ConnectionID, _ progress: DialProgress, on loopNumber: Int?) {
        let loop = loopNumber.map { group.loops[$0] } ?? group.next()
        let dialer = LoopBound(
            sending: Dialer(progress, configuration: configuration.dial, resolver: resolver, loop: loop),
            to: loop)
        let isWanted = state.withLock { $0.replace(id, with: .dialing(loop, dialer)) }
        // No exchange receives this error: the machine ignores the end of a dial that it has abandoned.
        guard isWanted else { return dialFailed(id, .shutDown) }
        let isAccepted = loop.execute {
            dialer.value.start(
                claiming: { self.claim(id) },
                offering: self.offer(for: id, to: progress.origin)
            ) { outcome in self.dialEnded(id, to: progress.origin, on: loop, outcome) }
        }
        if !isAccepted { dialFailed(id, .shutDown) }
    }
}
