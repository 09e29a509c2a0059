// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTLS

/// One HTTP/1.1 connection: performs what `HTTP1Machine` decides, on the one loop it lives on.
///
/// It moves bytes between the channel, the codec and the exchange at hand, keeps the time-outs, and gives itself back
/// to the pool. Between exchanges it owns no buffer worth speaking of: reads go through the loop's.
final class HTTP1Connection: Carrier {
    var machine = HTTP1Machine()
    var codec: ClientCodec

    /// The exchange at hand.
    var current: Current?
    var feed = ContentFeed()
    /// Bytes that were read and not yet looked at, because the consumer paused.
    var unread: [UInt8] = []
    /// It has given way to others, and will write on in its next turn.
    var isWriteDue = false
    /// The same for reading.
    var isReadDue = false
    /// What has broken so far; nil while nothing has, so that what is in order keeps no room for it.
    private var breakage: Breakage?
    /// What may still be skipped of a body nobody wants.
    var drainBudget = 0
    var keepAliveHint = KeepAlive()
    var responseKeepsAlive = true

    var deadlineTimer: (token: EventLoop.TimerToken, at: Instant)?
    var continueTimer: EventLoop.TimerToken?
    var paceTimer: EventLoop.TimerToken?
    var drainTimer: EventLoop.TimerToken?
    var splice: SpliceTransfer?
    /// What it is after HTTP; nil for the most part of connections, which never are anything else.
    var upgrade: Upgrade?

    /// What one exchange needs, apart from the connection, so that an idle one does not keep room for it.
    final class Current {
        let exchange: Exchange
        var metrics: ExchangeMetrics
        var deadlines: TransferDeadlines
        var receiveRate: RateLimit?
        var sendRate: RateLimit?
        var requestBegan = false
        var headOctets = 0
        var bodyFraming = BodyFraming.none
        var contentRemaining: Int64?
        /// It stands still at its owner's wish.
        var isSuspended = false
        /// The answer has come first: what is left of the content is not sent.
        var isAnswered = false

        init(_ exchange: Exchange, _ metrics: consuming ExchangeMetrics) {
            self.exchange = exchange
            self.metrics = metrics
            deadlines = TransferDeadlines(exchange.options.timeouts, at: exchange.began)
        }
    }

    private final class Breakage {
        var ofWriting: TransportError?
        var whileIdle: TransportError?
    }

    /// Why nothing more can be sent; what the peer has sent is still read.
    var writeFailure: TransportError? {
        get { breakage?.ofWriting }
        set {
            if breakage == nil, newValue != nil { breakage = Breakage() }
            breakage?.ofWriting = newValue
        }
    }

    /// What ended it while it carried nothing.
    private var idleFailure: TransportError? {
        get { breakage?.whileIdle }
        set {
            if breakage == nil, newValue != nil { breakage = Breakage() }
            breakage?.whileIdle = newValue
        }
    }

    enum Tag: Int { case deadline, continueWait, pace, drain }

    /// The rest of an unwanted body that is worth reading to keep the connection: less than a round trip's worth.
    static let drainLimit = 64 * 1024
    /// How long the rest may take to come: a new connection is ready sooner than that.
    static let drainTime = Interval.seconds(1)
    /// How long the end of an exchange is held back for the rest: about what a new connection would take, and the kernel's
    /// delayed acknowledgement, which holds up servers that send head and content apart.
    static let endDelay = Interval.milliseconds(100)
    /// How often it reads, or writes, before other connections of the loop get their turn.
    static let turns = 16
    /// The most of a file that one write hands to the kernel, so that a fast peer does not keep it there.
    static let fileStep: Int64 = 1 << 20

    init(
        _ channel: consuming ByteChannel, _ registration: Registration, _ id: ConnectionID, route: Route,
        mayRead: Bool, limits: ParserLimits, leniency: Leniency, pool: ConnectionPool, loop: EventLoop
    ) {
        codec = ClientCodec(limits: limits, leniency: leniency)
        super.init(channel, registration, id, route: route, mayRead: mayRead, pool: pool, loop: loop)
        loop.hand(registration, to: self)
    }

