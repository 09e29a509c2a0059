// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTLS

/// One HTTP/1.1 connection: reports events to `HTTP1Machine` and performs the machine's actions, on its loop.
///
/// It moves bytes between the channel, the codec and the current exchange, runs the time-outs, and returns itself to the pool.
/// It owns no large buffer between exchanges: it reads into a buffer of the loop.
final class HTTP1Connection: Carrier {
    var machine = HTTP1Machine()
    var codec: ClientCodec

    /// The current exchange; nil while the connection is idle, drains a response, or was upgraded.
    var current: CurrentExchange?
    /// The framing and content that are being sent.
    var feed = ContentFeed()
    /// Bytes that were read and wait to be handled, because the consumer paused or the owner suspended the exchange.
    var unhandledInput: [UInt8] = []
    /// Whether a loop job that continues to write is scheduled.
    var isWriteDue = false
    /// Whether a loop job that continues to read is scheduled.
    var isReadDue = false
    /// The failures so far; nil while there are none, so that an intact connection allocates nothing for them.
    private var failures: Failures?
    /// How many bytes of an unwanted body may still be skipped.
    var drainBudget = 0
    /// The parameters of the response's Keep-Alive field.
    var keepAliveHint = KeepAlive()
    /// Whether the connection persists after the response (RFC 9112 §9.3).
    var responseKeepsAlive = true

    var deadlineTimer: (token: EventLoop.TimerToken, at: Instant)?
    /// Fires when the content is sent although `100 Continue` has not arrived.
    var continueTimer: EventLoop.TimerToken?
    /// Fires when the rate limit allows more bytes.
    var paceTimer: EventLoop.TimerToken?
    /// Fires after `exchangeEndDelay`, then after `drainTimeout`.
    var drainTimer: EventLoop.TimerToken?
    /// The transfer of the response's content into a file; nil if the sink receives it.
    var splice: SpliceTransfer?
    /// The state after an upgrade; nil for most connections.
    var upgrade: Upgrade?

    /// The state of one exchange, separate from the connection, so that an idle connection does not hold memory for it.
    final class CurrentExchange {
        let exchange: Exchange
        var metrics: ExchangeMetrics
        var deadlines: TransferDeadlines
        var receiveRate: RateLimit?
        var sendRate: RateLimit?
        /// Whether the kernel has accepted a byte of the request.
        var requestBegan = false
        /// Octets of the response's heads so far.
        var headOctets = 0
        var bodyFraming = BodyFraming.none
        /// The octets of content that are still to be received; nil if the length is unknown.
        var contentRemaining: Int64?
        /// The last value of `Exchange.isSuspended` that the connection has handled.
        var isSuspended = false
        /// Whether the response arrived before all content was sent, and no more of the content is sent.
        var hasStoppedSending = false

        init(_ exchange: Exchange, _ metrics: consuming ExchangeMetrics) {
            self.exchange = exchange
            self.metrics = metrics
            deadlines = TransferDeadlines(exchange.options.timeouts, at: exchange.createdAt)
        }
    }

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

    /// How many octets of an unwanted body the connection reads and discards in order to stay usable; a larger rest closes it.
    /// Typically so many octets arrive within one round trip.
    static let drainLimit = 64 * 1024
    /// How long the remainder may take to arrive: longer than it takes to open a new connection.
    static let drainTimeout = Interval.seconds(1)
    /// How long the end of an exchange waits for the remainder: about the time that a new connection takes, plus the delayed
    /// acknowledgement of this kernel, for which a server that sends head and content separately may wait.
    static let exchangeEndDelay = Interval.milliseconds(100)
    /// How many times the connection reads, or writes, before it yields to the loop's other connections.
    static let operationsPerTurn = 16
    /// The limit of file octets for one system call. With a fast peer, a longer call would block the loop.
    static let fileOctetsPerCall: Int64 = 1 << 20

