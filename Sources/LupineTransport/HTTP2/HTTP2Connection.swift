// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// One HTTP/2 connection, which carries many exchanges at once: performs what `HTTP2Machine` decides, on its one loop.
///
/// It moves bytes between the channel, the machine and the exchanges, keeps each exchange's time-outs, and tells the pool how
/// many it carries at once and when it takes no more. What goes wrong with one exchange ends its stream; what goes wrong with
/// the connection ends all, and those that the peer has not worked on are sent again.
///
/// The connection is always read from: a consumer that takes no more stops the window of its stream (`HTTP2Stream.held`). The
/// windows bound what all streams together can leave here (`connectionWindow`).
final class HTTP2Connection: Carrier {
    enum Life: Hashable {
        case open  // → outliving, closed
        /// The socket is gone. What has come of responses is still passed on to consumers that pause.
        case outliving  // → closed
        case closed
    }

    private(set) var life = Life.open
    var machine: HTTP2Machine
    private(set) var streams = OpenStreams()

    // MARK: out

    /// Frames of any streams, on their way out.
    var output: [UInt8] = []
    var outputStart = 0
    /// Streams that have something to send.
    var senders = SenderQueue<HTTP2Stream>()
    /// Streams that had their turn when the connection's window was closed, in that order.
    var stalled: [HTTP2Stream] = []
    /// Streams of whose priority the peer is to be told.
    var reprioritised: [HTTP2Stream] = []
    /// Streams whose head waits in the machine.
    var beginners: [HTTP2Stream] = []
    /// Streams of which there is something in `output`.
    var batch: [HTTP2Stream] = []
    /// Why nothing more can be sent; what the peer has sent is still read.
    var writeFailure: TransportError?
    var isWriteDue = false
    private var isTurnEndDue = false

    // MARK: in

    /// What the server has said behind a proxy's answer, until it is looked at.
    private var early: [UInt8]
    var isReading = false
    var isReadDue = false
    /// The final head of a response, until it is known whether its stream ends with it.
    var pendingHead: (stream: HTTP2Stream, head: ResponseHead)?
    /// Octets since the last event: of a head, when it is one.
    var headOctets = 0
    var touched: [HTTP2Stream] = []
    /// Streams whose consumers have all that they want.
    var leavers: [HTTP2Stream] = []
    /// With what the peer has said that it goes.
    var farewell: HTTP2ErrorCode?
    /// A response has come.
    var wasAnswered = false
    /// Web sockets that wait until the peer has said whether it takes them.
    var awaitingSettings: [Exchange] = []

    private var settingsTimer: EventLoop.TimerToken?
    /// A sink is being told that its exchange begins.
    private var isBeginning = false
    /// How many ends of exchanges are being told of, one inside the other.
    private var endings = 0
    private var isCloseDue = false
    /// What the pool has been told of how many streams the peer allows; nil until the peer has said it.
    private var toldCapacity: Int?
    private let firstCapacity: Int
    /// How many streams are open at once, where the peer allows more.
    private let mostStreams: Int
    /// What a stream's window begins with: small enough that all of them together leave room in the connection's.
    private let streamWindow: Int
    /// By how much the windows of streams have grown.
    private var grown = 0
    /// When something has last come; at first, when the connection stood.
    var lastReceived: Instant
    var liveness = LivenessProbe()
    var livenessTimer: EventLoop.TimerToken?
    /// What ended it, for an exchange that comes too late.
    private var failure: TransportError?

    /// The most content that a connection keeps for consumers that pause, whatever the peer does: half of it is what the
    /// windows of all streams begin with, the other half is what some of them may grow by.
    static let connectionWindow = 32 * 1024 * 1024
    /// The most that one stream's content may be ahead of its consumer.
    static let largestStreamWindow = 8 * 1024 * 1024
    /// How long the peer may take to acknowledge our settings; one that speaks something else never does.
    static let settingsTime = Interval.seconds(60)
    /// So much may wait for a kernel that takes nothing; then the connection begins no further stream.
    static let mostWaiting = 256 * 1024
    /// How often it reads, or writes, before other connections of the loop get their turn.
    static let turns = 16

