// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// The byte stream of a client inside TLS, over a plain channel or inside TLS once more.
///
/// Used on the loop only. `establish` performs the handshake. Afterwards `receive` and `send` may each send and receive TLS
/// records. Output that the socket does not accept at once stays in the engine (`hasPendingOutput`); the next `send` sends this
/// output before it accepts more. After an error the channel reads the socket to its end, so that the alert reaches the client. A
/// stream that ends without a close_notify counts as ended; the codec checks whether the request was complete.
final class TLSChannel: ClientChannel {
    private enum State {
        case handshaking
        case established
        /// The engine has produced the origin's close_notify. With `closesSocketHalf`, the channel closes the origin's half of
        /// the socket when the close_notify is sent.
        case ended(closesSocketHalf: Bool)
        case failed
        case closed
    }

    /// The channel below, which transports the ciphertext.
    private let inner: any ClientChannel
    private let wire: ChannelWire
    private let engine: TLSEngine
    /// The connection's number, for `handshakeRecord`.
    private let connectionNumber: Int
    private let handshakeRecord: HandshakeRecord
    private var state = State.handshaking
    private(set) var tls: OriginHandshake?

    /// Creates TLS over `inner`, from which `initialBytes` has already been received.
    init(
        _ context: TLSServerContext, over inner: any ClientChannel, initialBytes: [UInt8] = [],
        cut: WireCut? = nil, connectionNumber: Int, handshakeRecord: HandshakeRecord
    ) throws(TLSError) {
        self.inner = inner
        self.connectionNumber = connectionNumber
        self.handshakeRecord = handshakeRecord
        wire = ChannelWire(over: inner, initialBytes: initialBytes, cut: cut)
        engine = try TLSEngine(server: context, over: wire)
    }

    func register(with loop: EventLoop, for owner: any LoopChannel) throws(Errno) -> Registration {
        try inner.register(with: loop, for: owner)
    }

    // MARK: the handshake

    func establish() throws(Errno) -> Bool {
        guard try inner.establish() else { return false }
        guard case .handshaking = state else { return true }
        do throws(TLSError) {
            while true {
                switch try engine.handshake() {
                case .done:
                    state = .established
                    tls = recordHandshake(.success(engine.info))
                    return true
                case .wouldBlock: return false
                // OpenSSL has already verified the client's certificate with the context's roots.
                case .awaitsTrust: engine.answerTrust(.success(()))
                // Only the engine of a client asks for an identity.
                case .awaitsIdentity: engine.answerIdentity(nil)
                }
            }
        } catch {
            throw fail(error)
        }
    }

    /// Adds the outcome of the handshake to the record, and returns it.
    @discardableResult
    private func recordHandshake(_ outcome: Result<TLSInfo, TLSError>) -> OriginHandshake {
        let handshake = OriginHandshake(
            outcome: outcome, serverName: engine.requestedServerName,
            clientCertificates: engine.clientCertificates,
            wireBytes: wire.receivedCount)
        handshakeRecord.add(handshake, of: connectionNumber)
        return handshake
    }

    /// Ends the channel after an error of the engine: sends the engine's alert if the socket accepts it. Returns the error to
    /// throw.
    private func fail(_ error: TLSError) -> Errno {
        if case .handshaking = state { recordHandshake(.failure(error)) }
        state = .failed
        // The channel has already failed, so an error of the flush changes nothing.
        try? engine.flush()
        return wire.failure ?? .connectionReset
    }

    // MARK: content

