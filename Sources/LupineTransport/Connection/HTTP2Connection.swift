// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// One HTTP/2 connection, which carries many concurrent exchanges. It drives an `HTTP2Machine`, on its loop.
///
/// It moves bytes between the channel, the machine and the exchanges, runs each exchange's time-outs, and tells the pool how
/// many streams it may carry and when it accepts no more. An error of one exchange ends its stream. An error of the connection
/// ends all streams, and the pool sends those exchanges again that the peer has not processed.
///
/// The connection always reads. If a consumer pauses, its content waits in `HTTP2Stream.heldContent`, and only the window of its
/// stream closes. The connection's window limits how much content waits for all consumers together (`connectionWindow`).
final class HTTP2Connection: Carrier {
    /// The states of the connection.
    enum Life: Hashable {
        case open  // → delivering, closed
        /// The socket is closed. Received parts of responses are still delivered to consumers that pause.
        case delivering  // → closed
        case closed
    }

    var life = Life.open
    var machine: HTTP2Machine
    private(set) var streams = OpenStreams<HTTP2Stream>()

    // MARK: sending

    /// Frames of all streams that wait to be written.
    var output: [UInt8] = []
    /// How many octets of `output` have been written.
    var outputStart = 0
    /// Streams that have something to send.
    var senders = SenderQueue<HTTP2Stream>()
    /// Streams that could not send because the connection's window was closed, in the order in which they tried.
    var stalledStreams: [HTTP2Stream] = []
    /// Streams whose new priority must be sent to the peer.
    var reprioritisedStreams: [HTTP2Stream] = []
    /// Streams whose request head is still in the machine, and not in `output`.
    var openingStreams: [HTTP2Stream] = []
    /// Streams with frames in `output`.
    var streamsInOutput: [HTTP2Stream] = []
    /// The error of a failed write. The connection sends nothing more, and still reads what the peer has sent.
    var writeFailure: TransportError?
    /// Whether a loop job that continues to write is scheduled.
    var isWriteDue = false
    /// Whether the loop will call `turnEnded` at the end of this turn.
    private var isTurnEndDue = false

    // MARK: receiving

    /// Bytes of the origin that were read together with the proxy's response, until `didOpen` handles them.
    private var firstOriginBytes: [UInt8]
    /// Whether `read` is running; a call from inside it returns at once.
    var isReading = false
    /// Whether a loop job that continues to read is scheduled.
    var isReadDue = false
    /// The final head of a response, until the next event shows whether its stream ends with it.
    var pendingHead: (stream: HTTP2Stream, head: ResponseHead)?
    /// The octets received since the last event of the machine. If the next event is a head, this is the size of its frames.
    var eventOctets = 0
    /// Streams that have received input since `reportInputExhausted` last called their sinks.
    var streamsWithInput: [HTTP2Stream] = []
    /// Streams whose consumers need no more; reset at the end of the turn.
    var skippedStreams: [HTTP2Stream] = []
    /// The error code of the peer's GOAWAY.
    var goAwayCode: HTTP2ErrorCode?
    /// Whether a response has arrived on this connection.
    var wasAnswered = false
    /// WebSocket exchanges that wait for the peer's settings.
    var exchangesAwaitingSettings: [Exchange] = []

    /// Ends the connection if the peer does not acknowledge the settings in time.
    private var settingsTimer: EventLoop.TimerToken?
    /// Whether a sink's `begins` is running.
    private var isBeginning = false
    /// The nesting depth of calls that end exchanges. While it is not 0, `close` only sets `isClosePending`.
    var completionDepth = 0
    /// Whether `close` was called while `completionDepth` was not 0.
    var isClosePending = false
    /// The capacity that was last reported to the pool; nil before the peer's settings have arrived.
    private var reportedCapacity: Int?
    /// How many exchanges the pool may lease the connection to before the peer's settings arrive.
    private let initialCapacity: Int
    /// The limit of concurrent streams, if the peer allows more.
    private let streamLimit: Int
    /// The initial window of a stream, small enough that all streams together fit into the connection's window.
    private let streamWindow: Int
    /// By how much the windows of all open streams together exceed their initial size.
    private var windowGrowth = 0
    /// The time at which bytes last arrived; initially when the connection was established.
    var lastReceived: Instant
    var liveness = LivenessProbe()
    /// The timer for the next check of `liveness`.
    var livenessTimer: EventLoop.TimerToken?
    /// The error that ended the connection. An exchange that begins after the end fails with this error, unless it is replayed.
    var failure: TransportError?

