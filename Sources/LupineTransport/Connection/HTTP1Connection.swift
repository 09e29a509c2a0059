// SPDX-License-Identifier: MIT

import LupineHTTP

/// One HTTP/1.1 connection: performs what `HTTP1Machine` decides, on the one loop it lives on.
///
/// It moves bytes between the channel, the codec and the exchange at hand, keeps the time-outs, and gives itself back
/// to the pool. Between exchanges it owns no buffer worth speaking of: reads go through the loop's. Nobody
/// else touches it; other threads reach it through `LoopBound`.
final class HTTP1Connection {
    let loop: EventLoop
    let id: ConnectionID
    private let pool: ConnectionPool
    private let channel: ByteChannel
    private var registration: Registration?
    private var machine = HTTP1Machine()
    private var codec: ClientCodec
    private let route: Route

    /// What every exchange on this connection has in common.
    struct Route {
        let host: String
        let localAddress: SocketAddress?
        let remoteAddress: SocketAddress?
        let usesProxy: Bool
        let dial: DialMetrics
        /// Where an HTTP proxy is asked in absolute form: what goes before the path.
        let absolutePrefix: String?
        /// Sent to such a proxy.
        let proxyAuthorization: String?
    }

    /// The exchange at hand.
    private var current: Current?
    private var feed = ContentFeed()
    /// Bytes that were read and not yet looked at, because the consumer paused.
    private var unread: [UInt8] = []
    /// The kernel may have more for us: edge-triggered readiness, remembered.
    private var mayRead = false
    private var mayWrite = true
    private var peerIsClosing = false
    private var wasUsed = false
    /// What may still be skipped of a body nobody wants.
    private var drainBudget = 0
    private var keepAliveHint = KeepAlive()
    private var responseKeepsAlive = true

    private var deadlineTimer: (token: EventLoop.TimerToken, at: Instant)?
    private var continueTimer: EventLoop.TimerToken?
    private var paceTimer: EventLoop.TimerToken?
    private var splice: SpliceTransfer?
    private var upgrade: (connection: UpgradedConnection, handler: any UpgradeHandler)?

    private struct Current {
        let exchange: Exchange
        var metrics: ExchangeMetrics
        var deadlines: TransferDeadlines
        var receiveRate: RateLimit?
        var sendRate: RateLimit?
        var requestBegan = false
        var headOctets = 0
        var bodyFraming = BodyFraming.none
        var contentRemaining: Int64?
    }

    private enum Tag: Int { case deadline, continueWait, pace }

    /// The rest of an unwanted body that is worth reading to keep the connection: less than a round trip's worth.
    private static let drainLimit = 64 * 1024
    /// How much of a read is looked at before other connections of the loop get their turn.
    private static let readTurns = 16

    init(
        _ socket: consuming Socket, _ registration: Registration, _ id: ConnectionID, route: Route,
        limits: ParserLimits, leniency: Leniency, pool: ConnectionPool, loop: EventLoop
    ) {
        channel = ByteChannel(socket: socket)
        self.id = id
        self.route = route
        self.pool = pool
        self.loop = loop
        codec = ClientCodec(limits: limits, leniency: leniency)
        self.registration = registration
        loop.hand(registration, to: self)
    }

    /// Whether it has been closed.
    var isClosed: Bool { machine.state == .closed }

    // MARK: an exchange begins