    init(
        _ channel: consuming ByteChannel, _ dialed: DialedChannel, _ id: ConnectionID, limits: ParserLimits,
        pool: ConnectionPool, loop: EventLoop
    ) {
        var settings = HTTP2Machine.defaultSettings
        let limits = Self.limits(limits)
        mostStreams = limits.openStreams
        let streamWindow = min(FlowWindow.initial, Self.connectionWindow / 2 / limits.openStreams)
        settings.initialWindowSize = streamWindow
        settings.noRFC7540Priorities = true
        self.streamWindow = streamWindow
        machine = HTTP2Machine(
            .client, settings: settings, window: Self.connectionWindow, limits: limits,
            at: .nanoseconds(loop.now.nanoseconds))
        firstCapacity = dialed.route.tls?.isPersonal == true ? 1 : limits.openStreamsAtFirst
        early = dialed.early
        lastReceived = loop.now
        super.init(
            channel, dialed.registration, id, route: dialed.route, mayRead: dialed.mayRead, pool: pool,
            loop: loop)
        loop.hand(dialed.registration, to: self)
    }

    deinit { WindowBalance.shared.note(isRight: machine.windowsAddUp && grown == 0 && streams.isEmpty) }

    /// The limits of heads are those of HTTP/1.1.
    private static func limits(_ parser: ParserLimits) -> HTTP2Limits {
        var limits = HTTP2Limits()
        limits.lists.listOctets = parser.headBytes
        limits.lists.fieldCount = parser.fieldCount
        limits.lists.stringOctets = parser.lineBytes
        // A head over its limit costs its stream; only one that is far over it costs the connection.
        limits.frames.headerBlockOctets = max(limits.frames.headerBlockOctets, 2 * parser.headBytes)
        limits.interimHeads = parser.interimHeads
        return limits
    }

    /// The present moment, as the machine counts.
    var time: Duration { .nanoseconds(loop.now.nanoseconds) }

    override var capacity: Int { firstCapacity }

    /// Whether an exchange was asked who we are: the connection serves nobody else (U-11.20).
    private var isPersonal: Bool { route.tls?.isPersonal == true }

    override func opened() {
        guard life == .open else { return }
        beginProbes()
        settingsTimer = loop.schedule(at: loop.now + Self.settingsTime) { [weak self] reason in
            guard let self, reason == .due else { return }
            settingsTimer = nil
            settingsAreLate()
        }
        writeSoon()
        var bytes: [UInt8] = []
        swap(&bytes, &early)
        take(bytes.span)
        read()
    }

    // MARK: an exchange begins

    override func run(_ exchange: Exchange) {
        loop.preconditionOnLoop()
        var metrics = metrics(ofBeginning: exchange)
        do throws(TransportError) {
            guard try exchange.begin(on: LoopBound<Carrier>(self, on: loop), loop: loop, of: pool) else {
                return decline(exchange)
            }
        } catch { return refuse(exchange, error, metrics) }
        guard life == .open else { return sendElsewhere(exchange, metrics) }
        let isWebSocket = exchange.options.isWebSocket
        if isWebSocket, !mayOpenWebSocket(exchange, metrics) { return }
        let announcement = exchange.content.announcement
        let isEmpty = !isWebSocket && (announcement == .none || announcement == .known(0))
        let holds = exchange.options.continueTimeout != nil && !isEmpty && !isWebSocket
        let urgency = Urgency(priority: exchange.priority)
        let list: HeaderList
        do throws(TransportError) {
            list = try self.list(of: exchange, announcement, urgency, expectContinue: holds)
        } catch {
            return refuse(exchange, named(error, for: exchange), metrics)
        }
        let id: StreamID
        do throws(HTTP2SendError) {
            let method = isWebSocket ? .connect : exchange.head.method
            id = try machine.open(list, method: method, endsStream: isEmpty)
        } catch {
            switch error {
            case .headerListTooLarge(let size, let allowed):
                let error = http2(.requestTooLarge(size, allowed: allowed))
                return refuse(exchange, named(error, for: exchange), metrics)
            case .connectionLeaving: pool.drains(self.id)
            case .tooManyStreams, .connectionOver, .streamOver: break
            }
            return sendElsewhere(exchange, metrics)
        }
        metrics.requestStart = loop.now
        metrics.requestHeadBytes = machine.openingOctets
        let stream = HTTP2Stream(
            id, exchange, metrics, urgency: urgency, window: streamWindow, onUsedConnection: wasAnswered,
            at: loop.now)
        wasUsed = true
        stream.isEndWritten = isEmpty
        if holds { _ = stream.machine.handle(.hold) }
        streams.insert(stream)
        exchange.streamNumber = id.rawValue
        beginners.append(stream)
        askIfSilent()
        note(.sending, of: stream)
        exchange.observation?.leased(metrics, to: exchange.origin, sending: list.lines, at: loop.now)
        tellOpened(stream)
        isBeginning = true
        exchange.sink.begins(on: loop, over: route.evidence)
        isBeginning = false
        guard isCarrying(stream), stream.takenBack == nil else { return }
        if holds, let timeout = exchange.options.continueTimeout {
            stream.continueTimer = schedule(.continueWait, of: stream, at: loop.now + timeout)
        } else if isWebSocket {
            stream.feed.state = .awaiting(TunnelSource.shared)
        } else if !isEmpty {
            beginContent(of: stream)
        }
        writeSoon()
    }