    /// The limit of content that a connection holds for paused consumers, whatever the peer does. Half of it is for the initial
    /// windows of all streams, the other half for the growth of some.
    static let connectionWindow = 32 * 1024 * 1024
    /// The limit of a stream's window, and so of the content that may wait for its consumer.
    static let largestStreamWindow = 8 * 1024 * 1024
    /// How long the peer may take to acknowledge the settings; a peer that does not speak HTTP/2 never does.
    static let settingsTimeout = Interval.seconds(60)
    /// The number of octets that may wait while the kernel accepts none. Beyond it, the connection begins no further stream.
    static let waitingOutputLimit = 256 * 1024
    /// How many times the connection reads, or writes, before it yields to the loop's other connections.
    static let operationsPerTurn = 16

    init(
        _ channel: consuming ByteChannel, _ dialed: DialedChannel, _ id: ConnectionID, limits: ParserLimits,
        pool: ConnectionPool, loop: EventLoop
    ) {
        var settings = HTTP2Machine.defaultSettings
        let limits = Self.limits(limits)
        streamLimit = limits.openStreams
        let streamWindow = min(FlowWindow.initial, Self.connectionWindow / 2 / limits.openStreams)
        settings.initialWindowSize = streamWindow
        // The peer must ignore the priorities of RFC 7540; `Urgency` replaces them (RFC 9218 §2.1).
        settings.noRFC7540Priorities = true
        self.streamWindow = streamWindow
        machine = HTTP2Machine(
            .client, settings: settings, window: Self.connectionWindow, limits: limits,
            at: .nanoseconds(loop.now.nanoseconds))
        initialCapacity = dialed.route.tls?.isBoundToExchange == true ? 1 : limits.openStreamsAtFirst
        firstOriginBytes = dialed.firstOriginBytes
        lastReceived = loop.now
        super.init(channel, dialed, id, pool: pool, loop: loop)
        loop.reassign(dialed.registration, to: self)
    }

    // Tests read `WindowBalance`: each octet received must have been returned to the windows.
    deinit {
        WindowBalance.shared.recordClosed(
            isBalanced: machine.windowsAddUp && windowGrowth == 0 && streams.isEmpty)
    }

    /// Returns the default limits of HTTP/2, with the limits of `parser` for heads.
    private static func limits(_ parser: ParserLimits) -> HTTP2Limits {
        var limits = HTTP2Limits()
        limits.lists.listOctets = parser.headBytes
        limits.lists.fieldCount = parser.fieldCount
        limits.lists.stringOctets = parser.lineBytes
        // A head over its limit fails its stream. Only a head that is far over the limit fails the connection.
        limits.frames.headerBlockOctets = max(limits.frames.headerBlockOctets, 2 * parser.headBytes)
        limits.interimHeads = parser.interimHeads
        return limits
    }

    /// The current time, as a `Duration`, which the machine expects.
    var machineTime: Duration { .nanoseconds(loop.now.nanoseconds) }

    override var capacity: Int { initialCapacity }

    /// Whether the first exchange's own client certificate was presented: the connection carries no other exchange (U-11.20).
    private var isBoundToExchange: Bool { route.tls?.isBoundToExchange == true }

    override func didOpen() {
        guard life == .open else { return }
        startKeepAliveProbes()
        settingsTimer = loop.schedule(at: loop.now + Self.settingsTimeout) { [weak self] reason in
            guard let self, reason == .due else { return }
            settingsTimer = nil
            settingsTimedOut()
        }
        // Sends the connection preface and the settings, which the machine's output contains from the start.
        writeSoon()
        var bytes: [UInt8] = []
        swap(&bytes, &firstOriginBytes)
        handleInput(bytes.span)
        read()
    }