    /// Whether it has been closed.
    var isClosed: Bool { machine.state == .closed }

    // MARK: an exchange begins

    override func opened() { if machine.state == .idle { beginProbes() } }

    /// Carries out an exchange; the pool has leased the connection to it.
    override func run(_ exchange: Exchange) {
        loop.preconditionOnLoop()
        // What came meanwhile belongs to nothing, and is no answer to what has not been asked yet.
        if machine.state == .idle, mayRead { read() }
        var metrics = metrics(ofBeginning: exchange)
        do throws(TransportError) {
            guard try exchange.begin(on: LoopBound<Carrier>(self, on: loop), loop: loop, of: pool) else {
                return decline(exchange)
            }
        } catch { return refuse(exchange, error, metrics) }
        guard machine.state == .idle else {
            // It died between being lent and this turn; not a byte has gone.
            pool.replayOrFail(
                exchange, metrics,
                idleFailure ?? .http(host: route.host, port: route.port, .truncated(.beforeHead)),
                requestBegan: false,
                connectionWasReused: wasUsed)
            return
        }
        let now = loop.now
        metrics.requestStart = now
        let current = Current(exchange, metrics)
        if let rate = exchange.options.receiveRate { current.receiveRate = RateLimit(rate: rate, at: now) }
        if let rate = exchange.options.sendRate { current.sendRate = RateLimit(rate: rate, at: now) }
        let announcement = exchange.content.announcement
        let holds =
            exchange.options.continueTimeout != nil && announcement != .none && announcement != .known(0)
        do throws(HTTPError) {
            if route.usesProxy {
                let head = try proxied(exchange.head)
                try codec.send(head, body: announcement, expectContinue: holds, into: &feed.output)
            } else {
                try codec.send(exchange.head, body: announcement, expectContinue: holds, into: &feed.output)
            }
        } catch { return refuse(exchange, .http(host: route.host, port: route.port, error), current.metrics) }
        wasUsed = true
        current.metrics.requestHeadBytes = feed.output.count
        current.deadlines.handle(.sending, at: now)
        self.current = current
        responseKeepsAlive = true
        keepAliveHint = KeepAlive()
        _ = machine.handle(.begin(announcement == .none ? .sending : holds ? .holding : .sending))
        exchange.observation?.leased(
            current.metrics, to: exchange.origin, sending: feed.output, at: now)
        exchange.sink.begins(on: loop, over: route.evidence)
        // The sink may have taken it back.
        guard self.current === current else { return }
        if holds, let timeout = exchange.options.continueTimeout {
            continueTimer = loop.schedule(at: now + timeout, self, tag: Tag.continueWait.rawValue)
        }
        if !holds { feedContent(exchange.content) }
        // Requests of one turn go out one behind the other: a peer that sleeps is woken once for them, not before each.
        loop.atTurnEnd(self)
    }

    override func giveBackUnused() {
        if route.tls?.isPersonal == true { close() } else { giveBack(KeepAlive()) }
    }

    /// The head as the proxy is to see it.
    private func proxied(_ head: RequestHead) throws(HTTPError) -> RequestHead {
        var head = head
        if let prefix = route.absolutePrefix {
            switch head.target {
            case .origin(let path): head.target = .absolute(prefix + path)
            // The last proxy makes `*` of it again (RFC 9112 §3.2.4).
            case .asterisk: head.target = .absolute(prefix)
            case .absolute, .authority: break
            }
        }
        if let authorization = route.proxyAuthorization, !head.fields.contains(.proxyAuthorization) {
            try head.fields.set(.proxyAuthorization, authorization)
        }
        return head
    }

    func feedContent(_ content: OutgoingContent) {
        switch content {
        case .none: feed.state = .done
        case .bytes(let bytes): feed.state = bytes.isEmpty ? .done : .bytes(bytes, from: 0)
        case .region(let region): feed.state = region.count == 0 ? .done : .region(region, from: 0)
        case .file(let file):
            feed.state = file.count == 0 ? .done : .file(file, offset: file.offset, remaining: file.count)
        case .stream(let source, _): feed.state = .stream(source)
        }
        if case .bytes(let bytes, _) = feed.state { announce(bytes.count) }
        if case .region(let region, _) = feed.state { announce(region.count) }
        if case .file(let file, _, _) = feed.state { announceFile(file) }
    }

