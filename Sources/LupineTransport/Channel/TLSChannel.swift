// SPDX-License-Identifier: MIT

import LupineTLS

/// A TLS connection whose handshake is done and whose peer is trusted: an engine, and the wire that carries its records.
///
/// Bytes are sent in records; a message head and its small content share one. The engine holds ciphertext that the wire does not
/// accept at once, and the channel accepts nothing more until `flush` has sent it. The engine may hold received bytes while the
/// socket has no input. So a caller must read until `wouldBlock`, even if the socket is empty. Confined to its loop.
final class TLSChannel {
    private let engine: TLSEngine
    private let wire: any ChannelWire
    private let loop: EventLoop
    /// The profile under which the pool leases the connection.
    private let profile: TLSProfile
    /// Stores the sessions that the peer sends.
    private let sessionSaver: SessionSaver?
    /// What the handshake has shown about the peer.
    let evidence: PeerEvidence
    /// Whether the handshake presented a client certificate that belongs to one exchange.
    private let isBoundToExchange: Bool
    /// Whether `closeWriting` was called and the wire's sending half has not ended yet, because output is pending.
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
        // Up to TLS 1.2, the server sends its ticket during the handshake.
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
        if !sessions.isEmpty { sessionSaver.store(sessions) }
    }

    // MARK: sending

    /// Whether the engine or the wire holds ciphertext that the kernel has not accepted yet.
    var hasPendingOutput: Bool { engine.hasPendingOutput || wire.hasPendingOutput }
    /// The total number of octets that the kernel has accepted.
    var octetsSent: UInt64 { wire.octetsSent }

    /// The total number of octets that the peer's kernel has acknowledged; nil if the local kernel does not report it.
    var octetsAcknowledged: UInt64? { wire.octetsAcknowledged }

    /// Sends the beginning of the bytes of `framing` from `start` on, followed by `content`. If they fit into one record, they
    /// share it.
    func send(
        _ framing: [UInt8], from start: Int, _ content: Span<UInt8>
    ) throws(ChannelFailure) -> WriteOutcome {
        let unsentCount = framing.count - start
        if unsentCount == 0 { return try send(content) }
        if content.isEmpty { return try send(framing.span.extracting(droppingFirst: start)) }
        var record = loop.borrowRecordBuffer()
        defer { loop.giveBack(recordBuffer: record) }
        let framingCount = min(unsentCount, record.count)
        let contentCount = min(content.count, record.count - framingCount)
        // The scope ends the mutable access before the record is read.
        do {
            var span = record.mutableSpan
            span.copy(framing.span.extracting(start..<start + framingCount), to: 0)
            span.copy(content.extracting(first: contentCount), to: framingCount)
        }
        return try send(record.span.extracting(first: framingCount + contentCount))
    }

    /// Sends the beginning of `bytes`, as much as the wire and the engine accept.
    func send(_ bytes: Span<UInt8>) throws(ChannelFailure) -> WriteOutcome {
        var acceptedCount = 0
        do throws(TLSError) {
            while acceptedCount < bytes.count, !hasPendingOutput {
                let end = min(bytes.count, acceptedCount + EventLoop.recordBufferSize)
                let count = try engine.write(bytes.extracting(acceptedCount..<end))
                if count == 0 { break }
                acceptedCount += count
            }
        } catch {
            // If the engine has accepted records in this call, the caller learns their size now; the next call throws the error.
            if acceptedCount == 0 { throw failure(error) }
        }
        return acceptedCount == 0 ? .wouldBlock : .bytes(acceptedCount)
    }

    /// Passes pending output to the kernel, as far as the kernel accepts it.
    func flush() throws(ChannelFailure) {
        // The wire's output is older than the engine's, so it leaves first.
        try wire.flush()
        guard !wire.hasPendingOutput else { return }
        do throws(TLSError) {
            try engine.flush()
        } catch { throw failure(error) }
        endWritingIfDrained()
    }

    /// Sends the client's last messages of the handshake, unless they have left. The engine holds them back, so that they share a
    /// packet with the first bytes of the request. `TLSHandshake` calls it after the channel's owner could send such bytes.
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

    /// The local address of the underlying socket.
    var localAddress: SocketAddress? { wire.localAddress }

    /// Returns the wire's error if that made the engine fail, and the engine's error otherwise.
    private func failure(_ error: TLSError) -> ChannelFailure {
        if error == .wireFailed, let failure = wire.failure { return failure }
        return .tls(error)
    }
}