    // MARK: an exchange begins

    override func run(_ exchange: Exchange) {
        loop.preconditionOnLoop()
        var metrics = initialMetrics(of: exchange)
        do throws(TransportError) {
            // False if the owner has suspended the exchange, which is then parked.
            guard try exchange.begin(on: LoopBound<Carrier>(self, on: loop), loop: loop, of: pool) else {
                return decline(exchange)
            }
        } catch { return refuse(exchange, error, metrics) }
        guard life == .open else { return sendElsewhere(exchange, metrics) }
        let isWebSocket = exchange.options.isWebSocket
        // An exchange that is not admitted has been parked or ended.
        if isWebSocket, !admitWebSocket(exchange, metrics) { return }
        let announcement = exchange.content.announcement
        let isEmpty = !isWebSocket && (announcement == .none || announcement == .known(0))
        let waitsForContinue = exchange.options.continueTimeout != nil && !isEmpty && !isWebSocket
        let urgency = Urgency(priority: exchange.priority)
        let openedStream: (id: StreamID, list: HeaderList)?
        do throws(TransportError) {
            openedStream = try openStream(
                for: exchange, announcement, urgency, expectContinue: waitsForContinue, endsStream: isEmpty)
        } catch { return refuse(exchange, attributed(error, to: exchange), metrics) }
        // Nil if only another connection can carry the exchange.
        guard let (id, list) = openedStream else { return sendElsewhere(exchange, metrics) }
        metrics.requestStart = loop.now
        metrics.requestHeadBytes = machine.openingOctets
        let stream = HTTP2Stream(
            id, exchange, metrics, urgency: urgency, window: streamWindow, onUsedConnection: wasAnswered,
            at: loop.now)
        recordUse()
        stream.isEndWritten = isEmpty
        if waitsForContinue { _ = stream.machine.handle(.hold) }
        streams.insert(stream, as: id)
        exchange.streamNumber = id.rawValue
        openingStreams.append(stream)
        pingIfSilent()
        updateDeadlines(.sending, of: stream)
        exchange.observation?.reportLease(metrics, to: exchange.origin, sending: list.lines, at: loop.now)
        notifyOpened(stream)
        isBeginning = true
        exchange.sink.begins(on: loop, over: route.evidence)
        isBeginning = false
        // The sink may have cancelled the exchange.
        guard isCarrying(stream), stream.deferredCancellation == nil else { return }
        if waitsForContinue, let timeout = exchange.options.continueTimeout {
            stream.continueTimer = schedule(.continueWait, of: stream, at: loop.now + timeout)
        } else if isWebSocket {
            // Nothing is sent until the upgrade handler has octets to send.
            stream.feed.state = .awaiting(TunnelSource.shared)
        } else if !isEmpty {
            beginContent(of: stream)
        }
        writeSoon()
    }

    override func returnUnused() { returnToPool() }

    /// Returns an exchange to the pool for another connection, because this one has ended, or because the peer has lowered the
    /// number of streams after the pool leased the connection.
    private func sendElsewhere(_ exchange: Exchange, _ metrics: ExchangeMetrics) {
        let error = attributed(failure ?? http2Error(.refused), to: exchange)
        // This runs in a separate loop job, as in `refuse`: otherwise a long queue of exchanges could overflow the stack.
        loop.executeOnLoop {
            self.returnToPool()
            self.pool.replayOrFail(
                exchange, metrics, error, requestBegan: false, connectionWasReused: metrics.isReused,
                isUnprocessed: true)
        }
    }

    // MARK: calls by exchanges

    /// Returns the stream that carries an exchange; nil if this connection does not carry it.
    private func stream(of exchange: Exchange) -> HTTP2Stream? {
        // If the exchange has moved to another connection, its number is a stream of that connection.
        guard let stream = streams[StreamID(exchange.streamNumber)], stream.exchange === exchange else {
            return nil
        }
        return stream
    }

    /// Whether the stream has not ended.
    func isCarrying(_ stream: HTTP2Stream) -> Bool { !stream.isRemoved }

