// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// One client's connection: moves bytes between its channel and its conversation, in bounded memory.
///
/// It stays on its loop. It reads into one buffer of limited size and stops reading while that is full; the conversation
/// produces more output only while less than `pendingOutputLimit` waits to be sent. Output is sent in one call per turn: a small
/// response, or several of them, is one write.
final class ServerConnection: LoopChannel, TimerTarget {
    private enum Phase {
        /// The channel performs a handshake before there is content.
        case opening
        case open
        /// The conversation has ended: the remaining output is sent, then the connection ends.
        case finishing(Ending)
        /// The origin's half is closed. At most `remaining` bytes of input are read and dropped, so that closing does not cause a
        /// reset that discards unread output.
        case lingering(remaining: Int)
        case closed
    }

    /// The way in which a connection ends when all output has been sent.
    enum Ending {
        /// With the protocol's end (close_notify). `lingering`: the client may still be sending.
        case orderly(lingering: Bool)
        /// By closing the socket only.
        case abandoned
    }

    /// The way in which the channel is closed.
    private enum Closing { case orderly, abandoned, reset }

    /// The number of bytes of pending output at which the conversation stops producing more.
    static let pendingOutputLimit = 64 << 10
    private static let inputSize = 16 << 10
    /// The limits of lingering.
    private static let lingerBytes = 16 << 20
    private static let lingerTime = Duration.seconds(2)
    /// The number of turns after which other connections of the loop get a turn.
    private static let maximumTurns = 32

    /// The tags of `timer`.
    private enum TimerTag {
        static let idle = 0
        static let linger = 1
    }

    let number: Int
    let loop: EventLoop
    let service: OriginService
    let peer: SocketAddress?

    private var channel: any ClientChannel
    private var registration: Registration?
    private var phase = Phase.opening
    private var conversation: any Conversation
    private let connections: LoopConnections

    private var input = InputBuffer()
    /// Whether the channel may have input, as far as is known.
    private var isReadable = true
    private var hasSeenHangUp = false
    /// Whether the client has closed its half.
    private(set) var hasPeerEnded = false

    /// The output that waits to be sent; conversations append to it.
    var output: [UInt8] = []
    private var outputStart = 0
    /// A body that is sent after `output`, without being copied into it.
    private var largeBody: [UInt8] = []
    private var largeBodyStart = 0
    private var isWritable = true

    private var isRunningTurns = false
    /// The number of waits that have begun: only the latest one resumes the conversation.
    private var waitCount = 0
    private var waitTimer: EventLoop.TimerToken?
    private var timer: EventLoop.TimerToken?
    private var lastActivity: Instant

    /// Creates a connection on `loop`, which must be the current loop.
    init(
        _ channel: any ClientChannel, peer: SocketAddress?, number: Int, service: OriginService,
        connections: LoopConnections, loop: EventLoop, conversation: any Conversation
    ) {
        self.channel = channel
        self.peer = peer
        self.number = number
        self.service = service
        self.connections = connections
        self.loop = loop
        self.conversation = conversation
        lastActivity = loop.now
    }

    /// Registers the channel and starts the connection.
    func start() {
        do throws(Errno) {
            registration = try channel.register(with: loop, for: self)
        } catch {
            return close(.orderly)
        }
        timer = loop.schedule(after: service.configuration.idleTimeout, self, tag: TimerTag.idle)
        runTurns()
    }

    // MARK: for conversations

    /// Whether more output may be produced.
    var hasOutputRoom: Bool { largeBody.isEmpty && output.count - outputStart < Self.pendingOutputLimit }

    /// Whether the kernel has accepted all output.
    var isFlushed: Bool { hasSentAll && !channel.hasPendingOutput }

    /// Whether the channel has accepted all output.
    private var hasSentAll: Bool { outputStart == output.count && largeBody.isEmpty }

    /// The outcome of the handshake; nil without one.
    var tls: OriginHandshake? { channel.tls }

