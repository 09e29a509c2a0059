// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// One client's connection: moves bytes between its channel and its conversation, in bounded memory.
///
/// The connection stays on its loop. It reads into one buffer of limited size, and stops reading while the buffer is full. The
/// conversation produces more output only while less than `pendingOutputLimit` bytes wait to be sent. A turn of the connection
/// (several may run in one turn of its loop) reads, advances the conversation and sends, once each. Output is sent in one system
/// call per turn, so a small response, or several of them, is one write.
final class ServerConnection: LoopChannel, TimerTarget {
    private enum Phase {
        /// The channel performs the TLS handshake, if there is one.
        case opening
        /// The conversation receives input and produces output.
        case open
        /// The conversation has ended. The connection sends the remaining output, and then ends.
        case finishing(Ending)
        /// The origin's half is closed. The connection reads and drops at most `remainingBytes` of input: closing a socket with
        /// unread input resets the connection, which discards output that the client has not read.
        case lingering(remainingBytes: Int)
        case closed
    }

    /// The way in which a connection ends when all output has been sent.
    enum Ending {
        /// Closes the connection, over TLS after a close_notify. With `lingering`, the connection first closes the origin's half,
        /// and drops what the client still sends.
        case orderly(lingering: Bool)
        /// Closes the socket without a close_notify.
        case withoutNotify
    }

    /// The way in which the channel is closed.
    private enum Closing { case orderly, withoutNotify, reset }

    /// The number of bytes of pending output at which the conversation stops producing more.
    static let pendingOutputLimit = 64 << 10
    /// The size in bytes of the input buffer.
    private static let inputSize = 16 << 10
    /// The maximum number of bytes that a lingering connection drops, and the maximum time for which it lingers.
    private static let lingerBytes = 16 << 20
    private static let lingerTime = Duration.seconds(2)
    /// The number of the connection's turns in a row after which the loop serves other connections.
    private static let maximumTurns = 32

    /// The tags of `timer`, which tell its two purposes apart.
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
    /// Whether the channel may have input: false after `receive` would have blocked, until epoll reports new input.
    private var isReadable = true
    /// Whether epoll has reported that the client has closed its half, or the connection has failed.
    private var hasSeenHangUp = false
    /// Whether the end of the client's stream has been read.
    private(set) var hasPeerEnded = false

    /// The output that waits to be sent. Conversations append to it.
    var output: [UInt8] = []
    /// The index of the first byte of `output` that has not been sent.
    private var outputStart = 0
    /// A large body that is sent after `output`. It is not copied into `output`.
    private var largeBody: [UInt8] = []
    private var largeBodyStart = 0
    /// Whether the channel may accept output: false after `send` would have blocked, until epoll reports space.
    private var isWritable = true

    /// Whether `runTurns` is being executed, so that a nested call has no effect.
    private var isRunningTurns = false
    /// The number of waits that have begun. Only the latest one resumes the conversation.
    private var waitCount = 0
    /// The timer of the latest wait for a delay.
    private var waitTimer: EventLoop.TimerToken?
    /// The timer of the idle timeout, or of lingering.
    private var timer: EventLoop.TimerToken?
    /// The time of the last input, output or end of a wait, from which the idle timeout counts.
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
    var isFlushed: Bool { outputStart == output.count && largeBody.isEmpty && !channel.hasPendingOutput }

    /// The outcome of the TLS handshake; nil without TLS.
    var tls: OriginHandshake? { channel.tls }

    /// Whether the client has requested a TLS renegotiation, which OpenSSL has refused.
    var hasRefusedRenegotiation: Bool { channel.hasRefusedRenegotiation }

    /// The number of received bytes that have not been consumed.
    var inputCount: Int { input.count }

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

    /// Sends a body after the output, without copying it. Until it is sent, `hasOutputRoom` is false.
    func send(largeBody body: [UInt8]) {
        precondition(largeBody.isEmpty, "one body at a time")
        largeBody = body
        largeBodyStart = 0
    }

    /// Begins a wait, and returns at once. After `delay` the conversation is resumed, unless another wait has begun by then.
    func wait(for delay: Duration) {
        waitCount += 1
        let waitNumber = waitCount
        waitTimer = loop.schedule(after: delay) { [weak self] reason in
            guard reason == .due else { return }
            self?.endWait(waitNumber)
        }
    }