    /// Carries out an exchange; the pool has leased the connection to it.
    func run(_ exchange: Exchange) {
        loop.preconditionOnLoop()
        var metrics = ExchangeMetrics(fetchStart: exchange.began)
        metrics.isReused = wasUsed
        metrics.dial = wasUsed ? nil : route.dial
        metrics.localAddress = route.localAddress
        metrics.remoteAddress = route.remoteAddress
        metrics.usedProxy = route.usesProxy
        metrics.wasReplayed = exchange.wasReplayed
        do throws(TransportError) {
            try exchange.begin(on: LoopBound(self, on: loop), loop: loop)
        } catch {
            giveBack(KeepAlive())
            exchange.end(.failure(error), metrics)
            return
        }
        guard machine.state == .idle else {
            // It died between being lent and this turn; not a byte has gone.
            pool.replayOrFail(
                exchange, metrics, .http(host: route.host, .truncated(.beforeHead)), requestBegan: false,
                connectionWasReused: wasUsed)
            return
        }
        let now = loop.now
        metrics.requestStart = now
        var current = Current(
            exchange: exchange, metrics: metrics,
            deadlines: TransferDeadlines(exchange.options.timeouts, at: exchange.began))
        if let rate = exchange.options.receiveRate { current.receiveRate = RateLimit(rate: rate, at: now) }
        if let rate = exchange.options.sendRate { current.sendRate = RateLimit(rate: rate, at: now) }
        let announcement = exchange.content.announcement
        let holds =
            exchange.options.continueTimeout != nil && announcement != .none && announcement != .known(0)
        do throws(HTTPError) {
            var head = exchange.head
            if let prefix = route.absolutePrefix, case .origin(let path) = head.target {
                head.target = .absolute(prefix + path)
            }
            if let authorization = route.proxyAuthorization {
                try head.fields.set(.proxyAuthorization, authorization)
            }
            try codec.send(head, body: announcement, expectContinue: holds, into: &feed.output)
        } catch {
            giveBack(KeepAlive())
            exchange.end(.failure(.http(host: route.host, error)), metrics)
            return
        }
        wasUsed = true
        current.metrics.requestHeadBytes = feed.output.count
        current.deadlines.handle(.sending, at: now)
        self.current = current
        responseKeepsAlive = true
        keepAliveHint = KeepAlive()
        _ = machine.handle(.begin(announcement == .none ? .sending : holds ? .holding : .sending))
        if holds, let timeout = exchange.options.continueTimeout {
            continueTimer = loop.schedule(at: now + timeout, self, tag: Tag.continueWait.rawValue)
        }
        if !holds { feedContent(exchange.content) }
        write()
        armDeadline()
    }

    private func feedContent(_ content: OutgoingContent) {
        switch content {
        case .none: feed.state = .done
        case .bytes(let bytes): feed.state = bytes.isEmpty ? .done : .bytes(bytes, from: 0)
        case .file(let file):
            feed.state = file.count == 0 ? .done : .file(file, offset: file.offset, remaining: file.count)
        case .stream(let source, _): feed.state = .stream(source)
        }
        if case .bytes(let bytes, _) = feed.state { announce(bytes.count) }
        if case .file(let file, _, _) = feed.state { announceFile(file) }
    }

    private func announce(_ count: Int) {
        do throws(HTTPError) {
            try codec.sendContent(count, into: &feed.output)
        } catch { fail(.http(host: route.host, error)) }
    }

    private func announceFile(_ file: FileSource) { announce(Int(clamping: file.count)) }

    // MARK: writing

    private var isSending: Bool {
        switch machine.state {
        case .exchanging(.sending, _), .exchanging(.holding, _): true
        case .exchanging(.sent, _), .idle, .draining, .closed: false
        case .upgraded: true
        }
    }

    /// Sends as much as there is and the kernel takes.
    private func write() {
        while mayWrite, isSending {
            do throws(TransportError) {
                guard try writeStep() else { break }
            } catch {
                return failWriting(error)
            }
        }
    }

    /// A failed write does not hide an answer that came before it: what the peer said last is read first.
    private func failWriting(_ error: TransportError) {
        mayWrite = false
        mayRead = true
        read()
        if machine.state != .closed { lose(error) }
    }

    /// One step; false when nothing can be done now.
    private func writeStep() throws(TransportError) -> Bool {
        switch feed.state {
        case .done:
            guard feed.hasOutput else { return try endRequest() }
            return try send([])
        case .bytes(let bytes, let from), .piece(let bytes, let from, _):
            return try sendPiece(bytes, from: from)
        case .file(let file, let offset, let remaining):
            if feed.hasOutput { return try send([]) }
            return try sendFile(file, offset: offset, remaining: remaining)
        case .stream(let source):
            if feed.hasOutput { guard try send([]) else { return false } }
            feed.state = .awaiting(source)
            current?.deadlines.handle(.sourceDry, at: loop.now)
            ask(source)
            return true
        case .awaiting:
            return feed.hasOutput ? try send([]) : false
        }
    }

