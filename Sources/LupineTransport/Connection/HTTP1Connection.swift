// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTLS

/// One HTTP/1.1 connection: reports events to `HTTP1Machine` and performs the machine's actions, on its loop.
///
/// It moves bytes between the channel, the writer of the request or the reader of the response, and the exchange; runs the
/// time-outs, and returns itself to the pool. Between exchanges it has neither writer nor reader (`CurrentExchange`). It owns no
/// large buffer: it reads into a buffer of the loop.
final class HTTP1Connection: Carrier {
    var machine = HTTP1Machine()

    /// What the connection needs for its exchange, and for the rest of a response whose exchange has ended, or after an upgrade;
    /// nil while the connection is idle.
    var current: CurrentExchange?
    /// Whether a loop job that continues to write is scheduled.
    var isWriteDue = false
    /// Whether a loop job that continues to read is scheduled.
    var isReadDue = false
    /// The failures so far; nil while there are none, so that an intact connection allocates nothing for them.
    private var failures: Failures?
    /// The timer of the deadlines, which stays when an exchange ends.
    var deadlineTimer: (token: EventLoop.TimerToken, at: Instant)?
    /// The state after an upgrade; nil for most connections.
    var upgrade: Upgrade?

    /// The errors of a connection that failed while writing, and may still read input, or that broke while it was idle.
    private final class Failures {
        var ofWriting: TransportError?
        var whileIdle: TransportError?
    }

    /// The error of a failed write. The connection sends nothing more, and still reads what the peer has sent.
    var writeFailure: TransportError? {
        get { failures?.ofWriting }
        set {
            if failures == nil, newValue != nil { failures = Failures() }
            failures?.ofWriting = newValue
        }
    }

    /// The error that ended the connection while it was idle.
    private var idleFailure: TransportError? {
        get { failures?.whileIdle }
        set {
            if failures == nil, newValue != nil { failures = Failures() }
            failures?.whileIdle = newValue
        }
    }

    /// Identifies the connection's timers in `timerEnded`.
    enum TimerTag: Int { case deadline, continueWait, pace, drain }

    /// How long the remainder may take to arrive: longer than it takes to open a new connection.
    static let drainTimeout = Interval.seconds(1)
    /// How long the end of an exchange waits for the remainder: about the time that a new connection takes, plus the delayed
    /// acknowledgement of this kernel, for which a server that sends head and content separately may wait.
    static let exchangeEndDelay = Interval.milliseconds(100)
    /// How many times the connection reads, or writes, before it yields to the loop's other connections.
    static let operationsPerTurn = 16
    /// The limit of file octets for one system call. With a fast peer, a longer call would block the loop.
    static let fileOctetsPerCall: Int64 = 1 << 20

    override init(
        _ channel: consuming ByteChannel, _ dialed: DialedChannel, _ id: ConnectionID, pool: ConnectionPool,
        loop: EventLoop
    ) {
        super.init(channel, dialed, id, pool: pool, loop: loop)
        loop.reassign(dialed.registration, to: self)
    }

    /// Whether the connection has been closed.
    var isClosed: Bool { machine.state == .closed }

    // MARK: an exchange begins

    // If an exchange has begun already, `timerEnded` starts the probes with the deadline timer.
    override func didOpen() { if machine.state == .idle { startKeepAliveProbes() } }