    override func cancel(_ exchange: Exchange, _ error: TransportError) {
        if let stream = stream(of: exchange) { cancelStream(stream, error) }
    }

    override func skip(_ exchange: Exchange) {
        guard let stream = stream(of: exchange) else { return }
        // `endDelivery` expects a response that is being received, not a paused one.
        _ = stream.machine.handle(.resume)
        guard case .exchanging(_, .receiving) = stream.machine.state else {
            return cancelStream(stream, .cancelled)
        }
        endDelivery(of: stream)
    }

    private func cancelStream(_ stream: HTTP2Stream, _ error: TransportError) {
        guard isBeginning else { return fail(stream, error) }
        // This runs in a separate loop job: the pool may begin another exchange in place of this one. If the sink cancelled each
        // exchange inline, the stack would grow.
        stream.deferredCancellation = error
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
        _ = stream.machine.handle(.resume)  // needs no action
        // No pipe is used: the machine must first remove the frames around the content.
        if let target = exchange.takeFileTarget() { stream.splice = SpliceTransfer(target, usesPipe: false) }
        updateDeadlines(.readingResumed, of: stream)
        // The octets that the consumer answered with `.pause` are returned to the windows only now.
        recordConsumed(stream.withheldCredit, of: stream)
        stream.withheldCredit = 0
        writeSoon()
        deliverHeldContent(of: stream)
    }