    private func sendPiece(_ bytes: [UInt8], from: Int) throws(TransportError) -> Bool {
        var end = bytes.count
        if var rate = current?.sendRate {
            let allowance = rate.allowance(at: loop.now)
            let ready = rate.ready(for: min(end - from, rate.burst), at: loop.now)
            current?.sendRate = rate
            guard allowance > 0 else {
                pace(until: ready)
                return false
            }
            end = min(end, from + allowance)
        }
        let piece = bytes.span.extracting(from..<end)
        return try send(piece)
    }

    /// Sends waiting framing and `content`; false when the kernel is full.
    private func send(_ content: Span<UInt8>) throws(TransportError) -> Bool {
        guard feed.hasOutput || !content.isEmpty else { return false }
        let outcome: WriteOutcome
        do throws(Errno) {
            outcome = try channel.send(feed.output, from: feed.outputStart, content)
        } catch {
            throw .connectionLost(host: route.host, error)
        }
        guard case .bytes(let count) = outcome else {
            mayWrite = false
            return false
        }
        let before = feed.sent
        feed.advance(count)
        wrote(content: feed.sent - before)
        return true
    }

    private func send(_ none: [UInt8]) throws(TransportError) -> Bool { try send(none.span) }

    private func wrote(content: Int64) {
        guard current != nil else {
            if !feed.hasOutput { upgrade?.handler.drained() }
            return
        }
        current?.requestBegan = true
        current?.deadlines.handle(.wrote, at: loop.now)
        guard content > 0 else { return }
        current?.sendRate?.spend(Int(content), at: loop.now)
        current?.metrics.requestContentBytes = feed.sent
        current?.exchange.sink.sentContent(feed.sent)
    }

    private func sendFile(_ file: FileSource, offset: Int64, remaining: Int64) throws(TransportError) -> Bool
    {
        guard channel.isTransparent else {
            return try sendFileThroughMemory(file, offset: offset, remaining: remaining)
        }
        var limit = Int(clamping: min(remaining, 1 << 30))
        if var rate = current?.sendRate {
            let allowance = rate.allowance(at: loop.now)
            let ready = rate.ready(for: min(limit, rate.burst), at: loop.now)
            current?.sendRate = rate
            guard allowance > 0 else {
                pace(until: ready)
                return false
            }
            limit = min(limit, allowance)
        }
        var position = offset
        let outcome: ReadOutcome
        do throws(Errno) {
            outcome = try channel.socket.send(file: file.descriptor, offset: &position, count: limit)
        } catch {
            throw .connectionLost(host: route.host, error)
        }
        switch outcome {
        case .bytes(let count):
            let left = remaining - Int64(count)
            feed.sent += Int64(count)
            feed.state = left == 0 ? .done : .file(file, offset: position, remaining: left)
            wrote(content: Int64(count))
            return true
        case .wouldBlock:
            mayWrite = false
            return false
        case .end:
            throw .content("the file is shorter than the \(file.count) bytes that were announced")
        }
    }

    private func sendFileThroughMemory(
        _ file: FileSource, offset: Int64, remaining: Int64
    ) throws(TransportError) -> Bool {
        throw .unsupported("files over a channel that looks at its bytes")
    }

    private func ask(_ source: any ContentSource) {
        let bound = LoopBound(self, on: loop)
        let exchange = current?.exchange
        source.next { [loop] piece in
            // Never at once: a source that always has something would otherwise grow the stack.
            _ = loop.execute { bound.value.supplied(piece, for: exchange) }
        }
    }

    private func supplied(_ piece: ContentPiece, for exchange: Exchange?) {
        guard let exchange, current?.exchange === exchange, case .awaiting(let source) = feed.state else {
            return
        }
        do throws(HTTPError) {
            switch piece {
            case .bytes(let bytes):
                guard !bytes.isEmpty else { return ask(source) }
                try codec.sendContent(bytes.count, into: &feed.output)
                feed.state = .piece(bytes, from: 0, source)
            case .end(let trailers):
                try codec.sendEnd(trailers: trailers, into: &feed.output)
                feed.state = .done
            case .failed(let reason):
                return fail(.content(reason))
            }
        } catch {
            return fail(.http(host: route.host, error))
        }
        current?.deadlines.handle(.sending, at: loop.now)
        write()
        armDeadline()
    }