    /// Carries out an exchange; the pool has leased the connection to it.
    override func run(_ exchange: Exchange) {
        loop.preconditionOnLoop()
        // Bytes that arrived while the connection was idle belong to no exchange. Reading them now closes the connection, so that
        // they are not parsed as this exchange's response.
        if machine.state == .idle, mayRead { read() }
        var metrics = initialMetrics(of: exchange)
        do throws(TransportError) {
            // False if the owner has suspended the exchange, which is then parked.
            guard try exchange.begin(on: LoopBound<Carrier>(self, on: loop), loop: loop, of: pool) else {
                return decline(exchange)
            }
        } catch { return refuse(exchange, error, metrics) }
        guard machine.state == .idle else {
            // The connection broke after the pool leased it; no byte of the request has been sent.
            pool.replayOrFail(
                exchange, metrics,
                idleFailure ?? .http(host: route.host, port: route.port, .truncated(.beforeHead)),
                requestBegan: false, connectionWasReused: wasUsed)
            return
        }
        let now = loop.now
        metrics.requestStart = now
        let announcement = exchange.content.announcement
        let waitsForContinue =
            exchange.options.continueTimeout != nil && announcement != .none && announcement != .known(0)
        let current = CurrentExchange.make(for: exchange, metrics, on: loop)
        do throws(HTTPError) {
            if route.usesProxy {
                let head = try headForProxy(exchange.head)
                try current.begin(
                    head, of: exchange, announcement, waitsForContinue: waitsForContinue, under: pool, at: now
                )
            } else {
                try current.begin(
                    exchange.head, of: exchange, announcement, waitsForContinue: waitsForContinue,
                    under: pool,
                    at: now)
            }
        } catch { return refuse(exchange, .http(host: route.host, port: route.port, error), metrics) }
        recordUse()
        self.current = current
        _ = machine.handle(.begin(waitsForContinue ? .awaitingContinue : .sending))  // needs no action
        exchange.observation?.reportLease(
            current.metrics, to: exchange.origin, sending: current.writer.output, at: now)
        exchange.sink.begins(on: loop, over: route.evidence)
        // The sink may have cancelled the exchange.
        guard self.current?.exchange === exchange else { return }
        if waitsForContinue, let timeout = exchange.options.continueTimeout {
            current.continueTimer = loop.schedule(
                at: now + timeout, self, tag: TimerTag.continueWait.rawValue)
        }
        if !waitsForContinue { feedContent(exchange.content) }
        // At the end of the turn all connections write their requests, so that a sleeping peer wakes once for all of them.
        loop.atTurnEnd(self)
    }

    override func returnUnused() {
        if route.tls?.isBoundToExchange == true { close() } else { returnToPool(KeepAlive()) }
    }

    /// Returns the head in the form that the proxy expects.
    private func headForProxy(_ head: RequestHead) throws(HTTPError) -> RequestHead {
        var head = head
        if let prefix = route.absolutePrefix {
            switch head.target {
            case .origin(let path): head.target = .absolute(prefix + path)
            // The last proxy turns it back into `*` (RFC 9112 §3.2.4).
            case .asterisk: head.target = .absolute(prefix)
            case .absolute, .authority: break
            }
        }
        if let authorization = route.proxyAuthorization, !head.fields.contains(.proxyAuthorization) {
            try head.fields.set(.proxyAuthorization, authorization)
        }
        return head
    }

    /// Prepares the content to be sent.
    private func feedContent(_ content: OutgoingContent) {
        do throws(HTTPError) {
            try current?.add(content)
        } catch { fail(.http(host: route.host, port: route.port, error)) }
    }

    // MARK: the end of an exchange

    override func cancel(_ exchange: Exchange, _ error: TransportError) {
        // An exchange that has left this connection ends with the error stored in `Exchange.cancellation`.
        guard current?.exchange === exchange else { return }
        perform(machine.handle(.cancel), .failure(error))
    }

    /// Called when the exchange's owner needs no more of the response. If little of the response remains, it is read and
    /// discarded, so that the connection can be reused.
    override func skip(_ exchange: Exchange) {
        guard current?.exchange === exchange else { return }
        // `endDelivery` expects a response that is being received, not a paused one.
        _ = machine.handle(.resume)
        guard case .exchanging(_, .receiving) = machine.state else { return cancel(exchange, .cancelled) }
        let readsRemainder = endDelivery()
        if readsRemainder { continueReading() }
    }

    override func resume(_ exchange: Exchange) {
        guard current?.exchange === exchange, case .exchanging(_, .paused) = machine.state else { return }
        _ = machine.handle(.resume)  // needs no action
        if let target = exchange.takeFileTarget() { beginSplice(target) }
        current?.deadlines.handle(.readingResumed, at: loop.now)
        if !isSuspended { continueReading() }
        armDeadline()
    }

    /// Whether the owner of the current exchange has suspended it. The remainder of a skipped response is read even then.
    var isSuspended: Bool { (current?.isSuspended ?? false) && machine.state != .skipping }