    /// Begins a wait, and returns at once. The open gate resumes the conversation, unless another wait has begun by then.
    func wait(for gate: Gate) {
        waitCount += 1
        let waitNumber = waitCount
        let loop = loop
        // Any thread may open the gate, but only the loop may use the connection.
        let bound = LoopBound(WeakConnection(self), on: loop)
        gate.whenOpen {
            // A loop that refuses the work has shut down and closed its connections.
            _ = loop.execute { bound.value.connection?.endWait(waitNumber) }
        }
    }

    /// Calls `body` after `delay` and advances the conversation, if the connection is still open then. Unlike `wait`, any number
    /// of calls may wait at once.
    func call(after delay: Duration, _ body: @escaping () -> Void) {
        // The timer is never cancelled, so its token is not needed.
        _ = loop.schedule(after: delay) { [weak self] reason in
            if reason == .due { self?.runCallback(body) }
        }
    }

    /// Calls `body` when the gate is open and advances the conversation, if the connection is still open then.
    func call(when gate: Gate, _ body: @escaping () -> Void) {
        let loop = loop
        let bound = LoopBound((weakConnection: WeakConnection(self), body: body), on: loop)
        gate.whenOpen {
            // A loop that refuses the work has shut down and closed its connections.
            _ = loop.execute { bound.value.weakConnection.connection?.runCallback(bound.value.body) }
        }
    }

    /// Calls the closure of a `call` whose delay has passed or whose gate is open.
    private func runCallback(_ body: () -> Void) {
        guard case .open = phase else { return }
        lastActivity = loop.now
        body()
        runTurns()
    }

    /// Resumes the conversation after the wait with this number, unless a later wait has begun.
    private func endWait(_ waitNumber: Int) {
        guard waitNumber == waitCount, case .open = phase else { return }
        waitTimer = nil
        lastActivity = loop.now
        conversation.resume(self)
        runTurns()
    }

    /// Replaces the conversation. Received bytes that have not been consumed are the input of the new conversation.
    func replaceConversation(with other: any Conversation) { conversation = other }

    /// Ends the connection when all output has been sent. With `lingering`, drops what the client still sends.
    func finish(lingering: Bool) { finish(.orderly(lingering: lingering)) }

    /// Ends the connection when all output has been sent.
    func finish(_ ending: Ending) {
        guard case .open = phase else { return }
        phase = .finishing(ending)
    }

    /// Starts TLS over the current channel, and sends its ciphertext up to `cut` (nil: all). Received bytes that have not been
    /// consumed are the beginning of the handshake. Returns false if TLS is not configured, or OpenSSL fails.
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

    /// Closes the origin's half of the connection. All output must have been sent. Ignores the error of a failed socket.
    func closeOwnHalf() { try? channel.shutdownWrite() }

    /// Closes the connection at once with a reset.
    func reset() { close(.reset) }

    // MARK: the loop

    func channelReady(_ readiness: Readiness) {
        let hasSocketEnded = !readiness.isDisjoint(with: [.failed, .hungUp])
        // A socket that has ended may still have input to read.
        if hasSocketEnded, !readiness.contains(.readable) { return close(.orderly) }
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
        // A handshake waits for the client, whatever the conversation says.
        if !isOpening, !conversation.awaitsClient { lastActivity = loop.now }
        let deadline = lastActivity.advanced(by: service.configuration.idleTimeout)
        // The time for lingering is over, or the idle timeout has passed.
        guard tag == TimerTag.idle, loop.now < deadline else { return close(.orderly) }
        timer = loop.schedule(at: deadline, self, tag: TimerTag.idle)
    }

    /// Closes the connection at the origin's shutdown.
    func shutDown() { close(.orderly) }

    /// Runs turns until the connection has to wait for the client, a timer or a gate.
    private func runTurns() {
        guard !isRunningTurns else { return }
        isRunningTurns = true
        defer { isRunningTurns = false }
        for _ in 0..<Self.maximumTurns {
            guard runTurn() else { return }
        }
        // The loop serves other connections first; otherwise a client as fast as this loop would occupy it.
        loop.executeOnLoop { [weak self] in self?.runTurns() }
    }