    /// Everything has been handed to the kernel.
    private func endRequest() throws(TransportError) -> Bool {
        guard case .exchanging(.sending, _) = machine.state else { return false }
        if !codec.requestIsSent {
            do throws(HTTPError) {
                try codec.sendEnd(into: &feed.output)
            } catch { throw .http(host: route.host, error) }
            if feed.hasOutput { return true }
        }
        current?.metrics.requestEnd = loop.now
        current?.deadlines.handle(.sent, at: loop.now)
        _ = machine.handle(.requestSent)
        return false
    }

    // MARK: reading

    /// Reads and handles as much as there is and the consumer takes.
    private func read() {
        guard mayRead, wantsToRead else { return }
        var buffer = loop.borrowReadBuffer()
        defer { loop.giveBack(readBuffer: buffer) }
        var turns = 0
        while mayRead, wantsToRead {
            if let splice, splice.usesPipe {
                guard spliceStep(splice) else { return }
                continue
            }
            turns += 1
            if turns > Self.readTurns {
                yieldReading()
                return
            }
            guard let room = readAllowance(buffer.count) else { return }
            let outcome: ReadOutcome
            do throws(Errno) {
                var whole = buffer.mutableSpan
                var space = whole._mutatingExtracting(first: room)
                outcome = try channel.receive(into: &space)
            } catch {
                mayRead = false
                return lose(.connectionLost(host: route.host, error))
            }
            switch outcome {
            case .wouldBlock:
                mayRead = false
            case .end:
                mayRead = false
                return peerClosed()
            case .bytes(let count):
                // A short read has emptied the socket; a closing peer's end is still to be seen.
                if count < room, !peerIsClosing { mayRead = false }
                received(count)
                handle(buffer.span.extracting(first: count))
            }
        }
    }

    private var wantsToRead: Bool {
        switch machine.state {
        case .exchanging(_, .paused), .closed: false
        case .exchanging, .idle, .draining: unread.isEmpty
        case .upgraded: upgradeReads
        }
    }
    private var upgradeReads = true

    /// Lets the loop's other connections have their turn; this one goes on in the next.
    private func yieldReading() {
        let bound = LoopBound(self, on: loop)
        loop.executeOnLoop { bound.value.read() }
    }

    /// How much may be read now; nil when the rate says that it must wait.
    private func readAllowance(_ capacity: Int) -> Int? {
        guard var rate = current?.receiveRate else { return capacity }
        let allowance = rate.allowance(at: loop.now)
        let ready = rate.ready(for: min(capacity, rate.burst), at: loop.now)
        current?.receiveRate = rate
        guard allowance > 0 else {
            pace(until: ready)
            return nil
        }
        return min(capacity, allowance)
    }

    private func received(_ count: Int) {
        guard current != nil else { return }
        current?.receiveRate?.spend(count, at: loop.now)
        if current?.metrics.responseStart == nil { current?.metrics.responseStart = loop.now }
        current?.deadlines.handle(.received, at: loop.now)
    }

    /// Feeds the codec and passes on what it says, until it needs more or the consumer pauses.
    private func handle(_ bytes: Span<UInt8>) {
        if machine.state == .upgraded { return handleUpgraded(bytes) }
        var start = 0
        while true {
            let event: WireEvent
            let consumed: Int
            let rest = bytes.extracting(droppingFirst: start)
            do throws(HTTPError) {
                (event, consumed) = try codec.next(rest)
            } catch {
                return lose(.http(host: route.host, error))
            }
            start += consumed
            switch event {
            case .needMore:
                if case .exchanging(_, .awaitingHead) = machine.state { current?.headOctets += consumed }
                armDeadline()
                return
            case .interim(let head):
                current?.headOctets += consumed
                current?.exchange.sink.receivedInterim(head)
                if head.status.code == 100 { release() }
            case .head(let head, let framing, let keepAlive):
                current?.headOctets += consumed
                guard receivedHead(head, framing, keepAlive) else { return }
            case .content(let range):
                guard receivedContent(rest.extracting(range)) else {
                    return keep(bytes.extracting(droppingFirst: start))
                }
            case .end(let trailers):
                return responseEnded(trailers, leftOver: bytes.count - start)
            case .handover:
                return beginUpgrade(bytes.extracting(droppingFirst: start))
            }
            if machine.state == .closed { return }
            if case .exchanging(_, .paused) = machine.state {
                return keep(bytes.extracting(droppingFirst: start))
            }
        }
    }