    override func suspensionChanged(of exchange: Exchange) {
        guard let stream = stream(of: exchange), stream.isSuspended != exchange.isSuspended,
            stream.machine.state != .skipping
        else { return }
        stream.isSuspended.toggle()
        updateDeadlines(stream.isSuspended ? .suspended : .unsuspended, of: stream)
        guard !stream.isSuspended else { return }
        // This runs in a separate loop job: the caller may be inside a call of the sink.
        let bound = LoopBound((self, stream), on: loop)
        loop.executeOnLoop {
            let (connection, stream) = bound.value
            guard connection.isCarrying(stream), !stream.isSuspended else { return }
            connection.enqueue(stream)
            connection.deliverHeldHeads(of: stream)
            connection.deliverHeldContent(of: stream)
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
        // Nil if the program sets the `Priority` field itself: the peer then receives no update.
        guard stream.sentUrgency != nil else { return }
        reprioritisedStreams.append(stream)
        writeSoon()
    }

    // MARK: the end of an exchange

    /// Removes a stream with its timers, and returns its unconsumed octets to the windows.
    func remove(_ stream: HTTP2Stream) {
        stream.metrics.responseEnd = loop.now
        streams.remove(stream.id)
        stream.isRemoved = true
        if let timer = stream.deadlineTimer?.token { loop.cancel(timer) }
        if let timer = stream.continueTimer { loop.cancel(timer) }
        if let timer = stream.sendPaceTimer { loop.cancel(timer) }
        if let timer = stream.receivePaceTimer { loop.cancel(timer) }
        discardHeldContent(of: stream)
        windowGrowth -= stream.window.size - streamWindow
        // A stream that ends may add a frame to the waiting output. To limit that output, the pool begins no further stream here.
        if !mayWrite, machine.waitingCount > Self.waitingOutputLimit { pool.retireConnection(id) }
    }

    /// Discards the held content of a stream and returns its octets to the windows.
    func discardHeldContent(of stream: HTTP2Stream) {
        guard stream.unconsumedOctets > 0 else { return }
        machine.consumed(stream.unconsumedOctets, on: stream.id)
        stream.heldContent = HeldContent()
        stream.withheldCredit = 0
    }

    /// Records that the consumer has consumed `count` octets, and whether these were the last ones that it was given. The
    /// stream's window grows if the consumer was fast, within the limit for all streams together.
    func recordConsumed(_ count: Int, of stream: HTTP2Stream, isLast: Bool = true) {
        let hasConsumedAll = isLast && stream.heldContent.isEmpty && stream.heldEnd == nil
        let growth = stream.window.recordConsumed(
            count, at: loop.now, hasConsumedAll: hasConsumedAll,
            growthLimit: min(
                Self.largestStreamWindow - stream.window.size, Self.connectionWindow / 2 - windowGrowth))
        if growth > 0 {
            windowGrowth += growth
            machine.raiseWindow(of: stream.id, to: stream.window.size)
        }
        machine.consumed(count, on: stream.id)
    }

    /// Reports to the pool that one exchange has ended.
    func returnToPool() {
        guard life == .open else { return }
        pool.exchangeFinished(on: id, isBoundToExchange ? .notReusable : .reusable(KeepAlive()), at: loop.now)
        if life == .open, streams.isEmpty { startKeepAliveProbes() }
    }

    // MARK: the end of the connection

    override func close() {
        guard life == .open else { return }
        // The close is delayed, because exchanges that are ending must end before the pool learns of the close.
        if completionDepth > 0 {
            isClosePending = true
            return
        }
        submitExchangesAwaitingSettings()
        // Adds a GOAWAY frame to the machine's output; `end` sends it.
        machine.shutDown()
        end(.shutDown)
    }

    override func abort(_ error: TransportError) {
        guard life != .closed else { return }
        machine.shutDown()
        let brokenStreams = streams.ordered
        closeSocket(delivering: false)
        for stream in brokenStreams where isCarrying(stream) {
            finishSplice(of: stream)
            // The sink that `finishSplice` calls may have cancelled the exchange.
            guard isCarrying(stream) else { continue }
            remove(stream)
            reportEnd(.failure(error), of: stream)
        }
        failExchangesAwaitingSettings(error)
        pool.connectionClosed(id)
    }

    /// Sends the last frames, if the kernel accepts them immediately, and closes the socket. With `delivering`, streams still
    /// deliver their held content.
    func closeSocket(delivering: Bool) {
        sendFinalFrames()
        life = delivering ? .delivering : .closed
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
        stalledStreams = []
        reprioritisedStreams = []
        openingStreams = []
        streamsInOutput = []
    }

    // MARK: the peer's settings

    /// Called when the peer's settings have arrived; `streams` is its SETTINGS_MAX_CONCURRENT_STREAMS, nil for no limit.
    func capacityChanged(_ streams: Int?) {
        // The pool uses the limit for later connections to the origin too. A connection for one exchange must not change it.
        guard !isBoundToExchange else { return }
        let capacity = min(streams ?? .max, streamLimit)
        guard capacity != reportedCapacity else { return }
        reportedCapacity = capacity
        pool.capacityChanged(id, to: capacity)
    }

    /// Called when the peer has acknowledged settings. Stops the time-out unless other settings are still unacknowledged.
    func settingsAcknowledged() {
        guard machine.settingsPendingSince == nil, let timer = settingsTimer.take() else { return }
        loop.cancel(timer)
    }

    private func settingsTimedOut() {
        guard life == .open, machine.settingsPendingSince != nil else { return }
        machine.fail(.settingsTimeout)
        end(http2Error(HTTP2Failure(.settingsTimeout)))
    }

    /// Returns the error for a failure of HTTP/2 with this peer.
    func http2Error(_ failure: HTTP2Failure) -> TransportError {
        .http2(host: route.host, port: route.port, failure)
    }

    /// Schedules a write at the end of this turn of the loop, so that all frames of the turn are written together.
    func writeSoon() {
        guard !isTurnEndDue else { return }
        isTurnEndDue = true
        loop.atTurnEnd(self)
    }
}

extension HTTP2Connection: TurnEndListener {
    func turnEnded() {
        isTurnEndDue = false
        var skipped: [HTTP2Stream] = []
        swap(&skipped, &skippedStreams)
        for stream in skipped { perform(stream.machine.handle(.turnEnded), on: stream, .success(Fields())) }
        write()
    }
}

extension HTTP2Connection: LoopChannel {
    func channelReady(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: .closed) { peerIsClosing = true }
        let isReadable = !readiness.isDisjoint(with: [.readable, .closed])
        if isReadable { channel.becameReadable(isClosing: peerIsClosing) }
        // The poller reports a socket that was writable before again, with other events: then there is nothing to continue.
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