    override func giveBackUnused() { giveBack() }

    /// The connection has ended, or the peer allows fewer streams, since it was lent: the exchange goes to another one.
    private func sendElsewhere(_ exchange: Exchange, _ metrics: ExchangeMetrics) {
        let error = named(failure ?? http2(.refused), for: exchange)
        loop.executeOnLoop {
            self.giveBack()
            self.pool.replayOrFail(
                exchange, metrics, error, requestBegan: false, connectionWasReused: metrics.isReused,
                isUntouched: true)
        }
    }

    // MARK: what an exchange asks for

    private func stream(of exchange: Exchange) -> HTTP2Stream? {
        // One that has left for another connection has a number of that one's.
        guard let stream = streams[StreamID(exchange.streamNumber)], stream.exchange === exchange else {
            return nil
        }
        return stream
    }

    /// Whether the stream has not ended.
    func isCarrying(_ stream: HTTP2Stream) -> Bool { !stream.isForgotten }

    override func cancel(_ exchange: Exchange, _ error: TransportError) {
        if let stream = stream(of: exchange) { takeBack(stream, error) }
    }

    override func skip(_ exchange: Exchange) {
        guard let stream = stream(of: exchange) else { return }
        _ = stream.machine.handle(.resume)
        guard case .exchanging(_, .receiving) = stream.machine.state else {
            return takeBack(stream, .cancelled)
        }
        enough(stream)
    }

    private func takeBack(_ stream: HTTP2Stream, _ error: TransportError) {
        guard isBeginning else { return fail(stream, error) }
        // In a turn of its own: another exchange begins in its place, and may be taken back as well.
        stream.takenBack = error
        let bound = LoopBound((self, stream), on: loop)
        loop.executeOnLoop {
            let (connection, stream) = bound.value
            connection.fail(stream, error)
        }
    }

    override func resume(_ exchange: Exchange) {
        guard let stream = stream(of: exchange), case .exchanging(_, .paused) = stream.machine.state else {
            return
        }
        _ = stream.machine.handle(.resume)
        if let place = exchange.takePlace() { stream.splice = SpliceTransfer(place, usesPipe: false) }
        note(.readingResumed, of: stream)
        giveBack(stream.owed, of: stream)
        stream.owed = 0
        writeSoon()
        passOnHeld(of: stream)
    }

    override func suspensionChanged(of exchange: Exchange) {
        guard let stream = stream(of: exchange), stream.isSuspended != exchange.isSuspended,
            stream.machine.state != .leaving
        else { return }
        stream.isSuspended.toggle()
        note(stream.isSuspended ? .suspended : .unsuspended, of: stream)
        guard !stream.isSuspended else { return }
        // In a turn of its own: the consumer may be in the middle of a call.
        let bound = LoopBound((self, stream), on: loop)
        loop.executeOnLoop {
            let (connection, stream) = bound.value
            guard connection.isCarrying(stream), !stream.isSuspended else { return }
            connection.enqueue(stream)
            connection.tellHeldHeads(of: stream)
            connection.passOnHeld(of: stream)
        }
    }

    override func priorityChanged(of exchange: Exchange) {
        guard let stream = stream(of: exchange) else { return }
        let urgency = Urgency(priority: exchange.priority)
        guard urgency != stream.urgency else { return }
        if stream.isQueued {
            senders.remove(stream, as: stream.urgency)
            senders.append(stream, as: urgency)
        }
        stream.urgency = urgency
        guard stream.toldUrgency != nil else { return }
        reprioritised.append(stream)
        writeSoon()
    }

    // MARK: the end of an exchange

    /// Something went wrong on our side, or the owner takes it back: the stream ends, and the connection goes on.
    func fail(_ stream: HTTP2Stream, _ error: TransportError) {
        perform(stream.machine.handle(.cancel), on: stream, .failure(error))
    }