    func receive(into buffer: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome {
        switch state {
        case .established, .ended: break
        case .failed: return try discardInput(with: &buffer)
        case .handshaking, .closed: return .wouldBlock
        }
        // The engine writes into initialized bytes: the buffer is filled with zeros, and cut back to the bytes that were read.
        var count = 0
        buffer.append(repeating: 0, count: buffer.freeCapacity)
        defer { buffer.removeLast(buffer.count - count) }
        do throws(TLSError) {
            var freeBytes = buffer.mutableSpan
            switch try engine.read(into: &freeBytes) {
            case .bytes(let readCount):
                count = readCount
                return .bytes(readCount)
            case .wouldBlock: return .wouldBlock
            case .end: return .end
            }
        } catch {
            if case .truncated = error { return .end }
            throw fail(error)
        }
    }

    /// Reads and drops ciphertext after an error.
    private func discardInput(with buffer: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome {
        while true {
            switch try inner.receive(into: &buffer) {
            case .bytes: buffer.removeAll()
            case .wouldBlock: return .wouldBlock
            case .end: return .end
            }
        }
    }

    func send(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> WriteOutcome {
        switch state {
        case .established, .ended: break
        case .handshaking, .failed, .closed: return .wouldBlock
        }
        do throws(TLSError) {
            try engine.flush()
            if engine.hasPendingOutput { return .wouldBlock }
        } catch {
            throw fail(error)
        }
        if inner.hasPendingOutput {
            // An empty send sends the pending output only.
            let empty = first.extracting(0..<0)
            guard case .bytes = try inner.send(empty, empty) else { return .wouldBlock }
        }
        // The close_notify has been sent. Repeated calls have no effect.
        if case .ended(closesSocketHalf: true) = state { try inner.shutdownWrite() }
        return try write(first, second)
    }

    /// Encrypts and sends both spans, the second one only if the socket has accepted the whole first one.
    private func write(_ first: Span<UInt8>, _ second: Span<UInt8>) throws(Errno) -> WriteOutcome {
        if first.isEmpty, second.isEmpty { return .bytes(0) }
        guard case .established = state else { throw .brokenPipe }
        do throws(TLSError) {
            var accepted = 0
            if !first.isEmpty { accepted = try engine.write(first) }
            if accepted == first.count, !second.isEmpty, !engine.hasPendingOutput {
                accepted += try engine.write(second)
            }
            return accepted > 0 ? .bytes(accepted) : .wouldBlock
        } catch {
            throw fail(error)
        }
    }

    // MARK: the end

    func endContent() -> Bool {
        guard case .established = state else { return false }
        state = .ended(closesSocketHalf: false)
        engine.closeForWriting()
        return true
    }

    func shutdownWrite() throws(Errno) {
        // Has no effect if the content has already ended.
        _ = endContent()
        if case .ended = state, hasPendingOutput {
            state = .ended(closesSocketHalf: true)
        } else {
            try inner.shutdownWrite()
        }
    }

    func close() {
        recordUnfinishedHandshake()
        // A close_notify that the socket does not accept at once is lost.
        _ = endContent()
        state = .closed
        inner.close()
    }

    func closeWithoutNotify() {
        recordUnfinishedHandshake()
        state = .closed
        inner.closeWithoutNotify()
    }

    func reset() {
        recordUnfinishedHandshake()
        state = .closed
        inner.reset()
    }

    /// Records an unfinished handshake as failed.
    private func recordUnfinishedHandshake() {
        if case .handshaking = state { recordHandshake(.failure(.closedInHandshake)) }
    }

    var hasPendingOutput: Bool {
        switch state {
        case .handshaking, .established, .ended: engine.hasPendingOutput || inner.hasPendingOutput
        case .failed, .closed: false
        }
    }

    var shortReceiveEmptiesSocket: Bool { false }

    var hasSentAlert: Bool { if case .failed = state { true } else { false } }

    var hasRefusedRenegotiation: Bool { engine.hasRefusedRenegotiation }

    // MARK: for scripts

    /// Limits further ciphertext to the bytes before `cut`.
    func limitOutput(to cut: WireCut) { wire.limitOutput(to: cut) }

    /// Sends bytes between the TLS records, unencrypted. The engine must have no pending output.
    func sendBeneath(_ bytes: [UInt8]) throws(Errno) {
        var sent = 0
        while sent < bytes.count {
            // The bytes of a script are few and fit into the kernel's buffer; if not, the connection fails.
            guard case .bytes(let count) = wire.send(bytes.span.extracting(sent...)) else {
                throw wire.failure ?? .noBufferSpace
            }
            sent += count
        }
    }

    /// Requests a renegotiation (TLS 1.2).
    func requestRenegotiation() throws(Errno) {
        do throws(TLSError) { try engine.requestRenegotiation() } catch { throw fail(error) }
    }

    /// Updates the origin's sending keys (TLS 1.3). If `both`, also requests that the client update its sending keys.
    func updateKeys(both: Bool) throws(Errno) {
        do throws(TLSError) { try engine.updateKeys(both: both) } catch { throw fail(error) }
    }
}