    private func keep(_ bytes: Span<UInt8>) {
        guard machine.state != .closed, !bytes.isEmpty else { return }
        unread.reserveCapacity(bytes.count)
        for index in bytes.indices { unread.append(bytes[index]) }
    }

    /// False when reading must not go on from the same bytes.
    private func receivedHead(_ head: ResponseHead, _ framing: BodyFraming, _ keepAlive: Bool) -> Bool {
        guard let exchange = current?.exchange else { return false }
        let headOctets = current?.headOctets ?? 0
        current?.metrics.version = head.version
        current?.metrics.responseHeadBytes = headOctets
        current?.bodyFraming = framing
        cancelContinueTimer()
        responseKeepsAlive = keepAlive
        if keepAlive, let hint = head.fields.withFirstValue(of: .keepAlive, { KeepAlive(fieldValue: $0) }) {
            keepAliveHint = hint
        }
        if framing == .handover {
            _ = exchange.sink.receivedHead(head, framing: framing)
            return true
        }
        _ = machine.handle(.headReceived)
        if case .length(let length) = framing { current?.contentRemaining = length }
        switch exchange.sink.receivedHead(head, framing: framing) {
        case .deliver: break
        case .pause: pause()
        case .skip: return enough()
        case .splice(let target): beginSplice(target, framing)
        }
        return true
    }

    /// False when the consumer takes no more of the same bytes now.
    private func receivedContent(_ bytes: Span<UInt8>) -> Bool {
        current?.metrics.responseContentBytes += Int64(bytes.count)
        spendContent(bytes.count)
        if machine.state == .draining {
            drainBudget -= bytes.count
            guard drainBudget >= 0 else {
                perform(machine.handle(.drainedEnough), .success(Fields()))
                return false
            }
            return true
        }
        guard let exchange = current?.exchange else { return false }
        let demand: Demand
        if let splice {
            do throws(TransportError) {
                try splice.writeDirectly(bytes)
            } catch {
                fail(error)
                return false
            }
            demand = exchange.sink.spliced(bytes.count)
        } else {
            demand = exchange.sink.receivedContent(bytes)
        }
        switch demand {
        case .more: return machine.state != .closed
        case .pause:
            guard current?.exchange === exchange else { return false }
            pause()
            return false
        case .enough: return enough()
        }
    }

    private func spendContent(_ count: Int) {
        guard let remaining = current?.contentRemaining else { return }
        current?.contentRemaining = remaining - Int64(count)
    }

    private func pause() {
        guard case .exchanging(_, .receiving) = machine.state else { return }
        _ = machine.handle(.pause)
        current?.deadlines.handle(.readingPaused, at: loop.now)
    }

    /// The consumer wants no more. Returns whether the rest is read all the same.
    private func enough() -> Bool {
        guard case .exchanging(_, .receiving) = machine.state else { return false }
        let framing = current?.bodyFraming
        let remaining = current?.contentRemaining
        let isShort: Bool =
            switch framing {
            case .some(.none): true
            case .length: (remaining ?? .max) <= Int64(Self.drainLimit)
            case .chunked: true
            case .untilClose, .handover, nil: false
            }
        drainBudget = Self.drainLimit
        let canLast = isShort && responseKeepsAlive
        perform(machine.handle(.enough(rest: canLast ? .short : .long)), .success(Fields()))
        return machine.state == .draining
    }

    private func responseEnded(_ trailers: Fields, leftOver: Int) {
        // Bytes behind a response belong to nobody: whoever sent them is not to be trusted with another request.
        let reusable = leftOver == 0 && codec.mayBegin && !peerIsClosing
        perform(machine.handle(.responseEnded(reusable: reusable)), .success(trailers))
    }