    func announce(_ count: Int) {
        do throws(HTTPError) {
            try codec.sendContent(count, into: &feed.output)
        } catch { fail(.http(host: route.host, port: route.port, error)) }
    }

    func announceFile(_ file: FileSource) { announce(Int(clamping: file.count)) }

    // MARK: the end of an exchange

    /// The owner of the exchange takes it back.
    override func cancel(_ exchange: Exchange, _ error: TransportError) {
        // One that has left this connection carries its cancellation with it.
        guard current?.exchange === exchange else { return }
        perform(machine.handle(.cancel), .failure(error))
    }

    /// The owner of the exchange wants no more of the response than it has. A short rest is read all the same, so
    /// that the connection lives on.
    override func skip(_ exchange: Exchange) {
        guard current?.exchange === exchange else { return }
        _ = machine.handle(.resume)
        guard case .exchanging(_, .receiving) = machine.state else { return cancel(exchange, .cancelled) }
        if enough() { proceed() }
    }

    /// The consumer takes more again.
    override func resume(_ exchange: Exchange) {
        guard current?.exchange === exchange, case .exchanging(_, .paused) = machine.state else { return }
        _ = machine.handle(.resume)
        if let place = exchange.takePlace(), let framing = current?.bodyFraming {
            beginSplice(place, framing)
        }
        current?.deadlines.handle(.readingResumed, at: loop.now)
        if !isSuspended { proceed() }
        armDeadline()
    }

    /// Whether the exchange at hand stands still at its owner's wish.
    var isSuspended: Bool { current?.isSuspended ?? false && machine.state != .leaving }

    /// Whether the rest of a response is being skipped.
    var isDraining: Bool { machine.state == .leaving || machine.state == .draining }

    /// The owner of the exchange wants it to stand still, or to go on.
    override func suspensionChanged(of exchange: Exchange) {
        guard let current, current.exchange === exchange, current.isSuspended != exchange.isSuspended,
            machine.state != .leaving
        else { return }
        current.isSuspended.toggle()
        current.deadlines.handle(current.isSuspended ? .suspended : .unsuspended, at: loop.now)
        guard !current.isSuspended else { return }
        // In a turn of its own: bytes may be in the middle of being looked at.
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop { bound.value.goOn(exchange) }
    }

    private func goOn(_ exchange: Exchange) {
        guard current?.exchange === exchange, !isSuspended else { return }
        write()
        if writeFailure != nil { readLastWords() }
        if case .exchanging(_, .paused) = machine.state { return armDeadline() }
        proceed()
        armDeadline()
    }

    /// Looks first at what was kept, then at the socket.
    func proceed() {
        var kept: [UInt8] = []
        swap(&kept, &unread)
        handle(kept.span)
        read()
    }

    /// The pool wants it gone.
    override func close() {
        perform(machine.handle(.close), .failure(.shutDown))
    }

    /// Closes it, ending what is under way with `error`.
    override func abort(_ error: TransportError) {
        if machine.state == .upgraded { return endUpgrade(error) }
        perform(machine.handle(.close), .failure(error))
    }

    /// Something on our side went wrong: no replay helps.
    func fail(_ error: TransportError) {
        if machine.state == .upgraded { return endUpgrade(error) }
        perform(machine.handle(.broken), .failure(error))
    }

    /// The connection broke. An exchange that may be is sent again on a fresh one.
    func lose(_ error: TransportError) {
        if machine.state == .upgraded { return endUpgrade(error) }
        if machine.state == .idle { idleFailure = error }
        let actions = machine.handle(.broken)
        guard actions.exchange == .fail, let current else { return perform(actions, .failure(error)) }
        self.current = nil
        var metrics = current.metrics
        metrics.responseEnd = loop.now
        clear()
        shut()
        pool.replayOrFail(
            current.exchange, metrics, error, requestBegan: current.requestBegan,
            connectionWasReused: metrics.isReused)
        // Last, as in `perform`.
        pool.lost(id)
    }

