// SPDX-License-Identifier: MIT

import LupineTLS

/// A connection inside TLS, once its handshake is done and its peer is trusted: plaintext to one side, an engine, and the
/// wire that carries the ciphertext.
///
/// What is written goes out in records: a head and its small content share one. What the wire does not take at once the
/// engine keeps; nothing more is taken then until `flush` has sent it. What the peer has sent may lie decrypted, or half
/// read, in the engine while the socket says nothing: only `wouldBlock` says that there is no more. It belongs to its loop.
final class TLSChannel {
    private let engine: TLSEngine
    private let wire: any ChannelWire
    private let loop: EventLoop
    /// Who lends it.
    private let profile: TLSProfile
    /// Where what the peer gives to resume with is kept.
    private let keeper: SessionKeeper?
    /// What the handshake has shown.
    let evidence: PeerEvidence
    /// The exchange that it was opened for has shown an identity of its own.
    private let isPersonal: Bool
    /// Our half ends once everything has gone.
    private var isClosingWriting = false

    init(
        _ engine: TLSEngine, over wire: any ChannelWire, under profile: TLSProfile, keeper: SessionKeeper?,
        evidence: PeerEvidence, isPersonal: Bool, on loop: EventLoop
    ) {
        self.profile = profile
        self.evidence = evidence
        self.isPersonal = isPersonal
        self.engine = engine
        self.wire = wire
        self.keeper = keeper
        self.loop = loop
        keepSessions()
    }

    /// What was agreed on. Made when it is asked for: whoever needs it for long keeps it.
    var details: TLSDetails { TLSDetails(of: engine, under: profile, isPersonal: isPersonal) }

    // MARK: in

    /// Reads over the beginning of `buffer`: the content of one record at most.
    func receive(into buffer: inout MutableSpan<UInt8>) throws(ChannelFailure) -> ReadOutcome {
        let outcome: TLSReadOutcome
        do throws(TLSError) {
            outcome = try engine.read(into: &buffer)
        } catch { throw failure(error) }
        if keeper != nil { keepSessions() }
        switch outcome {
        case .bytes(let count): return .bytes(count)
        case .wouldBlock: return .wouldBlock
        case .end: return .end
        }
    }

    /// Whether the peer has asked for another handshake, and was refused.
    var hasRefusedRenegotiation: Bool { engine.hasRefusedRenegotiation }

    /// Whether reading is known to give nothing until the loop tells of new readiness.
    var isDrained: Bool { wire.isDrained && !engine.hasBufferedInput }

    /// The loop says that there may be more to read.
    func becameReadable(isClosing: Bool) { wire.becameReadable(isClosing: isClosing) }

    private func keepSessions() {
        guard let keeper else { return }
        let sessions = engine.takeSessions()
        if !sessions.isEmpty { keeper.keep(sessions) }
    }

    // MARK: out

    /// Whether ciphertext waits for the kernel.
    var hasPendingOutput: Bool { engine.hasPendingOutput || wire.hasPendingOutput }
    /// How many octets the kernel has taken in all.
    var octetsSent: UInt64 { wire.octetsSent }

    var octetsAcknowledged: UInt64? { wire.octetsAcknowledged }

    /// Sends the beginning of what `framing` holds from `start` on, and of `content` behind it. What fits into one record
    /// goes in one.
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

    /// Sends the beginning of `bytes`, as much as the wire and the engine take.
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
            // Records that have gone count; the next call says what is wrong.
            if taken == 0 { throw failure(error) }
        }
        return taken == 0 ? .wouldBlock : .bytes(taken)
    }

    /// Hands to the kernel what waits for it, as far as it takes it.
    func flush() throws(ChannelFailure) {
        try wire.flush()
        guard !wire.hasPendingOutput else { return }
        do throws(TLSError) {
            try engine.flush()
        } catch { throw failure(error) }
        endWritingIfDrained()
    }

    /// Whoever waited for the handshake has written, or will not write at once.
    func settle() throws(ChannelFailure) {
        do throws(TLSError) {
            try engine.settle()
        } catch { throw failure(error) }
    }

    // MARK: the end

    /// Says goodbye for our direction and ends it, as soon as all has gone; reading goes on.
    func closeWriting() {
        engine.closeWriting()
        isClosingWriting = true
        endWritingIfDrained()
    }

    private func endWritingIfDrained() {
        guard isClosingWriting, !hasPendingOutput else { return }
        isClosingWriting = false
        wire.closeWriting()
    }

    /// Says goodbye where that can be done at once, and closes.
    func close() {
        wire.willClose()
        engine.close()
        wire.close()
    }

    /// Has the kernel probe the peer when the connection is silent.
    func probe(_ probes: KeepAliveProbes) { wire.probe(probes) }

    var localAddress: SocketAddress? { wire.localAddress }

    private func failure(_ error: TLSError) -> ChannelFailure {
        if error == .wireFailed, let failure = wire.failure { return failure }
        return .tls(error)
    }
}