    private func peerClosed() {
        peerIsClosing = true
        if machine.state == .upgraded { return endUpgrade(nil) }
        do throws(HTTPError) {
            let event = try codec.peerClosed()
            if case .end(let trailers) = event {
                perform(machine.handle(.responseEnded(reusable: false)), .success(trailers))
                return
            }
        } catch {
            return lose(.http(host: route.host, error))
        }
        lose(.http(host: route.host, .truncated(.beforeHead)))
    }

    // MARK: splicing

    private func beginSplice(_ target: FileTarget, _ framing: BodyFraming) {
        let direct: Bool =
            switch framing {
            case .length, .untilClose: channel.isTransparent && current?.receiveRate == nil
            case .none, .chunked, .handover: false
            }
        splice = SpliceTransfer(target, usesPipe: direct)
    }

    /// Moves content from the socket to the file without looking at it. False when the caller is to stop reading.
    private func spliceStep(_ splice: SpliceTransfer) -> Bool {
        guard let exchange = current?.exchange else { return false }
        let limit = current?.contentRemaining ?? Int64(Int.max)
        let outcome: SpliceTransfer.Step
        do throws(TransportError) {
            outcome = try splice.step(from: channel.socket, limit: limit, host: route.host)
        } catch {
            fail(error)
            return false
        }
        switch outcome {
        case .moved(let count):
            current?.metrics.responseContentBytes += Int64(count)
            spendContent(count)
            received(count)
            codec.skipContent(count)
            if exchange.sink.spliced(count) == .pause { pause() }
            if current?.contentRemaining == 0 {
                self.splice = nil
                handle([UInt8]().span)
                return machine.state != .closed
            }
            return true
        case .wouldBlock:
            mayRead = false
            armDeadline()
            return false
        case .end:
            mayRead = false
            self.splice = nil
            peerClosed()
            return false
        }
    }

    // MARK: the end of an exchange

    /// The owner of the exchange takes it back.
    func cancel(_ exchange: Exchange, _ error: TransportError) {
        guard current?.exchange === exchange else { return }
        perform(machine.handle(.cancel), .failure(error))
    }

    /// The consumer takes more again.
    func resume(_ exchange: Exchange) {
        guard current?.exchange === exchange, case .exchanging(_, .paused) = machine.state else { return }
        _ = machine.handle(.resume)
        current?.deadlines.handle(.readingResumed, at: loop.now)
        proceed()
        armDeadline()
    }

    /// Looks first at what was kept, then at the socket.
    private func proceed() {
        var kept: [UInt8] = []
        swap(&kept, &unread)
        handle(kept.span)
        read()
    }

    /// The pool wants it gone.
    func close() {
        perform(machine.handle(.close), .failure(.shutDown))
    }

    /// Closes it, ending what is under way with `error`.
    func abort(_ error: TransportError) {
        if machine.state == .upgraded { return endUpgrade(error) }
        perform(machine.handle(.close), .failure(error))
    }

    /// Something on our side went wrong: no replay helps.
    private func fail(_ error: TransportError) {
        if machine.state == .upgraded { return endUpgrade(error) }
        perform(machine.handle(.broken), .failure(error))
    }

    /// The connection broke. An exchange that may be is sent again on a fresh one.
    private func lose(_ error: TransportError) {
        if machine.state == .upgraded { return endUpgrade(error) }
        let actions = machine.handle(.broken)
        guard actions.exchange == .fail, let current else { return perform(actions, .failure(error)) }
        self.current = nil
        var metrics = current.metrics
        metrics.responseEnd = loop.now
        perform(actions, .failure(error))
        pool.replayOrFail(
            current.exchange, metrics, error, requestBegan: current.requestBegan,
            connectionWasReused: metrics.isReused)
    }

    /// The peer asked for the content, or did not say anything for long enough.
    private func release() {
        guard machine.handle(.release).releasesContent, let exchange = current?.exchange else { return }
        cancelContinueTimer()
        feedContent(exchange.content)
        write()
    }

    private func perform(_ actions: HTTP1Machine.Actions, _ result: Result<Fields, TransportError>) {
        var ended: Current?
        if actions.exchange != .keep {
            ended = current.take()
            clear()
        }
        switch actions.connection {
        case .keep: break
        case .giveBack:
            giveBack(keepAliveHint)
        case .close:
            shut()
            pool.lost(id)
        }
        guard let ended else { return }
        var metrics = ended.metrics
        metrics.responseEnd = loop.now
        ended.exchange.end(result, metrics)
    }