    init(
        _ channel: consuming ByteChannel, _ registration: Registration, _ id: ConnectionID,
        route: ConnectionRoute, mayRead: Bool, limits: ParserLimits, leniency: Leniency, pool: ConnectionPool,
        loop: EventLoop
    ) {
        codec = ClientCodec(limits: limits, leniency: leniency)
        super.init(channel, registration, id, route: route, mayRead: mayRead, pool: pool, loop: loop)
        loop.reassign(registration, to: self)
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
        let current = CurrentExchange(exchange, metrics)
        if let rate = exchange.options.receiveRate { current.receiveRate = RateLimit(rate: rate, at: now) }
        if let rate = exchange.options.sendRate { current.sendRate = RateLimit(rate: rate, at: now) }
        let announcement = exchange.content.announcement
        let waitsForContinue =
            exchange.options.continueTimeout != nil && announcement != .none && announcement != .known(0)
        do throws(HTTPError) {
            if route.usesProxy {
                let head = try headForProxy(exchange.head)
                try codec.send(head, body: announcement, expectContinue: waitsForContinue, into: &feed.output)
            } else {
                try codec.send(
                    exchange.head, body: announcement, expectContinue: waitsForContinue, into: &feed.output)
            }
        } catch { return refuse(exchange, .http(host: route.host, port: route.port, error), current.metrics) }
        wasUsed = true
        current.metrics.requestHeadBytes = feed.output.count
        current.deadlines.handle(.sending, at: now)
        self.current = current
        responseKeepsAlive = true
        keepAliveHint = KeepAlive()
        _ = machine.handle(.begin(waitsForContinue ? .awaitingContinue : .sending))  // needs no action
        exchange.observation?.reportLease(
            current.metrics, to: exchange.origin, sending: feed.output, at: now)
        exchange.sink.begins(on: loop, over: route.evidence)
        // The sink may have cancelled the exchange.
        guard self.current === current else { return }
        if waitsForContinue, let timeout = exchange.options.continueTimeout {
            continueTimer = loop.schedule(at: now + timeout, self, tag: TimerTag.continueWait.rawValue)
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

    /// Prepares the content to be sent, after its framing. The pieces of a stream are framed when they arrive.
    func feedContent(_ content: OutgoingContent) {
        switch content {
        case .none: feed.state = .done
        case .bytes(let bytes): feed.state = bytes.isEmpty ? .done : .bytes(bytes, from: 0)
        case .region(let region): feed.state = region.count == 0 ? .done : .region(region, from: 0)
        case .file(let file):
            feed.state = file.count == 0 ? .done : .file(file, offset: file.offset, remaining: file.count)
        case .stream(let source, _): feed.state = .stream(source)
        }
        if case .bytes(let bytes, _) = feed.state { frameContent(bytes.count) }
        if case .region(let region, _) = feed.state { frameContent(region.count) }
        if case .file(let file, _, _) = feed.state { frameContent(Int(clamping: file.count)) }
    }

    /// Appends the framing of `count` octets of content to the output.
    private func frameContent(_ count: Int) {
        do throws(HTTPError) {
            try codec.sendContent(count, into: &feed.output)
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
        if let target = exchange.takeFileTarget(), let framing = current?.bodyFraming {
            beginSplice(target, framing)
        }
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

    /// Handles the bytes in `unhandledInput`, then reads from the channel.
    func continueReading() {
        // Emptied first, because `handleInput` stores the bytes that it cannot handle yet in `unhandledInput` again.
        var input: [UInt8] = []
        swap(&input, &unhandledInput)
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
        guard actions.exchange == .fail, let current else { return perform(actions, .failure(error)) }
        self.current = nil
        var metrics = current.metrics
        metrics.responseEnd = loop.now
        discardExchangeState()
        closeSocket()
        pool.replayOrFail(
            current.exchange, metrics, error, requestBegan: current.requestBegan,
            connectionWasReused: metrics.isReused)
        // This must come last: see `perform`.
        pool.connectionClosed(id)
    }

    /// Sends the content that waited for `100 Continue`, which has arrived or has not arrived in time.
    func releaseContent() {
        let actions = machine.handle(.release)
        guard actions.releasesContent, let exchange = current?.exchange else { return }
        cancelContinueTimer()
        current?.deadlines.handle(.sending, at: loop.now)
        feedContent(exchange.content)
        write()
        armDeadline()
    }

    /// Performs the machine's actions. If the exchange ends, it ends with `result`. An error in `result` is ignored if the action
    /// is `succeed`, because the consumer has all it needs.
    func perform(_ actions: HTTP1Machine.Actions, _ result: Result<Fields, TransportError>) {
        let result = actions.exchange == .succeed ? result.flatMapError { _ in .success(Fields()) } : result
        var ended: CurrentExchange?
        if actions.exchange != .keep {
            ended = current.take()
            discardExchangeState()
        }
        if actions.connection != .keep, let timer = drainTimer {
            loop.cancel(timer)
            drainTimer = nil
        }
        switch actions.connection {
        case .keep: end(ended, result)
        case .returnToPool:
            // Returned to the pool first, so that a request that the completion handler starts can reuse the connection.
            returnToPool(keepAliveHint)
            end(ended, result)
        case .close:
            closeSocket()
            // The call of the pool must come last: a pool that is shut down reports its end when it loses its last connection,
            // and every exchange must have ended by then.
            end(ended, result)
            pool.connectionClosed(id)
        }
    }

    /// Reports the end of an exchange that is no longer `current`; does nothing if `ended` is nil.
    private func end(_ ended: CurrentExchange?, _ result: Result<Fields, TransportError>) {
        guard let ended else { return }
        ended.metrics.responseEnd = loop.now
        ended.exchange.end(result, ended.metrics)
    }

    /// Discards the timers and buffers of the exchange that ends.
    func discardExchangeState() {
        cancelContinueTimer()
        if let timer = paceTimer { loop.cancel(timer) }
        paceTimer = nil
        splice = nil
        feed.clear()
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
        cancelContinueTimer()
        unhandledInput = []
        feed = ContentFeed()
    }

    func cancelContinueTimer() {
        if let timer = continueTimer { loop.cancel(timer) }
        continueTimer = nil
    }

    // MARK: time

    /// Makes sure that a timer fires no later than the next deadline. If a deadline moves to a later time, the timer stays, fires
    /// too early and is set again. So sending or receiving bytes needs no timer operation.
    func armDeadline() {
        guard let current else { return }
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
        drainTimer = loop.schedule(at: loop.now + Self.drainTimeout, self, tag: TimerTag.drain.rawValue)
        perform(machine.handle(.remainderIsLate), .success(Fields()))
        read()
    }

    /// Sets the timer that continues to read and write at `instant`, when the rate limit allows it.
    func pace(until instant: Instant) {
        guard paceTimer == nil else { return }
        paceTimer = loop.schedule(at: instant, self, tag: TimerTag.pace.rawValue)
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
        if current != nil { armDeadline() }
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
            guard reason == .due, let current else { return }
            if let keepAliveProbesStart, keepAliveProbesStart <= loop.now { startKeepAliveProbes() }
            if let timeout = current.deadlines.expired(at: loop.now) {
                fail(
                    TransportError(
                        host: route.host, port: route.port, timeout,
                        after: current.exchange.options.timeouts[timeout]))
            } else {
                armDeadline()
            }
        case .continueWait:
            continueTimer = nil
            if reason == .due { releaseContent() }
        case .pace:
            paceTimer = nil
            guard reason == .due else { return }
            write()
            read()
            armDeadline()
        case .drain:
            drainTimer = nil
            if reason == .due { drainTimeEnded() }
        case nil: break
        }
    }
}
