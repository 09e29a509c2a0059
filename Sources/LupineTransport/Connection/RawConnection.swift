// SPDX-License-Identifier: MIT

import LupineTLS

/// A connection that carries whatever its owner likes: bytes both ways, each half with an end of its own, and TLS from the
/// moment on in which the owner wants it. No HTTP, no pool; `RawDial` makes it.
///
/// The owner pulls: nothing is read ahead of it, so that the peer is held back by whoever does not read, and the first byte
/// behind the agreement on TLS is still TLS's. It belongs to its loop and lives until it is closed.
package final class RawConnection: LoopChannel {
    /// The loop that it lives on.
    package let loop: EventLoop
    /// Who hears what becomes of it; kept until the end. To be set before the loop goes on.
    package var handler: (any RawConnectionHandler)?
    /// The peer has said that it sends no more; what it has sent may still be there to be read.
    package private(set) var peerIsClosing = false

    private let origin: Origin
    private var channel: ByteChannel?
    private var registration: Registration?
    private var early: [UInt8]
    private var mayRead: Bool
    private var mayWrite = true
    private var handshake: TLSHandshake?
    private var handshakeTimer: EventLoop.TimerToken?
    private var isClosed = false
    /// What is dropped at most of what the peer still sends; nil while there is an owner.
    private var lingerBudget: Int?
    private var lingerTimer: EventLoop.TimerToken?

    /// How much, and for how long, a peer may go on behind the end of both halves (as nginx's `lingering_timeout`).
    private static let lingerLimit = 1 << 20
    private static let lingerTime = Interval.seconds(5)
    /// So often it reads of that before other connections of the loop have their turn.
    private static let lingerTurns = 16

    init(_ dialed: DialedChannel, to origin: Origin, on loop: EventLoop) {
        self.origin = origin
        self.loop = loop
        channel = dialed.takeChannel()
        registration = dialed.registration
        early = dialed.early
        mayRead = dialed.mayRead
        loop.hand(dialed.registration, to: self)
    }

    // MARK: bytes

    /// Reads over the beginning of `buffer`, which must not be empty.
    package func receive(into buffer: inout MutableSpan<UInt8>) throws(TransportError) -> ReadOutcome {
        if !early.isEmpty {
            let count = min(early.count, buffer.count)
            buffer.copy(early.span.extracting(first: count), to: 0)
            early.removeFirst(count)
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

    /// Sends the beginning of `bytes`, as much as goes.
    package func send(_ bytes: Span<UInt8>) throws(TransportError) -> WriteOutcome {
        guard try flush(), mayWrite else { return .wouldBlock }
        do throws(ChannelFailure) {
            guard let outcome = try channel?.send([], from: 0, bytes) else { return .wouldBlock }
            if outcome == .wouldBlock { mayWrite = false }
            return outcome
        } catch { throw transportError(error) }
    }

    /// Hands to the kernel what TLS keeps for it; whether all of it has gone.
    package func flush() throws(TransportError) -> Bool {
        guard channel?.hasPendingOutput == true else { return true }
        do throws(ChannelFailure) { try channel?.flush() } catch { throw transportError(error) }
        return channel?.hasPendingOutput == false
    }

    /// Ends our half behind what was sent; reading goes on.
    package func closeWriting() { channel?.closeWriting() }

    private func transportError(_ failure: ChannelFailure) -> TransportError {
        failure.transportError(host: origin.host, port: origin.port)
    }

    // MARK: TLS

    /// Speaks TLS from here on; the handler hears how that went. A connection on which it fails is closed.
    ///
    /// Nothing that has come before may be unread: whoever can add bytes in front of TLS could have them taken for the peer's.
    ///
    /// - Parameters:
    ///   - profile: Settings and trust.
    ///   - asker: Answers what the profile asks.
    ///   - timeout: For the handshake, but not while somebody thinks about an answer.
    package func startTLS(_ profile: TLSProfile, verifier: (any PeerVerifier)?, timeout: Interval?) {
        guard early.isEmpty else { return end(.tls(host: origin.host, port: origin.port, .notTLS)) }
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
        handshake.setAsking = { [weak self] isAsking in
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
            loop.hand(registration, to: self)
            handler?.connectionIsSecure()
        case .failure(let error):
            // The handshake has closed what was underneath.
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

    /// Closes in order, behind `closeWriting`; the handler hears no more. What the peer still sends is dropped, until its end
    /// or for a while: with bytes unread the kernel would reset the connection, and the peer might lose what was sent last.
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
            // It ends as it does.
        }
        close()
    }

    /// Closes at once: what has not gone is dropped, and the handler hears no more.
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

/// Who owns a raw connection. Calls come on its loop.
package protocol RawConnectionHandler: AnyObject {
    /// There may be something to read, or room to write.
    func connectionIsReady()
    /// The handshake that was asked for is done, and the peer is trusted.
    func connectionIsSecure()
    /// The connection is gone: TLS did not come about, or the loop ends. What reading and writing meet they throw themselves.
    func connectionEnded(_ error: TransportError)
}