    /// Whether the remainder of a response is being read and discarded.
    var isDraining: Bool { machine.state == .skipping || machine.state == .draining }

    override func suspensionChanged(of exchange: Exchange) {
        guard let current, current.exchange === exchange, current.isSuspended != exchange.isSuspended,
            machine.state != .skipping
        else { return }
        current.isSuspended.toggle()
        current.deadlines.handle(current.isSuspended ? .suspended : .unsuspended, at: loop.now)
        guard !current.isSuspended else { return }
        // This runs in a separate loop job: received bytes may be in the middle of being handled.
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop { bound.value.resumeAfterSuspension(exchange) }
    }

    /// Continues to send and read after the owner has resumed the exchange.
    private func resumeAfterSuspension(_ exchange: Exchange) {
        guard current?.exchange === exchange, !isSuspended else { return }
        write()
        if writeFailure != nil { readRemainingInput() }
        if case .exchanging(_, .paused) = machine.state { return armDeadline() }
        continueReading()
        armDeadline()
    }

    /// Handles the bytes that were stored, then reads from the channel.
    func continueReading() {
        let input = current?.reader.takeStored() ?? []
        handleInput(input.span)
        read()
    }

    /// Closes the connection. Called by the pool, while the connection carries no exchange.
    override func close() {
        perform(machine.handle(.close), .failure(.shutDown))
    }

    /// Closes the connection and ends its exchange with `error`.
    override func abort(_ error: TransportError) {
        if machine.state == .upgraded { return endUpgrade(error) }
        perform(machine.handle(.close), .failure(error))
    }

    /// Ends the exchange because of an error that sending it again cannot fix, and closes the connection.
    func fail(_ error: TransportError) {
        if machine.state == .upgraded { return endUpgrade(error) }
        perform(machine.handle(.broken), .failure(error))
    }

    /// Closes a connection that is lost. If the exchange may be replayed, the pool sends it again on a fresh connection.
    func connectionLost(_ error: TransportError) {
        if machine.state == .upgraded { return endUpgrade(error) }
        if machine.state == .idle { idleFailure = error }
        let actions = machine.handle(.broken)
        guard actions.exchange == .fail, let exchange = current?.exchange, let lost = current.take() else {
            return perform(actions, .failure(error))
        }
        let requestBegan = lost.writer.hasBegun
        _ = lost.detach(on: loop)
        var metrics = lost.metrics
        metrics.responseEnd = loop.now
        closeSocket()
        pool.replayOrFail(
            exchange, metrics, error, requestBegan: requestBegan, connectionWasReused: metrics.isReused)
        // This must come last: see `perform`.
        pool.connectionClosed(id)
    }

    /// Sends the content that waited for `100 Continue`, which has arrived or has not arrived in time.
    func releaseContent() {
        let actions = machine.handle(.release)
        guard actions.releasesContent, let exchange = current?.exchange else { return }
        current?.cancelContinueTimer(on: loop)
        current?.deadlines.handle(.sending, at: loop.now)
        feedContent(exchange.content)
        write()
        armDeadline()
    }

    /// Performs the machine's actions. If the exchange ends, it ends with `result`. An error in `result` is ignored if the action
    /// is `succeed`, because the consumer has all it needs.
    func perform(_ actions: HTTP1Machine.Actions, _ result: Result<Fields, TransportError>) {
        let result = actions.exchange == .succeed ? result.flatMapError { _ in .success(Fields()) } : result
        switch actions.connection {
        case .keep:
            guard actions.exchange != .keep, let current else { return }
            // The connection still reads the rest of the response.
            end(current, result)
        case .returnToPool:
            guard let ended = current.take() else { return returnToPool(KeepAlive()) }
            ended.cancelDrainTimer(on: loop)
            // Returned to the pool first, so that a request that the completion handler starts can reuse the connection.
            returnToPool(ended.reader.keepAliveHint)
            end(ended, result)
            CurrentExchange.keep(consume ended, on: loop)
        case .close:
            let ended = current.take()
            ended?.cancelDrainTimer(on: loop)
            closeSocket()
            // The call of the pool must come last: a pool that is shut down reports its end when it loses its last connection,
            // and every exchange must have ended by then.
            if let ended { end(ended, result) }
            pool.connectionClosed(id)
        }
    }

