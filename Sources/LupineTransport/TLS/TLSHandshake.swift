// SPDX-License-Identifier: MIT

import LupineTLS

/// Brings up TLS on a connected channel: the handshake, the verdict about the peer, our own identity where it is asked for.
///
/// It belongs to its loop and reports once, unless it is closed before. Nothing of a request is sent before the report,
/// and a peer that is not trusted hears an alert and no more. Time-outs are its owner's.
final class TLSHandshake: LoopChannel {
    /// Who is at the other end, and under which profile.
    struct Peer {
        let profile: TLSProfile
        let context: TLSClientContext
        let host: String
        let port: UInt16
        let proxy: ProxyServer?
    }

    private enum Stage {
        case new
        case shaking(TLSEngine)
        case judging(TLSEngine, TrustInquiry)
        case choosing(TLSEngine)
        case over
    }

    private let peer: Peer
    private let wire: any ChannelWire
    private let loop: EventLoop
    private let report: (Result<TLSChannel, TransportError>) -> Void
    private var registration: Registration?
    private var stage = Stage.new
    private var offered: TLSSession?
    /// Somebody was asked who we are. A session would carry the answer over to connections that were not asked.
    private var wasAskedWho = false
    /// Until when the verdict holds for connections that resume this one.
    private var acceptedUntil: UnixTime?

    init(
        with peer: Peer, over wire: any ChannelWire, _ registration: Registration, on loop: EventLoop,
        report: @escaping (Result<TLSChannel, TransportError>) -> Void
    ) {
        self.peer = peer
        self.wire = wire
        self.registration = registration
        self.loop = loop
        self.report = report
        loop.hand(registration, to: self)
    }

    private var sessionPeer: SessionPeer { SessionPeer(host: peer.host, port: peer.port, proxy: peer.proxy) }

    /// Sends the first bytes.
    func start() {
        offered = peer.profile.takeSession(for: sessionPeer)
        do throws(TLSError) {
            let engine = try TLSEngine(
                client: peer.context, host: peer.host, resuming: offered, over: wire)
            if peer.profile.identitySource != nil { engine.asksForIdentity = true }
            stage = .shaking(engine)
        } catch { return fail(error) }
        advance()
    }

    func channelReady(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: [.readable, .closed]) {
            wire.becameReadable(isClosing: !readiness.isDisjoint(with: .closed))
        }
        advance()
    }

    func loopWillClose() { end(.failure(.shutDown)) }

    private func advance() {
        guard case .shaking(let engine) = stage else { return }
        do {
            if wire.hasPendingOutput {
                try wire.flush()
                if wire.hasPendingOutput { return }
            }
        } catch { return end(.failure(error.transportError(host: peer.host, port: peer.port))) }
        do throws(TLSError) {
            switch try engine.handshake() {
            case .wouldBlock: break
            case .awaitsTrust(let trust): judge(trust, engine)
            case .awaitsIdentity(let request): choose(request, engine)
            case .done: try succeed(engine)
            }
        } catch { fail(error) }
    }

    // MARK: trust

    private func judge(_ trust: PeerTrust, _ engine: TLSEngine) {
        if engine.asksAboutResumption, let until = offered?.acceptedUntil, .now < until {
            acceptedUntil = until
            return judged(.success(()), engine)
        }
        let inquiry = TrustInquiry(peer.profile, trust, on: loop) { [weak self] verdict in
            guard let self, case .judging(let engine, _) = stage else { return }
            acceptedUntil = (try? verdict.get())?.reusableUntil
            judged(verdict.map { _ in }, engine)
        }
        stage = .judging(engine, inquiry)
        inquiry.start()
    }

    private func judged(_ verdict: Result<Void, TrustFailure>, _ engine: TLSEngine) {
        // The server may have another chain by now, which only a full handshake shows: the next one is that.
        if case .failure = verdict, engine.asksAboutResumption {
            peer.profile.forgetSessions(for: sessionPeer)
        }
        engine.answerTrust(verdict)
        stage = .shaking(engine)
        advance()
    }

    // MARK: identity

    private func choose(_ request: TLSIdentityRequest, _ engine: TLSEngine) {
        guard let source = peer.profile.identitySource else { return chosen(nil, engine) }
        wasAskedWho = true
        stage = .choosing(engine)
        let bound = LoopBound(self, on: loop)
        let reply = LoopReply<TLSIdentity?>(unanswered: nil) { [loop] identity in
            _ = loop.execute {
                guard case .choosing(let engine) = bound.value.stage else { return }
                bound.value.chosen(identity, engine)
            }
        }
        source(request, peer.host, peer.port) { reply.give($0) }
    }

    private func chosen(_ identity: TLSIdentity?, _ engine: TLSEngine) {
        engine.answerIdentity(identity)
        stage = .shaking(engine)
        advance()
    }

    // MARK: the end

    private func succeed(_ engine: TLSEngine) throws(TLSError) {
        let details = TLSDetails(engine.info)
        // Nothing else is spoken here, whatever was offered.
        if let name = details.applicationProtocol, name != "http/1.1" { throw .protocolNotOffered(name) }
        let keeper =
            peer.profile.configuration.resumesSessions && !wasAskedWho
            ? SessionKeeper(profile: peer.profile, peer: sessionPeer, acceptedUntil: acceptedUntil) : nil
        let channel = TLSChannel(engine, over: wire, keeper: keeper, details: details, on: loop)
        end(.success(channel))
        // Whoever was waiting has written by then, and our last flight has gone with it. What fails is seen by the reader.
        loop.executeOnLoop { try? channel.flush() }
    }

    private func fail(_ error: TLSError) {
        let failure: ChannelFailure
        if error == .wireFailed, let cause = wire.failure { failure = cause } else { failure = .tls(error) }
        end(.failure(failure.transportError(host: peer.host, port: peer.port)))
    }

    private func end(_ result: Result<TLSChannel, TransportError>) {
        guard registration != nil else { return }
        switch result {
        case .success:
            registration = nil
            stage = .over
        case .failure: close()
        }
        report(result)
    }

    /// Gives it up.
    func close() {
        if let registration { loop.deregister(registration) }
        registration = nil
        if case .judging(_, let inquiry) = stage { inquiry.cancel() }
        stage = .over
        wire.close()
    }
}