    /// The peer asked for the content, or did not say anything for long enough.
    func release() {
        guard machine.handle(.release).releasesContent, let exchange = current?.exchange else { return }
        cancelContinueTimer()
        current?.deadlines.handle(.sending, at: loop.now)
        feedContent(exchange.content)
        write()
        armDeadline()
    }

    /// `result` is what the exchange ends with; one that has all it wanted does so without what went wrong later.
    func perform(_ actions: HTTP1Machine.Actions, _ result: Result<Fields, TransportError>) {
        let result = actions.exchange == .succeed ? result.flatMapError { _ in .success(Fields()) } : result
        var ended: Current?
        if actions.exchange != .keep {
            ended = current.take()
            clear()
        }
        if actions.connection != .keep, let timer = drainTimer {
            loop.cancel(timer)
            drainTimer = nil
        }
        switch actions.connection {
        case .keep: end(ended, result)
        case .giveBack:
            // First: whoever hears of the end and asks for more finds it at hand.
            giveBack(keepAliveHint)
            end(ended, result)
        case .close:
            shut()
            // Last: the pool's end is announced when the last connection is lost, and every exchange has ended then.
            end(ended, result)
            pool.lost(id)
        }
    }

    private func end(_ ended: Current?, _ result: Result<Fields, TransportError>) {
        guard let ended else { return }
        ended.metrics.responseEnd = loop.now
        ended.exchange.end(result, ended.metrics)
    }

    /// Forgets what belonged to the exchange.
    func clear() {
        cancelContinueTimer()
        if let timer = paceTimer { loop.cancel(timer) }
        paceTimer = nil
        splice = nil
        feed.clear()
    }

    func giveBack(_ hint: KeepAlive) {
        pool.finished(id, .reusable(hint), at: loop.now)
        if machine.state == .idle { beginProbes() }
    }

    /// Closes the socket, now and not when the last who knows this connection lets go of it.
    func shut() {
        if let registration { loop.deregister(registration) }
        registration = nil
        channel.close()
        if let timer = deadlineTimer { loop.cancel(timer.token) }
        deadlineTimer = nil
        cancelContinueTimer()
        unread = []
        feed = ContentFeed()
    }

    func cancelContinueTimer() {
        if let timer = continueTimer { loop.cancel(timer) }
        continueTimer = nil
    }

    // MARK: time

    /// Sees to it that a timer ends no later than the next deadline. One that ends too early finds nothing due and is
    /// set anew, so that bytes that move cost no timer.
    func armDeadline() {
        guard let current else { return }
        let next = min(current.deadlines.next?.instant ?? .distantFuture, probesBegin ?? .distantFuture)
        guard next < deadlineTimer?.at ?? .distantFuture else { return }
        if let timer = deadlineTimer { loop.cancel(timer.token) }
        deadlineTimer = (loop.schedule(at: next, self, tag: Tag.deadline.rawValue), next)
    }

    /// The end is held back no longer, or the rest is not waited for any longer.
    private func drainTimeEnded() {
        guard isDraining else { return }
        if machine.state == .draining { return perform(machine.handle(.drainedEnough), .success(Fields())) }
        drainTimer = loop.schedule(at: loop.now + Self.drainTime, self, tag: Tag.drain.rawValue)
        perform(machine.handle(.restIsLate), .success(Fields()))
        read()
    }

    /// Goes on at `instant`, when the rate allows it.
    func pace(until instant: Instant) {
        guard paceTimer == nil else { return }
        paceTimer = loop.schedule(at: instant, self, tag: Tag.pace.rawValue)
    }
}

extension HTTP1Connection: LoopChannel {
    func channelReady(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: .closed) { peerIsClosing = true }
        let isReadable = !readiness.isDisjoint(with: [.readable, .closed])
        if isReadable { channel.becameReadable(isClosing: peerIsClosing) }
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
        switch Tag(rawValue: tag) {
        case .deadline:
            deadlineTimer = nil
            guard reason == .due, let current else { return }
            if let probesBegin, probesBegin <= loop.now { beginProbes() }
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
            if reason == .due { release() }
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
