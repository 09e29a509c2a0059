// SPDX-License-Identifier: MIT

import LupineTLS

/// A connection for any protocol: bytes in both directions, separate ends of both halves, and TLS from the moment at which the
/// owner starts it. It uses neither HTTP nor the pool; `RawDial` makes it.
///
/// The owner pulls: nothing is read ahead, so that an owner that does not read applies back-pressure to the peer, and the
/// first byte after the agreement on TLS is left for TLS. It belongs to its loop and lives until it is closed.
package final class RawConnection: LoopChannel {
    /// The loop that it runs on.
    package let loop: EventLoop
    /// Receives its events; retained until the end. Must be set before the loop continues.
    package var handler: (any RawConnectionHandler)?
    /// Whether the peer has closed its sending half; what it has sent may still be unread.
    package private(set) var peerIsClosing = false

    private let origin: Origin
    private var channel: ByteChannel?
    private var registration: Registration?
    private var firstOriginBytes: [UInt8]
    private var mayRead: Bool
    private var mayWrite = true
    private var handshake: TLSHandshake?
    private var handshakeTimer: EventLoop.TimerToken?
    private var isClosed = false
    /// The limit of peer bytes that are still to be dropped; nil while the connection has an owner.
    private var lingerBudget: Int?
    private var lingerTimer: EventLoop.TimerToken?

    /// How much, and for how long, a peer may still send after `closeGently` (as nginx's `lingering_timeout`).
    private static let lingerLimit = 1 << 20
    private static let lingerTime = Interval.seconds(5)
    /// How many times it reads while lingering before other connections of the loop get their turn.
    private static let lingerTurns = 16

    init(_ dialed: DialedChannel, to origin: Origin, on loop: EventLoop) {
        self.origin = origin
        self.loop = loop
        channel = dialed.takeChannel()
        registration = dialed.registration
        firstOriginBytes = dialed.firstOriginBytes
        mayRead = dialed.mayRead
        loop.reassign(dialed.registration, to: self)
    }

    // MARK: bytes

    /// Reads into the beginning of `buffer`, which must not be empty.
    package func receive(into buffer: inout MutableSpan<UInt8>) throws(TransportError) -> ReadOutcome {
        if !firstOriginBytes.isEmpty {
            let count = min(firstOriginBytes.count, buffer.count)
            buffer.copy(firstOriginBytes.span.extracting(first: count), to: 0)
            firstOriginBytes.removeFirst(count)
            return .bytes(count)
        }
        guard mayRead, channel != nil else { return .wouldBlock }
        let room = buffer.count
        do throws(ChannelFailure) {
            guard let outcome = try channel?.receive(into: &buffer) else { return .wouldBlock }
            switch outcome {
            case .wouldBlock: mayRead = false
            case .bytes(let count):
                // A closing peer's end is still to be seen.
                if !peerIsClosing, channel?.mayHoldMore(after: count, of: room) == false { mayRead = false }
            case .end: break
            }
            return outcome
        } catch { throw transportError(error) }
    }

    /// Sends as much of the beginning of `bytes` as the channel accepts.
    package func send(_ bytes: Span<UInt8>) throws(TransportError) -> WriteOutcome {
        guard try flush(), mayWrite else { return .wouldBlock }
        do throws(ChannelFailure) {
            guard let outcome = try channel?.send([], from: 0, bytes) else { return .wouldBlock }
            if outcome == .wouldBlock { mayWrite = false }
            return outcome
        } catch { throw transportError(error) }
    }

    /// Writes TLS's pending output to the kernel; returns whether all of it has been written.
    package func flush() throws(TransportError) -> Bool {
        guard channel?.hasPendingOutput == true else { return true }
        do throws(ChannelFailure) { try channel?.flush() } catch { throw transportError(error) }
        return channel?.hasPendingOutput == false
    }

    /// Shuts down writing after the bytes sent so far; reading continues.
    package func closeWriting() { channel?.closeWriting() }

    private func transportError(_ failure: ChannelFailure) -> TransportError {
        failure.transportError(host: origin.host, port: origin.port)
    }

    // MARK: TLS

    /// Starts TLS; the handler is told the result. A connection on which the handshake fails is closed.
    ///
    /// All bytes received before must have been read: otherwise an attacker who injects bytes before TLS could have them taken
    /// for the peer's.
    ///
    /// - Parameters:
    ///   - profile: TLS settings and trust.
    ///   - verifier: Answers the profile's questions.
    ///   - timeout: The time-out of the handshake; it does not run while a question is being answered.
    package func startTLS(_ profile: TLSProfile, verifier: (any PeerVerifier)?, timeout: Interval?) {
        guard firstOriginBytes.isEmpty else {
            return end(.tls(host: origin.host, port: origin.port, .notTLS))
        }
        guard let context = profile.context else {
            let bound = LoopBound(self, on: loop)
            return profile.prepare { [loop] answer in
                _ = loop.execute { bound.value.prepared(profile, answer, verifier, timeout) }
            }
        }
        guard let registration, let plain = channel.take() else { return }
        guard let wire = plain.wire(mayRead: true, on: loop) else { return }
        let peer = TLSHandshake.Peer(
            profile: profile, context: context, host: origin.host, port: origin.port, proxy: origin.proxy,
            progress: DialProgress(to: origin, at: loop.now))
        let handshake = TLSHandshake(with: peer, over: wire, registration, on: loop) { [weak self] result in
            self?.secured(result)
        }
        handshake.claim = { .claimed(verifier) }
        handshake.setAwaitingProgram = { [weak self] isAsking in
            self?.setHandshakeTimer(isAsking ? nil : timeout)
        }
        self.handshake = handshake
        setHandshakeTimer(timeout)
        handshake.start()
    }

    private func prepared(
        _ profile: TLSProfile, _ answer: TLSSettings.Answer, _ verifier: (any PeerVerifier)?,
        _ timeout: Interval?
    ) {
        guard !isClosed else { return }
        switch answer {
        case .success: startTLS(profile, verifier: verifier, timeout: timeout)
        case .failure(let error): end(.tls(host: origin.host, port: origin.port, error))
        }
    }

    private func setHandshakeTimer(_ timeout: Interval?) {
        if let timer = handshakeTimer.take() { loop.cancel(timer) }
        guard let timeout else { return }
        handshakeTimer = loop.schedule(at: loop.now + timeout) { [weak self] reason in
            guard let self else { return }
            handshakeTimer = nil
            end(
                reason == .due
                    ? TransportError(host: origin.host, port: origin.port, .tlsHandshake, after: timeout)
                    : .shutDown)
        }
    }

    private func secured(_ result: Result<TLSChannel, TransportError>) {
        setHandshakeTimer(nil)
        handshake = nil
        switch result {
        case .success(let secure):
            guard let registration else { return secure.close() }
            channel = ByteChannel(secure: secure)
            mayRead = true
            mayWrite = true
            loop.reassign(registration, to: self)
            handler?.connectionIsSecure()
        case .failure(let error):
            // The handshake has closed the socket.
            registration = nil
            end(error)
        }
    }

    // MARK: the loop's side

    package func channelReady(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: .closed) { peerIsClosing = true }
        if !readiness.isDisjoint(with: [.readable, .closed]) {
            channel?.becameReadable(isClosing: peerIsClosing)
            mayRead = true
        }
        if readiness.contains(.writable) { mayWrite = true }
        if lingerBudget != nil { return linger() }
        handler?.connectionIsReady()
    }

    package func loopWillClose() { end(.shutDown) }

    // MARK: the end

    private func end(_ error: TransportError) {
        let handler = handler
        close()
        handler?.connectionEnded(error)
    }

    /// Closes in order, after `closeWriting`; the handler receives no further calls. What the peer still sends is dropped,
    /// until its end or up to a limit: with unread bytes the kernel would reset the connection, and the peer might lose what
    /// was sent last.
    package func closeGently() {
        guard !isClosed, channel != nil else { return close() }
        handler = nil
        lingerBudget = Self.lingerLimit
        lingerTimer = loop.schedule(at: loop.now + Self.lingerTime) { [weak self] _ in
            self?.lingerTimer = nil
            self?.close()
        }
        linger()
    }

    private func linger() {
        var buffer = loop.borrowReadBuffer()
        defer { loop.giveBack(readBuffer: buffer) }
        do throws(TransportError) {
            _ = try flush()
            var turns = 0
            while let budget = lingerBudget, budget > 0 {
                turns += 1
                if turns > Self.lingerTurns {
                    loop.executeOnLoop { [weak self] in
                        if let self, !isClosed { linger() }
                    }
                    return
                }
                var space = buffer.mutableSpan
                switch try receive(into: &space) {
                case .bytes(let count): lingerBudget = budget - count
                case .wouldBlock: return
                case .end: return close()
                }
            }
        } catch {
            // The connection is closed in any case.
        }
        close()
    }

    /// Closes immediately: unsent bytes are dropped, and the handler receives no further calls.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        handler = nil
        setHandshakeTimer(nil)
        if let timer = lingerTimer.take() { loop.cancel(timer) }
        if let handshake = handshake.take() {
            handshake.close()
        } else {
            if let registration { loop.deregister(registration) }
            channel?.close()
        }
        registration = nil
        channel = nil
    }
}

/// The owner of a raw connection. Calls come on its loop.
package protocol RawConnectionHandler: AnyObject {
    /// There may be bytes to read, or space to write.
    func connectionIsReady()
    /// The requested handshake is complete, and the peer is trusted.
    func connectionIsSecure()
    /// The connection is gone: TLS failed, or the loop ended. Read and write errors are thrown by the calls themselves.
    func connectionEnded(_ error: TransportError)
}
