// SPDX-License-Identifier: MIT

import LupineTLS

/// A connection for any protocol. It moves bytes in both directions, and each direction can be closed separately. The owner may
/// start TLS at any time. The connection uses neither HTTP nor the pool; `RawDial` opens it.
///
/// Bytes are read only when the owner asks for them. So an owner that does not read applies back-pressure to the peer. And when
/// client and server agree on TLS (STARTTLS), no byte of the TLS handshake has been read as plain text. The connection is
/// confined to its loop, which retains it until it is closed.
package final class RawConnection: LoopChannel {
    /// The loop that the connection runs on.
    package let loop: EventLoop
    /// Receives the connection's events; retained until the connection ends. Must be set in the callback that delivers the
    /// connection, before the loop handles further events.
    package var handler: (any RawConnectionHandler)?
    /// Whether the peer has closed its sending half; what it has sent may still be unread.
    package private(set) var peerIsClosing = false

    /// The peer of the connection.
    private let origin: Origin
    private var channel: ByteChannel?
    private var registration: Registration?
    /// The bytes of the origin that arrived together with the proxy's answer, as far as they are unread. `receive` returns them
    /// before it reads the channel.
    private var firstOriginBytes: [UInt8]
    /// Whether there may be input. False after a read that found no more, until the loop reports input.
    private var mayRead: Bool
    /// Whether the channel may accept bytes. False after a write that it did not accept, until the loop reports space.
    private var mayWrite = true
    /// The running TLS handshake. It owns the socket; `channel` is nil meanwhile.
    private var handshake: TLSHandshake?
    /// The timer of the handshake's time-out.
    private var handshakeTimer: EventLoop.TimerToken?
    private var isClosed = false
    /// How many more bytes of the peer are read and dropped; nil before `closeGently`.
    private var lingerBudget: Int?
    /// Closes the connection `lingerTime` after `closeGently`.
    private var lingerTimer: EventLoop.TimerToken?

    /// How many bytes a peer may still send after `closeGently`: 1 MiB.
    private static let lingerLimit = 1 << 20
    /// For how long a peer may still send after `closeGently`; nginx's `lingering_timeout` has the same default.
    private static let lingerTime = Interval.seconds(5)
    /// The number of reads after which `linger` lets the loop handle other connections.
    private static let lingerReads = 16

    init(_ dialed: DialedChannel, to origin: Origin, on loop: EventLoop) {
        self.origin = origin
        self.loop = loop
        channel = dialed.takeChannel()
        registration = dialed.registration
        firstOriginBytes = dialed.firstOriginBytes
        mayRead = dialed.mayRead
        loop.reassign(dialed.registration, to: self)
    }

    // MARK: Bytes

    /// Reads into the beginning of `buffer`, which must not be empty. Returns `wouldBlock` if nothing has arrived.
    package func receive(into buffer: inout MutableSpan<UInt8>) throws(TransportError) -> ReadOutcome {
        if !firstOriginBytes.isEmpty {
            let count = min(firstOriginBytes.count, buffer.count)
            buffer.copy(firstOriginBytes.span.extracting(first: count), to: 0)
            firstOriginBytes.removeFirst(count)
            return .bytes(count)
        }
        guard mayRead, channel != nil else { return .wouldBlock }
        let capacity = buffer.count
        do throws(ChannelFailure) {
            guard let outcome = try channel?.receive(into: &buffer) else { return .wouldBlock }
            switch outcome {
            case .wouldBlock: mayRead = false
            case .bytes(let count):
                // If the peer is closing, another read must find the end of the stream.
                if !peerIsClosing, channel?.mayHoldMore(after: count, of: capacity) == false {
                    mayRead = false
                }
            case .end: break
            }
            return outcome
        } catch { throw transportError(error) }
    }

    /// Sends as much of the beginning of `bytes` as the channel accepts.
    package func send(_ bytes: Span<UInt8>) throws(TransportError) -> WriteOutcome {
        let isFlushed = try flush()
        guard isFlushed, mayWrite else { return .wouldBlock }
        do throws(ChannelFailure) {
            // A raw connection has no framing, which would be sent before the bytes: the array is empty.
            guard let outcome = try channel?.send([], from: 0, bytes) else { return .wouldBlock }
            if outcome == .wouldBlock { mayWrite = false }
            return outcome
        } catch { throw transportError(error) }
    }

    /// Writes the encrypted output that TLS still holds to the kernel; returns whether all of it has been written.
    package func flush() throws(TransportError) -> Bool {
        guard channel?.hasPendingOutput == true else { return true }
        do throws(ChannelFailure) { try channel?.flush() } catch { throw transportError(error) }
        return channel?.hasPendingOutput == false
    }

    /// Closes the sending half after the bytes sent so far; reading continues.
    package func closeWriting() { channel?.closeWriting() }

    /// Returns the error to report for a failure of the channel.
    private func transportError(_ failure: ChannelFailure) -> TransportError {
        failure.transportError(host: origin.host, port: origin.port)
    }

    // MARK: TLS

    /// Starts TLS. After a success, calls the handler's `connectionIsSecure()`. Otherwise closes the connection and calls
    /// `connectionEnded(_:)`.
    ///
    /// The owner must have read all bytes that arrived before TLS: an attacker may have injected them, and they must not count as
    /// bytes of the authenticated peer. Fails with `notTLS` if bytes that came with the proxy's answer are unread.
    ///
    /// - Parameters:
    ///   - profile: The TLS configuration and the trust evaluator.
    ///   - verifier: Answers what the handshake asks according to `profile.questions`: whether the server is trusted, and which
    ///     client certificate it gets. Nil if the profile's evaluator and configuration decide.
    ///   - timeout: The time-out of the handshake, which does not run while the program decides; nil for none.
    package func startTLS(_ profile: TLSProfile, verifier: (any PeerVerifier)?, timeout: Interval?) {
        guard firstOriginBytes.isEmpty else {
            return end(.tls(host: origin.host, port: origin.port, .notTLS))
        }
        guard let context = profile.context else {
            let bound = LoopBound(self, on: loop)
            return profile.loadContext { [loop] answer in
                // The result is ignored: a loop that has ended has closed this connection.
                _ = loop.execute { bound.value.contextLoadEnded(profile, answer, verifier, timeout) }
            }
        }
        // Returns without a report if the connection is closed, or if a handshake is running. `take` sets `channel` to nil: the
        // handshake owns the socket from here on.
        guard let registration, let plainChannel = channel.take() else { return }
        // `mayRead` is true, because the server's first bytes may have been reported before TLS was started.
        guard let wire = plainChannel.wire(mayRead: true, on: loop) else { return }
        let peer = TLSHandshake.Peer(
            profile: profile, context: context, host: origin.host, port: origin.port, proxy: origin.proxy,
            progress: DialProgress(to: origin, at: loop.now))
        let handshake = TLSHandshake(with: peer, over: wire, registration, on: loop) { [weak self] result in
            self?.tlsHandshakeEnded(result)
        }
        // `claim` normally binds an exchange of the pool, and returns the verifier of that exchange. This connection belongs to
        // no pool: `claim` returns the verifier that the owner has passed.
        handshake.claim = { .claimed(verifier) }
        handshake.setAwaitingProgram = { [weak self] isAwaiting in
            self?.setHandshakeTimer(isAwaiting ? nil : timeout)
        }
        self.handshake = handshake
        setHandshakeTimer(timeout)
        handshake.start()
    }

    /// Starts TLS if the context of the profile has been loaded, and otherwise ends the connection.
    private func contextLoadEnded(
        _ profile: TLSProfile, _ answer: TLSSettings.Answer, _ verifier: (any PeerVerifier)?,
        _ timeout: Interval?
    ) {
        guard !isClosed else { return }
        switch answer {
        case .success: startTLS(profile, verifier: verifier, timeout: timeout)
        case .failure(let error): end(.tls(host: origin.host, port: origin.port, error))
        }
    }

    /// Starts the time-out of the handshake anew; nil stops it.
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

    /// Continues after the TLS handshake.
    private func tlsHandshakeEnded(_ result: Result<TLSChannel, TransportError>) {
        setHandshakeTimer(nil)
        handshake = nil
        switch result {
        case .success(let tlsChannel):
            guard let registration else { return tlsChannel.close() }
            channel = ByteChannel(secure: tlsChannel)
            mayRead = true
            mayWrite = true
            loop.reassign(registration, to: self)
            handler?.connectionIsSecure()
        case .failure(let error):
            // The handshake has deregistered and closed the socket, so `close` must not deregister it again.
            registration = nil
            end(error)
        }
    }

    // MARK: Loop events

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

    // MARK: Closing

    /// Closes the connection and reports the error to the handler.
    private func end(_ error: TransportError) {
        // `close` sets the property to nil.
        let handler = handler
        close()
        handler?.connectionEnded(error)
    }

    /// Closes gracefully, after `closeWriting`; the handler receives no further calls.
    ///
    /// The connection first reads and drops what the peer still sends, until the peer closes or a limit is reached. If bytes were
    /// unread at the close, the kernel would reset the connection, and the peer might lose the last bytes that were sent to it.
    package func closeGently() {
        // The channel is nil during a TLS handshake, which is not ended gracefully.
        guard !isClosed, channel != nil else { return close() }
        handler = nil
        lingerBudget = Self.lingerLimit
        // The reason is ignored: when the time has passed and when the loop is shutting down, the connection closes.
        lingerTimer = loop.schedule(at: loop.now + Self.lingerTime) { [weak self] _ in
            self?.lingerTimer = nil
            self?.close()
        }
        linger()
    }

    /// Reads and drops bytes of the peer, and closes at the end of the stream, at the limit or after an error.
    private func linger() {
        var buffer = loop.borrowReadBuffer()
        defer { loop.giveBack(readBuffer: buffer) }
        do throws(TransportError) {
            // Output that is not flushed now is flushed when the loop reports space, which calls this method again.
            _ = try flush()
            var reads = 0
            while let budget = lingerBudget, budget > 0 {
                reads += 1
                // Lets the loop handle other connections, and continues at the end of this turn or in the next.
                if reads > Self.lingerReads {
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
            // Nobody learns of the error: the connection is closed in any case.
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

/// The owner of a raw connection. It is called on the connection's loop.
package protocol RawConnectionHandler: AnyObject {
    /// There may be bytes to read, or space to write.
    func connectionIsReady()
    /// The TLS handshake is complete, and the peer is trusted.
    func connectionIsSecure()
    /// The connection was closed because TLS failed or the loop ended. Errors of reading and writing are not reported here;
    /// `receive` and `send` throw them.
    func connectionEnded(_ error: TransportError)
}