    /// Whether the client has requested a TLS renegotiation, which was refused.
    var hasRefusedRenegotiation: Bool { channel.hasRefusedRenegotiation }

    /// The number of received bytes that have not been consumed.
    var inputCount: Int { input.count }

    /// Whether the input buffer has space.
    private var hasInputRoom: Bool { inputCount < Self.inputSize }

    /// Calls `body` with the received bytes.
    func withInput<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // A copy of the buffer, because `body` may consume bytes.
        let snapshot = input
        return try snapshot.withOctets(body)
    }

    /// Removes bytes from the front of the input.
    func consume(_ count: Int) { input.consume(count) }

    /// Sends a body after the output.
    func send(largeBody body: [UInt8]) {
        precondition(largeBody.isEmpty, "one body at a time")
        largeBody = body
        largeBodyStart = 0
    }

    /// Begins a wait, and returns at once: the conversation is resumed after `delay`, unless another wait has begun by then.
    func wait(for delay: Duration) {
        waitCount += 1
        let number = waitCount
        waitTimer = loop.schedule(after: delay) { [weak self] reason in
            guard reason == .due else { return }
            self?.endWait(number)
        }
    }

    /// Begins a wait, and returns at once: the conversation is resumed when the gate opens, unless another wait has begun by
    /// then.
    func wait(for gate: Gate) {
        waitCount += 1
        let number = waitCount
        let loop = loop
        let bound = LoopBound(WeakConnection(self), on: loop)
        gate.whenOpen {
            // A loop that has shut down has closed its connections.
            _ = loop.execute { bound.value.connection?.endWait(number) }
        }
    }

    /// Runs `body` after `delay`, and then the conversation, if the connection is still open.
    func call(after delay: Duration, _ body: @escaping () -> Void) {
        _ = loop.schedule(after: delay) { [weak self] reason in
            if reason == .due { self?.runCallback(body) }
        }
    }

    /// Runs `body` when the gate opens, and then the conversation, if the connection is still open.
    func call(when gate: Gate, _ body: @escaping () -> Void) {
        let loop = loop
        let bound = LoopBound((connection: WeakConnection(self), body: body), on: loop)
        gate.whenOpen {
            // A loop that has shut down has closed its connections.
            _ = loop.execute { bound.value.connection.connection?.runCallback(bound.value.body) }
        }
    }

    /// Runs a body whose delay or gate `call` has waited for.
    private func runCallback(_ body: () -> Void) {
        guard case .open = phase else { return }
        lastActivity = loop.now
        body()
        runTurns()
    }

    /// Ends the wait with this number.
    private func endWait(_ number: Int) {
        guard number == waitCount, case .open = phase else { return }
        waitTimer = nil
        lastActivity = loop.now
        conversation.resume(self)
        runTurns()
    }

    /// Replaces the conversation. Received bytes that have not been consumed are the new one's input.
    func replaceConversation(with other: any Conversation) { conversation = other }

    /// Ends the connection when all output has been sent. `lingering`: the client may still be sending.
    func finish(lingering: Bool) { finish(.orderly(lingering: lingering)) }

    /// Ends the connection when all output has been sent.
    func finish(_ ending: Ending) {
        guard case .open = phase else { return }
        phase = .finishing(ending)
    }

    /// Starts TLS. Received bytes that have not been consumed are the beginning of the handshake. Returns false if TLS is not
    /// configured, or OpenSSL fails.
    func startTLS(cutting cut: WireCut?) -> Bool {
        guard let context = service.tlsContext(forConnection: number) else { return false }
        var initialBytes: [UInt8] = []
        input.withOctets { initialBytes.append($0) }
        consume(inputCount)
        do throws(TLSError) {
            channel = try TLSChannel(
                context, over: channel, initialBytes: initialBytes, cut: cut, connectionNumber: number,
                handshakeRecord: service.handshakeRecord)
        } catch {
            return false
        }
        phase = .opening
        return true
    }

    /// Calls `body` with the TLS channel. Returns false without TLS, or if `body` throws.
    func performOnTLS(_ body: (TLSChannel) throws(Errno) -> Void) -> Bool {
        guard let channel = channel as? TLSChannel else { return false }
        do throws(Errno) { try body(channel) } catch { return false }
        return true
    }

    /// Closes the origin's half. Called when all output has been sent.
    func closeOwnHalf() { try? channel.shutdownWrite() }

    /// Closes the connection at once with a reset.
    func reset() { close(.reset) }

    // MARK: the loop

    func channelReady(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: [.failed, .hungUp]), !readiness.contains(.readable) {
            return close(.orderly)
        }
        if !readiness.isDisjoint(with: .closed) { hasSeenHangUp = true }
        if !readiness.isDisjoint(with: [.readable, .peerClosed]) { isReadable = true }
        if readiness.contains(.writable) { isWritable = true }
        runTurns()
    }

    func loopWillClose() { close(.orderly) }

    func timerEnded(tag: Int, reason: TimerReason) {
        timer = nil
        guard reason == .due else { return }
        let isOpening = if case .opening = phase { true } else { false }
        if !isOpening, !conversation.awaitsClient { lastActivity = loop.now }
        let deadline = lastActivity.advanced(by: service.configuration.idleTimeout)
        guard tag == TimerTag.idle, loop.now < deadline else { return close(.orderly) }
        timer = loop.schedule(at: deadline, self, tag: TimerTag.idle)
    }

    /// Closes the connection at the origin's shutdown, on the loop.
    func shutDown() { close(.orderly) }

    /// Runs turns until there is nothing to do but wait.
    private func runTurns() {
        guard !isRunningTurns else { return }
        isRunningTurns = true
        defer { isRunningTurns = false }
        for _ in 0..<Self.maximumTurns {
            guard runTurn() else { return }
        }
        // Gives other connections a turn; otherwise a client as fast as this loop would occupy it.
        loop.executeOnLoop { [weak self] in self?.runTurns() }
    }

    /// Reads, advances the conversation, and sends, once each. Returns false if there is nothing to do but wait.
    private func runTurn() -> Bool {
        switch phase {
        case .opening: return establish()
        case .open:
            var progress = false
            if conversation.wantsInput, receive() { progress = true }
            guard case .open = phase else { return progress }
            if conversation.advance(self) { progress = true }
            if flush() { progress = true }
            return progress
        case .finishing(let ending):
            if flush() { return true }
            guard isFlushed else { return false }
            switch ending {
            case .orderly(let lingering):
                if channel.endContent() { return true }
                if lingering, !hasPeerEnded {
                    linger()
                    return true
                }
                dropReceivedBytes()
                close(.orderly)
            case .abandoned:
                dropReceivedBytes()
                close(.abandoned)
            }
            return false
        case .lingering(let remaining):
            if channel.hasPendingOutput { _ = flush() }
            guard case .lingering = phase else { return false }
            consume(inputCount)
            let progress = receive()
            guard case .lingering = phase else { return false }
            phase = .lingering(remaining: remaining - inputCount)
            if hasPeerEnded || remaining <= 0 {
                close(.orderly)
                return false
            }
            return progress
        case .closed:
            return false
        }
    }

    /// Continues the handshake. Returns false while it waits for the client.
    private func establish() -> Bool {
        do throws(Errno) {
            guard try channel.establish() else { return false }
        } catch {
            return fail()
        }
        phase = .open
        lastActivity = loop.now
        // The handshake does not report in which direction it would block.
        isReadable = true
        isWritable = true
        return true
    }

    /// Closes the origin's half and waits for the client to close its own.
    private func linger() {
        try? channel.shutdownWrite()
        phase = .lingering(remaining: Self.lingerBytes)
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(after: Self.lingerTime, self, tag: TimerTag.linger)
    }

    /// Ends the connection after an error of the channel. Returns true if it lingers, so that the client can read the alert.
    private func fail() -> Bool {
        let mayLinger =
            switch phase {
            case .opening, .open, .finishing: channel.hasSentAlert
            case .lingering, .closed: false
            }
        guard mayLinger else {
            close(.orderly)
            return false
        }
        output = []
        outputStart = 0
        largeBody = []
        largeBodyStart = 0
        isReadable = true
        linger()
        return true
    }

    /// Reads from the channel, if the buffer has space. Returns false if nothing was received.
    private func receive() -> Bool {
        guard isReadable, !hasPeerEnded, hasInputRoom else { return false }
        let room = input.makeRoom(upTo: Self.inputSize)
        var outcome = ReadOutcome.wouldBlock
        do throws(Errno) {
            try input.append(upTo: room) { free throws(Errno) in
                outcome = try channel.receive(into: &free)
            }
            switch outcome {
            case .bytes(let count):
                // A short read has emptied the socket, unless the end of the stream is still to be read.
                if channel.shortReceiveEmptiesSocket, count < room, !hasSeenHangUp { isReadable = false }
                service.counts.add(received: count)
                if service.byteRecord.isEnabled {
                    input.withOctets { service.byteRecord.add($0.extracting(last: count), of: number) }
                }
                lastActivity = loop.now
                return true
            case .wouldBlock:
                isReadable = false
                return false
            case .end:
                hasPeerEnded = true
                return true
            }
        } catch {
            return fail()
        }
    }

    /// Empties the kernel's receive buffer, because closing a socket with unread bytes resets the connection. Bytes that arrive
    /// later still cause a reset.
    private func dropReceivedBytes() {
        for _ in 0..<Self.maximumTurns {
            consume(inputCount)
            guard receive() else { return }
        }
    }

    /// Sends pending output. Returns false if there is none, or the channel would block.
    private func flush() -> Bool {
        guard isWritable, !isFlushed else { return false }
        do throws(Errno) {
            switch try sendPieces() {
            case .bytes(let count):
                let fromOutput = min(count, output.count - outputStart)
                service.counts.add(sent: count)
                outputStart += fromOutput
                largeBodyStart += count - fromOutput
                lastActivity = loop.now
            case .wouldBlock:
                isWritable = false
                return false
            }
        } catch {
            return fail()
        }
        if outputStart == output.count {
            outputStart = 0
            output.removeAll(keepingCapacity: output.capacity <= 2 * Self.pendingOutputLimit)
        } else if outputStart >= Self.pendingOutputLimit {
            output.removeFirst(outputStart)
            outputStart = 0
        }
        if !largeBody.isEmpty, largeBodyStart == largeBody.count {
            largeBody = []
            largeBodyStart = 0
        }
        return true
    }

    /// Sends as much output as possible. A separate method, so that its references to the arrays are released before they are
    /// emptied.
    private func sendPieces() throws(Errno) -> WriteOutcome {
        let (output, largeBody) = (output, largeBody)
        let first = output.span.extracting(outputStart...)
        let second = largeBody.span.extracting(largeBodyStart...)
        return try first.isEmpty ? channel.send(second, first) : channel.send(first, second)
    }

    private func close(_ closing: Closing) {
        if case .closed = phase { return }
        phase = .closed
        if let registration { loop.deregister(registration) }
        registration = nil
        switch closing {
        case .orderly: channel.close()
        case .abandoned: channel.closeWithoutNotify()
        case .reset: channel.reset()
        }
        if let timer { loop.cancel(timer) }
        if let waitTimer { loop.cancel(waitTimer) }
        timer = nil
        waitTimer = nil
        service.counts.countClosed()
        connections.remove(self)
    }
}

/// A weak reference, so that a gate does not keep waiting connections alive.
private final class WeakConnection {
    weak var connection: ServerConnection?

    init(_ connection: ServerConnection) { self.connection = connection }
}