    /// `result` is what the exchange ends with; one that has all it wanted does so without what went wrong later.
    func perform(
        _ actions: StreamExchangeMachine.Actions, on stream: HTTP2Stream,
        _ result: Result<Fields, TransportError>
    ) {
        guard actions.exchange != .keep, isCarrying(stream) else { return }
        if case .failure = result { keepGathered(of: stream) }
        var result = actions.exchange == .succeed ? result.flatMapError { _ in .success(Fields()) } : result
        if let error = stream.takenBack { result = .failure(error) }
        remove(stream)
        // Nothing is sent where both sides have ended.
        machine.reset(stream.id, .cancel)
        writeSoon()
        endings += 1
        // First: whoever hears of the end and asks for more finds it at hand.
        giveBack()
        tell(result, of: stream)
        endings -= 1
        closeIfDue()
    }

    /// The peer has not worked on the stream: its exchange is sent again, if that can be done.
    func sendAgain(_ stream: HTTP2Stream, _ error: TransportError) {
        if stream.tunnel != nil { return fail(stream, error) }
        if let error = stream.takenBack { return fail(stream, error) }
        guard stream.machine.handle(.broken).exchange == .fail else {
            return perform(.init(exchange: .succeed), on: stream, .failure(error))
        }
        remove(stream)
        endings += 1
        giveBack()
        pool.replayOrFail(
            stream.exchange, stream.metrics, named(error, for: stream.exchange),
            requestBegan: stream.requestBegan, connectionWasReused: stream.metrics.isReused, isUntouched: true
        )
        endings -= 1
        closeIfDue()
    }

    /// Forgets a stream: its timers, its place, and what the windows have not got back.
    private func remove(_ stream: HTTP2Stream) {
        stream.metrics.responseEnd = loop.now
        streams.remove(stream.id)
        stream.isForgotten = true
        if let timer = stream.deadlineTimer?.token { loop.cancel(timer) }
        if let timer = stream.continueTimer { loop.cancel(timer) }
        if let timer = stream.sendPaceTimer { loop.cancel(timer) }
        if let timer = stream.receivePaceTimer { loop.cancel(timer) }
        drop(stream)
        grown -= stream.window.size - streamWindow
        if !mayWrite, machine.waitingCount > Self.mostWaiting { pool.drains(id) }
    }

    /// Nobody takes what is held of a stream any more.
    func drop(_ stream: HTTP2Stream) {
        guard stream.unconsumed > 0 else { return }
        machine.consumed(stream.unconsumed, on: stream.id)
        stream.held = HeldContent()
        stream.owed = 0
    }

    /// The consumer has taken so much of a stream, whose window grows if that was fast, up to what all streams together may
    /// have.
    func giveBack(_ count: Int, of stream: HTTP2Stream) {
        let growth = stream.window.took(
            count, at: loop.now, isCaughtUp: stream.held.isEmpty && stream.heldEnd == nil,
            most: min(Self.largestStreamWindow - stream.window.size, Self.connectionWindow / 2 - grown))
        if growth > 0 {
            grown += growth
            machine.raiseWindow(of: stream.id, to: stream.window.size)
        }
        machine.consumed(count, on: stream.id)
    }

    private func giveBack() {
        guard life == .open else { return }
        pool.finished(id, isPersonal ? .notReusable : .reusable(KeepAlive()), at: loop.now)
        if life == .open, streams.isEmpty { beginProbes() }
    }

    // MARK: the end of the connection

    override func close() {
        guard life == .open else { return }
        // Whoever is told of its exchange's end is told before the pool hears that the connection is gone.
        if endings > 0 {
            isCloseDue = true
            return
        }
        sendAwaiting()
        machine.leave()
        end(.shutDown)
    }

    override func abort(_ error: TransportError) {
        guard life != .closed else { return }
        machine.leave()
        let broken = streams.ordered
        shut(outliving: false)
        for stream in broken where isCarrying(stream) {
            keepGathered(of: stream)
            guard isCarrying(stream) else { continue }
            remove(stream)
            tell(.failure(error), of: stream)
        }
        failAwaiting(error)
        pool.lost(id)
    }

    private func closeIfDue() {
        guard endings == 0 else { return }
        if life == .outliving, streams.isEmpty {
            life = .closed
            pool.lost(id)
        } else if isCloseDue {
            isCloseDue = false
            close()
        }
    }