    /// Reports the end of an exchange, unless it has been reported.
    private func end(_ current: CurrentExchange, _ result: Result<Fields, TransportError>) {
        guard let exchange = current.detach(on: loop) else { return }
        current.metrics.responseEnd = loop.now
        exchange.end(result, current.metrics)
    }

    /// Reports to the pool that the connection is idle again. `hint` is the response's Keep-Alive field.
    func returnToPool(_ hint: KeepAlive) {
        // The pool may run the next exchange before this returns.
        pool.exchangeFinished(on: id, .reusable(hint), at: loop.now)
        if machine.state == .idle { startKeepAliveProbes() }
    }

    /// Closes the socket immediately, not when the last reference to this connection is released.
    func closeSocket() {
        if let registration { loop.deregister(registration) }
        registration = nil
        channel.close()
        if let timer = deadlineTimer { loop.cancel(timer.token) }
        deadlineTimer = nil
    }

    // MARK: time

    /// Makes sure that a timer fires no later than the next deadline. If a deadline moves to a later time, the timer stays, fires
    /// too early and is set again. So sending or receiving bytes needs no timer operation.
    func armDeadline() {
        guard let current, current.exchange != nil else { return }
        let deadline = current.deadlines.next?.instant ?? .distantFuture
        let next = min(deadline, keepAliveProbesStart ?? .distantFuture)
        guard next < deadlineTimer?.at ?? .distantFuture else { return }
        if let timer = deadlineTimer { loop.cancel(timer.token) }
        deadlineTimer = (loop.schedule(at: next, self, tag: TimerTag.deadline.rawValue), next)
    }

    /// Called when the remainder of a skipped response has not arrived within `exchangeEndDelay`, or later within `drainTimeout`.
    private func drainTimeEnded() {
        guard isDraining else { return }
        if machine.state == .draining {
            return perform(machine.handle(.drainLimitExceeded), .success(Fields()))
        }
        current?.drainTimer = loop.schedule(
            at: loop.now + Self.drainTimeout, self, tag: TimerTag.drain.rawValue)
        perform(machine.handle(.remainderIsLate), .success(Fields()))
        read()
    }

    /// Sets the timer that continues to read and write at `instant`, when the rate limit allows it.
    func pace(until instant: Instant) {
        guard let current, current.paceTimer == nil else { return }
        current.paceTimer = loop.schedule(at: instant, self, tag: TimerTag.pace.rawValue)
    }
}

extension HTTP1Connection: LoopChannel {
    func channelReady(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: .closed) { peerIsClosing = true }
        let isReadable = !readiness.isDisjoint(with: [.readable, .closed])
        if isReadable { channel.becameReadable(isClosing: peerIsClosing) }
        // The poller reports a socket that was writable before again, with other events: then there is nothing to continue.
        if readiness.contains(.writable), !mayWrite || channel.hasPendingOutput {
            mayWrite = true
            write()
        }
        if isReadable {
            mayRead = true
            read()
        }
        armDeadline()
    }

    func loopWillClose() { abort(.shutDown) }
}

extension HTTP1Connection: TurnEndListener {
    func turnEnded() {
        write()
        armDeadline()
    }
}

extension HTTP1Connection: TimerTarget {
    func timerEnded(tag: Int, reason: TimerReason) {
        switch TimerTag(rawValue: tag) {
        case .deadline:
            deadlineTimer = nil
            guard reason == .due, let current, let exchange = current.exchange else { return }
            if let keepAliveProbesStart, keepAliveProbesStart <= loop.now { startKeepAliveProbes() }
            if let timeout = current.deadlines.expired(at: loop.now) {
                fail(
                    TransportError(
                        host: route.host, port: route.port, timeout,
                        after: exchange.options.timeouts[timeout]))
            } else {
                armDeadline()
            }
        case .continueWait:
            current?.continueTimer = nil
            if reason == .due { releaseContent() }
        case .pace:
            current?.paceTimer = nil
            guard reason == .due else { return }
            write()
            read()
            armDeadline()
        case .drain:
            current?.drainTimer = nil
            if reason == .due { drainTimeEnded() }
        case nil: break
        }
    }
}