    /// Reads, advances the conversation, and sends, once each. Returns false if the connection has to wait, or has closed.
    private func runTurn() -> Bool {
        switch phase {
        case .opening: return establish()
        case .open:
            var hasProgressed = false
            if conversation.wantsInput, receive() { hasProgressed = true }
            // An error of the channel may have ended the connection.
            guard case .open = phase else { return hasProgressed }
            if conversation.advance(self) { hasProgressed = true }
            if flush() { hasProgressed = true }
            return hasProgressed
        case .finishing(let ending):
            if flush() { return true }
            guard isFlushed else { return false }
            switch ending {
            case .orderly(let lingering):
                // Over TLS, the next turns send the close_notify. Afterwards the result is false.
                if channel.endContent() { return true }
                if lingering, !hasPeerEnded {
                    linger()
                    return true
                }
                dropReceivedBytes()
                close(.orderly)
            case .withoutNotify:
                dropReceivedBytes()
                close(.withoutNotify)
            }
            return false
        case .lingering(let remainingBytes):
            if channel.hasPendingOutput { _ = flush() }
            guard case .lingering = phase else { return false }
            consume(inputCount)
            let hasProgressed = receive()
            guard case .lingering = phase else { return false }
            // The input has this turn's bytes only. The test below uses the number before this turn: the limit is not exact.
            phase = .lingering(remainingBytes: remainingBytes - inputCount)
            if hasPeerEnded || remainingBytes <= 0 {
                close(.orderly)
                return false
            }
            return hasProgressed
        case .closed: return false
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
        // It is not known whether the socket has input and space after the handshake: the next turn tries to read and send.
        isReadable = true
        isWritable = true
        return true
    }

    /// Closes the origin's half and waits for the client to close its own.
    private func linger() {
        try? channel.shutdownWrite()
        phase = .lingering(remainingBytes: Self.lingerBytes)
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(after: Self.lingerTime, self, tag: TimerTag.linger)
    }

    /// Ends the connection after an error of the channel. If the channel has sent an alert, the connection lingers, so that the
    /// client can read the alert. Returns whether it lingers.
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
        guard isReadable, !hasPeerEnded, inputCount < Self.inputSize else { return false }
        let freeCount = input.makeRoom(upTo: Self.inputSize)
        var outcome = ReadOutcome.wouldBlock
        do throws(Errno) {
            try input.append(upTo: freeCount) { freeSpace throws(Errno) in
                outcome = try channel.receive(into: &freeSpace)
            }
            switch outcome {
            case .bytes(let count):
                // A short read has emptied the socket, unless the end of the stream is still to be read.
                let isShortRead = channel.shortReceiveEmptiesSocket && count < freeCount
                if isShortRead, !hasSeenHangUp { isReadable = false }
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
        // The limit ends the loop even if the client sends as fast as this loop reads.
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
                let countFromOutput = min(count, output.count - outputStart)
                service.counts.add(sent: count)
                outputStart += countFromOutput
                largeBodyStart += count - countFromOutput
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
            // Moving the unsent bytes to the front is worth its cost only if many bytes have been sent.
            output.removeFirst(outputStart)
            outputStart = 0
        }
        if !largeBody.isEmpty, largeBodyStart == largeBody.count {
            largeBody = []
            largeBodyStart = 0
        }
        return true
    }

    /// Sends as much output as possible. A separate method, so that its references to the arrays are released before `flush`
    /// empties the arrays, and `flush` does not copy them.
    private func sendPieces() throws(Errno) -> WriteOutcome {
        let (output, largeBody) = (output, largeBody)
        let first = output.span.extracting(outputStart...)
        let second = largeBody.span.extracting(largeBodyStart...)
        // The body goes first if `output` is empty: a channel sends a single span without a vectored write.
        return try first.isEmpty ? channel.send(second, first) : channel.send(first, second)
    }

    /// Closes the channel and ends all waits and timers. Has no effect if the connection is closed.
    private func close(_ closing: Closing) {
        if case .closed = phase { return }
        phase = .closed
        if let registration { loop.deregister(registration) }
        registration = nil
        switch closing {
        case .orderly: channel.close()
        case .withoutNotify: channel.closeWithoutNotify()
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

/// A weak reference to a connection, so that a gate does not retain the connections that wait for it.
private final class WeakConnection {
    weak var connection: ServerConnection?

    init(_ connection: ServerConnection) { self.connection = connection }
}