    /// The connection has ended. What has come is still passed on, and the end behind it; what may be sent again is sent
    /// again; everything else fails.
    func end(_ error: TransportError) {
        guard life == .open else { return }
        failure = error
        for stream in streams.ordered where stream.holdsResponse && stream.heldEnd == nil {
            stream.heldEnd = .broken(error)
        }
        let broken = streams.ordered.filter { $0.heldEnd == nil }
        shut(outliving: broken.count < streams.count)
        // First: whoever hears of an end and asks for more is lent another one.
        pool.drains(id)
        endings += 1
        for stream in broken where isCarrying(stream) {
            if let error = stream.takenBack {
                fail(stream, error)
                continue
            }
            keepGathered(of: stream)
            guard isCarrying(stream) else { continue }
            guard stream.machine.handle(.broken).exchange == .fail else {
                remove(stream)
                stream.exchange.end(.success(Fields()), stream.metrics)
                continue
            }
            remove(stream)
            let error = truncated(stream, error)
            if let tunnel = stream.tunnel {
                tunnel.ended(error)
                continue
            }
            pool.replayOrFail(
                stream.exchange, stream.metrics, named(error, for: stream.exchange),
                requestBegan: stream.requestBegan, connectionWasReused: stream.isOnUsedConnection)
        }
        failAwaiting(error)
        endings -= 1
        // Last: the pool's end is announced when the last connection is lost.
        if life == .closed { return pool.lost(id) }
        closeIfDue()
    }

    /// A close without a word cuts each response where it stands.
    func truncated(_ stream: HTTP2Stream, _ error: TransportError) -> TransportError {
        guard case .http(let host, let port, .truncated(.beforeHead)) = error, stream.metrics.version != nil
        else { return error }
        let received = stream.metrics.responseContentBytes
        let place: HTTPError.Truncation =
            if let expected = stream.expectedLength {
                .insideBody(received: received, expected: expected)
            } else {
                .insideBodyOfUnknownLength(received: received)
            }
        return .http(host: host, port: port, .truncated(place))
    }

    /// Says the last words, if that goes at once, and closes the socket.
    private func shut(outliving: Bool) {
        sayLastWords()
        life = outliving ? .outliving : .closed
        if let settingsTimer { loop.cancel(settingsTimer) }
        settingsTimer = nil
        if let timer = livenessTimer.take() { loop.cancel(timer) }
        if let registration { loop.deregister(registration) }
        registration = nil
        channel.close()
        mayRead = false
        output = []
        outputStart = 0
        senders = SenderQueue()
        stalled = []
        reprioritised = []
        beginners = []
        batch = []
    }

    // MARK: what the peer says of the connection

    /// The peer allows so many streams.
    func capacityChanged(_ streams: Int?) {
        // One that serves one exchange says nothing about others.
        guard !isPersonal else { return }
        let capacity = min(streams ?? .max, mostStreams)
        guard capacity != toldCapacity else { return }
        toldCapacity = capacity
        pool.capacityChanged(id, to: capacity)
    }

    func settingsAcknowledged() {
        guard machine.settingsWaitSince == nil, let timer = settingsTimer.take() else { return }
        loop.cancel(timer)
    }

    private func settingsAreLate() {
        guard life == .open, machine.settingsWaitSince != nil else { return }
        machine.fail(.settingsTimeout)
        end(http2(HTTP2Failure(.settingsTimeout)))
    }

    func http2(_ failure: HTTP2Failure) -> TransportError {
        .http2(host: route.host, port: route.port, failure)
    }

    /// Writes at the end of this turn, when all that it brings is there to be written.
    func writeSoon() {
        guard !isTurnEndDue else { return }
        isTurnEndDue = true
        loop.atTurnEnd(self)
    }
}

extension HTTP2Connection: TurnEndListener {
    func turnEnded() {
        isTurnEndDue = false
        var leaving: [HTTP2Stream] = []
        swap(&leaving, &leavers)
        for stream in leaving { perform(stream.machine.handle(.turnEnded), on: stream, .success(Fields())) }
        write()
    }
}

extension HTTP2Connection: LoopChannel {
    func channelReady(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: .closed) { peerIsClosing = true }
        let isReadable = !readiness.isDisjoint(with: [.readable, .closed])
        if isReadable { channel.becameReadable(isClosing: peerIsClosing) }
        if readiness.contains(.writable), !mayWrite || channel.hasPendingOutput {
            mayWrite = true
            write()
        }
        if isReadable, life == .open {
            mayRead = true
            read()
        }
    }

    func loopWillClose() { abort(.shutDown) }
}
