// SPDX-License-Identifier: MIT

import LupineTLS

/// A TLS connection whose handshake is done and whose peer is trusted: an engine, and the wire that carries its records.
///
/// Written bytes are sent in records; a head and its small content share one. The engine holds ciphertext that the wire does not
/// accept at once, and the channel accepts nothing more until `flush` has sent it. The engine may hold received bytes while the
/// socket has no input, so only `wouldBlock` means that there are no more. Confined to its loop.
final class TLSChannel {
    private let engine: TLSEngine
    private let wire: any ChannelWire
    private let loop: EventLoop
    /// The profile under which the pool leases the connection.
    private let profile: TLSProfile
    /// Stores the sessions that the peer sends.
    private let sessionSaver: SessionSaver?
    /// The evidence of the handshake.
    let evidence: PeerEvidence
    /// Whether the handshake presented a client certificate that belongs to one exchange.
    private let isBoundToExchange: Bool
    /// Whether `closeWriting` was called, and output must be sent before the wire's sending half ends.
    private var isClosingWriting = false

    init(
        _ engine: TLSEngine, over wire: any ChannelWire, under profile: TLSProfile,
        sessionSaver: SessionSaver?, evidence: PeerEvidence, isBoundToExchange: Bool, on loop: EventLoop
    ) {
        self.profile = profile
        self.evidence = evidence
        self.isBoundToExchange = isBoundToExchange
        self.engine = engine
        self.wire = wire
        self.sessionSaver = sessionSaver
        self.loop = loop
        // Until TLS 1.2, the server sends its ticket during the handshake.
        saveSessions()
    }

    /// The negotiated parameters. Computed on each access, so a caller that needs them often stores them.
    var details: TLSDetails { TLSDetails(of: engine, under: profile, isBoundToExchange: isBoundToExchange) }

    // MARK: receiving

    /// Reads into the beginning of `buffer`: at most the content of one record.
    func receive(into buffer: inout MutableSpan<UInt8>) throws(ChannelFailure) -> ReadOutcome {
        let outcome: TLSReadOutcome
        do throws(TLSError) {
            outcome = try engine.read(into: &buffer)
        } catch { throw failure(error) }
        if sessionSaver != nil { saveSessions() }
        switch outcome {
        case .bytes(let count): return .bytes(count)
        case .wouldBlock: return .wouldBlock
        case .end: return .end
        }
    }

    /// Whether the peer has requested a renegotiation, which was refused.
    var hasRefusedRenegotiation: Bool { engine.hasRefusedRenegotiation }

    /// Whether a read would certainly return `wouldBlock`, until the loop reports new readiness.
    var isDrained: Bool { wire.isDrained && !engine.hasBufferedInput }

    /// Called when the loop reports that there may be more to read. `isClosing` says that the peer has closed its end.
    func becameReadable(isClosing: Bool) { wire.becameReadable(isClosing: isClosing) }

    /// Stores the session tickets that the peer has sent.
    private func saveSessions() {
        guard let sessionSaver else { return }
        let sessions = engine.takeSessions()
        if !sessions.isEmpty { sessionSaver.keep(sessions) }
    }

    // MARK: sending

    /// Whether the engine or the wire holds ciphertext that the kernel has not accepted yet.
    var hasPendingOutput: Bool { engine.hasPendingOutput || wire.hasPendingOutput }
    /// The total number of octets that the kernel has accepted.
    var octetsSent: UInt64 { wire.octetsSent }

    /// The total number of octets that the peer's kernel has acknowledged, if the local kernel reports it.
    var octetsAcknowledged: UInt64? { wire.octetsAcknowledged }

    /// Sends the beginning of the bytes of `framing` from `start` on, followed by `content`. If they fit into one record, they
    /// share it.
    func send(
        _ framing: [UInt8], from start: Int, _ content: Span<UInt8>
    ) throws(ChannelFailure) -> WriteOutcome {
        let waiting = framing.count - start
        if waiting == 0 { return try send(content) }
        if content.isEmpty { return try send(framing.span.extracting(droppingFirst: start)) }
        var record = loop.borrowRecordBuffer()
        defer { loop.giveBack(recordBuffer: record) }
        let first = min(waiting, record.count)
        let second = min(content.count, record.count - first)
        do {
            var span = record.mutableSpan
            span.copy(framing.span.extracting(start..<start + first), to: 0)
            span.copy(content.extracting(first: second), to: first)
        }
        return try send(record.span.extracting(first: first + second))
    }

    /// Sends the beginning of `bytes`, as much as the wire and the engine accept.
    func send(_ bytes: Span<UInt8>) throws(ChannelFailure) -> WriteOutcome {
        var taken = 0
        do throws(TLSError) {
            while taken < bytes.count, !hasPendingOutput {
                let end = min(bytes.count, taken + EventLoop.recordBufferSize)
                let count = try engine.write(bytes.extracting(taken..<end))
                if count == 0 { break }
                taken += count
            }
        } catch {
            // The records already sent count; the next call throws the error.
            if taken == 0 { throw failure(error) }
        }
        return taken == 0 ? .wouldBlock : .bytes(taken)
    }

    /// Passes pending output to the kernel, as far as the kernel accepts it.
    func flush() throws(ChannelFailure) {
        try wire.flush()
        guard !wire.hasPendingOutput else { return }
        do throws(TLSError) {
            try engine.flush()
        } catch { throw failure(error) }
        endWritingIfDrained()
    }

    /// Sends the last messages of the handshake, which the engine holds back so that they share a packet with the first bytes of
    /// the request. Called once the owner of the channel has had the opportunity to send its first bytes.
    func sendLastFlight() throws(ChannelFailure) {
        do throws(TLSError) {
            try engine.sendLastFlight()
        } catch { throw failure(error) }
    }

    // MARK: the end

    /// Sends close_notify and ends the sending half, once all output is sent; the channel can still be read.
    func closeWriting() {
        engine.closeWriting()
        isClosingWriting = true
        endWritingIfDrained()
    }

    /// Ends the sending half of the wire if `closeWriting` was called and no output is pending.
    private func endWritingIfDrained() {
        guard isClosingWriting, !hasPendingOutput else { return }
        isClosingWriting = false
        wire.closeWriting()
    }

    /// Sends close_notify if that is possible at once, and closes.
    func close() {
        wire.willClose()
        engine.close()
        wire.close()
    }

    /// Turns on TCP keep-alive.
    func setKeepAlive(_ probes: KeepAliveProbes) { wire.setKeepAlive(probes) }

    var localAddress: SocketAddress? { wire.localAddress }

    /// Returns the wire's error if the engine failed because of it, and the engine's error otherwise.
    private func failure(_ error: TLSError) -> ChannelFailure {
        if error == .wireFailed, let failure = wire.failure { return failure }
        return .tls(error)
    }
}