    /// Forgets what belonged to the exchange.
    private func clear() {
        cancelContinueTimer()
        if let timer = paceTimer { loop.cancel(timer) }
        paceTimer = nil
        splice = nil
        feed.clear()
    }

    private func giveBack(_ hint: KeepAlive) {
        pool.finished(id, .reusable(hint))
    }

    /// Closes the socket.
    private func shut() {
        if let registration { loop.deregister(registration) }
        registration = nil
        if let timer = deadlineTimer { loop.cancel(timer.token) }
        deadlineTimer = nil
        cancelContinueTimer()
        unread = []
        feed = ContentFeed()
    }

    private func cancelContinueTimer() {
        if let timer = continueTimer { loop.cancel(timer) }
        continueTimer = nil
    }

    // MARK: time

    /// Sees to it that a timer ends no later than the next deadline. One that ends too early finds nothing due and is
    /// set anew, so that bytes that move cost no timer.
    private func armDeadline() {
        guard let next = current?.deadlines.next else { return }
        if let timer = deadlineTimer {
            guard next.instant < timer.at else { return }
            loop.cancel(timer.token)
        }
        deadlineTimer = (loop.schedule(at: next.instant, self, tag: Tag.deadline.rawValue), next.instant)
    }

    /// Goes on at `instant`, when the rate allows it.
    private func pace(until instant: Instant) {
        guard paceTimer == nil else { return }
        paceTimer = loop.schedule(at: instant, self, tag: Tag.pace.rawValue)
    }

    // MARK: after HTTP

    private func beginUpgrade(_ bytes: Span<UInt8>) {
        guard let ended = current else { return }
        _ = machine.handle(.upgraded)
        current = nil
        clear()
        let connection = UpgradedConnection(self, on: loop)
        let handler = ended.exchange.sink.upgraded(connection)
        upgrade = (connection, handler)
        upgradeReads = true
        var metrics = ended.metrics
        metrics.responseEnd = loop.now
        ended.exchange.end(.success(Fields()), metrics)
        if !bytes.isEmpty { handleUpgraded(bytes) }
        read()
    }

    private func handleUpgraded(_ bytes: Span<UInt8>) {
        guard let upgrade else { return }
        switch upgrade.handler.received(bytes) {
        case .more: break
        case .pause: upgradeReads = false
        case .enough: closeUpgraded()
        }
    }

    func resumeUpgraded() {
        guard machine.state == .upgraded, !upgradeReads else { return }
        upgradeReads = true
        // In a turn of its own: the handler may be in the middle of `received`.
        yieldReading()
    }

    func sendUpgraded(_ bytes: [UInt8]) -> Int {
        guard machine.state == .upgraded else { return 0 }
        feed.output += bytes
        write()
        return feed.output.count - feed.outputStart
    }

    func closeUpgraded() {
        guard machine.state == .upgraded else { return }
        upgrade = nil
        perform(machine.handle(.close), .failure(.cancelled))
    }

    private func endUpgrade(_ error: TransportError?) {
        let handler = upgrade?.handler
        upgrade = nil
        perform(machine.handle(.broken), .failure(error ?? .cancelled))
        handler?.closed(error)
    }
}

extension HTTP1Connection: LoopChannel {
    func channelReady(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: .closed) { peerIsClosing = true }
        if readiness.contains(.writable), !mayWrite {
            mayWrite = true
            write()
        }
        if !readiness.isDisjoint(with: [.readable, .closed]) {
            mayRead = true
            read()
        }
        if current != nil { armDeadline() }
    }

    func loopWillClose() { abort(.shutDown) }
}

extension HTTP1Connection: TimerTarget {
    func timerEnded(tag: Int, reason: TimerReason) {
        switch Tag(rawValue: tag) {
        case .deadline:
            deadlineTimer = nil
            guard reason == .due, let current else { return }
            if let timeout = current.deadlines.expired(at: loop.now) {
                fail(.timedOut(host: route.host, timeout))
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
        case nil: break
        }
    }
}
