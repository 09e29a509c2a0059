// SPDX-License-Identifier: MIT

import LupineTLS

/// Establishes TLS on a connected channel: the handshake, the verdict on the peer, and the client certificate if the server
/// requests one.
///
/// Confined to its loop. It calls `report` once, unless it is closed first. No part of a request is sent before the report, and
/// an untrusted peer receives only an alert. The owner sets the time-outs.
final class TLSHandshake: LoopChannel {
    /// The parameters of a handshake: the peer, and the TLS profile for it. A class, so that passing them copies one reference.
    final class Peer {
        let profile: TLSProfile
        let context: TLSClientContext
        let host: String
        let port: UInt16
        /// The proxy behind which the peer is; nil if there is none, or if the proxy itself is the peer.
        let proxy: ProxyServer?
        /// Records the time at which the handshake last made progress.
        let progress: DialProgress
        /// Whether HTTP/2 is accepted if the peer chooses it.
        let allowsHTTP2: Bool
        /// The ALPN protocols to offer instead of the profile's; nil to offer the profile's.
        let offeredProtocols: [String]?

        init(
            profile: TLSProfile, context: TLSClientContext, host: String, port: UInt16, proxy: ProxyServer?,
            progress: DialProgress, allowsHTTP2: Bool = false, offering protocols: [String]? = nil
        ) {
            self.profile = profile
            self.context = context
            self.host = host
            self.port = port
            self.proxy = proxy
            self.progress = progress
            self.allowsHTTP2 = allowsHTTP2
            offeredProtocols = protocols
        }
    }

    /// The states; an arrow names the states that may follow.
    private enum State {
        case new  // → handshaking, over
        case handshaking(TLSEngine)  // → awaitingVerdict, evaluating, awaitingIdentity, over
        /// The exchange's verifier decides whether the peer is trusted.
        case awaitingVerdict(TLSEngine, PeerTrust)  // → handshaking, evaluating, over
        /// The profile's evaluator decides whether the peer is trusted.
        case evaluating(TLSEngine, TrustEvaluationDriver)  // → handshaking, over
        /// The program chooses a client certificate.
        case awaitingIdentity(TLSEngine)  // → handshaking, over
        case over
    }

    private let peer: Peer
    private let wire: any ChannelWire
    private let loop: EventLoop
    private let report: (Result<TLSChannel, TransportError>) -> Void
    /// The socket's registration with the loop; nil once the handshake has ended.
    private var registration: Registration?
    private var state = State.new
    /// The session that the client has offered to resume.
    private var offeredSession: TLSSession?
    /// Whether the program was asked for the client certificate that the server requested. The sessions of this connection are
    /// then not stored: a resumed connection would present the same certificate without asking the program.
    private var hasAskedForIdentity = false
    /// Whether the exchange that the connection is opened for has chosen a client certificate. No other exchange may then use the
    /// connection.
    private var isBoundToExchange = false
    /// The profile that the connection belongs to: at first that of `peer`; an answer of the verifier may change it.
    private var profile: TLSProfile
    /// The time until which the verdict also holds for connections that resume a session of this one.
    private var acceptedUntil: UnixTime?
    /// The chain that the last verdict is about, and how it was accepted; used only if the handshake succeeds.
    private var lastVerdict: (trust: PeerTrust, acceptance: PeerEvidence.Acceptance)?
    /// Binds an exchange to the connection and returns its verifier; set before `start`.
    var claim: () -> PeerClaim = { .claimed(nil) }
    /// Called with true when the handshake begins to wait for an answer of the program, and with false when it has the answer;
    /// set before `start`.
    var setAwaitingProgram: (Bool) -> Void = { _ in }
    /// The result of `claim`, once it has been called.
    private var claimResult: PeerClaim?

    init(
        with peer: Peer, over wire: any ChannelWire, _ registration: Registration, on loop: EventLoop,
        report: @escaping (Result<TLSChannel, TransportError>) -> Void
    ) {
        self.peer = peer
        profile = peer.profile
        self.wire = wire
        self.registration = registration
        self.loop = loop
        self.report = report
        loop.reassign(registration, to: self)
    }

    /// The key under which the profile stores sessions of this peer.
    private var sessionPeer: SessionPeer { SessionPeer(host: peer.host, port: peer.port, proxy: peer.proxy) }

    /// Starts the handshake.
    func start() {
        // Nil if there is none: the handshake is then a full one.
        offeredSession = peer.profile.takeSession(for: sessionPeer)
        do throws(TLSError) {
            let engine = try TLSEngine(
                client: peer.context, host: peer.host, offering: peer.offeredProtocols,
                resuming: offeredSession, over: wire)
            engine.asksForIdentity =
                peer.profile.identitySource != nil || peer.profile.questions == .trustAndIdentity
            state = .handshaking(engine)
        } catch { return fail(error) }
        advance()
    }

    func channelReady(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: [.readable, .closed]) {
            wire.becameReadable(isClosing: !readiness.isDisjoint(with: .closed))
            if case .handshaking = state { peer.progress.recordStep(at: loop.now) }
        }
        advance()
    }

    func loopWillClose() { end(.failure(.shutDown)) }

    /// Continues the handshake, as far as the peer's input and the program's answers allow. Does nothing while an answer is
    /// awaited.
    private func advance() {
        guard case .handshaking(let engine) = state else { return }
        do {
            if wire.hasPendingOutput {
                try wire.flush()
                if wire.hasPendingOutput { return }
            }
        } catch { return end(.failure(error.transportError(host: peer.host, port: peer.port))) }
        do throws(TLSError) {
            switch try engine.handshake() {
            case .wouldBlock: break
            case .awaitsTrust(let trust): verify(trust, engine)
            case .awaitsIdentity(let request): chooseIdentity(request, engine)
            case .done: try succeed(engine)
            }
        } catch { fail(error) }
    }

    // MARK: trust

    /// Decides whether the peer is trusted: asks the exchange's verifier if the profile says so, accepts a resumed session whose
    /// verdict still holds, and otherwise evaluates the chain.
    private func verify(_ trust: PeerTrust, _ engine: TLSEngine) {
        // `questions` says what the handshake asks the verifier of the exchange.
        switch peer.profile.questions {
        case .none: break
        case .trust, .trustAndIdentity: return askVerifier(about: trust, engine)
        }
        // True if the handshake resumes a session, and `trust` is about the chain of the handshake from which the session comes.
        if engine.asksAboutResumption, let until = offeredSession?.acceptedUntil, .now < until {
            acceptedUntil = until
            return answerTrust(trust, .success(()), engine, acceptance: evaluatorAcceptance)
        }
        evaluate(trust, engine)
    }

    /// Has the profile's evaluator decide whether the peer is trusted.
    private func evaluate(_ trust: PeerTrust, _ engine: TLSEngine) {
        // The program's check runs on behalf of an exchange. If no exchange waits for the connection, the check does not run.
        if peer.profile.trust.asksProgram, case .abandoned = claimExchange() {
            return end(.failure(.cancelled))
        }
        let driver = TrustEvaluationDriver(peer.profile, trust, on: loop) { [weak self] verdict in
            guard let self, case .evaluating(let engine, _) = state else { return }
            // A handshake that asks the exchange's verifier does so for every connection: the verdict is not reused (I-12.15).
            if peer.profile.questions == .none { acceptedUntil = (try? verdict.get())?.reusableUntil }
            answerTrust(trust, verdict.map { _ in }, engine, acceptance: evaluatorAcceptance)
        }
        state = .evaluating(engine, driver)
        driver.start()
    }

    /// Asks the verifier of the exchange that the connection is opened for. If a session is resumed, the verifier is asked too,
    /// about the chain of the original handshake.
    private func askVerifier(about trust: PeerTrust, _ engine: TLSEngine) {
        guard case .claimed(let verifier) = claimExchange() else { return end(.failure(.cancelled)) }
        // An exchange without a verifier leaves the decision to the profile's evaluator.
        guard let verifier else { return evaluate(trust, engine) }
        state = .awaitingVerdict(engine, trust)
        setAwaitingProgram(true)
        // The answer if the verifier releases its reply without a call.
        let defaultAnswer = (
            verdict: PeerVerdict.refused(.refused("nobody has answered")), profile: TLSProfile?.none
        )
        let reply = reply(default: defaultAnswer) { handshake, answer in
            handshake.receivedVerdict(answer.verdict, answer.profile)
        }
        verifier.judge(trust, host: peer.host, port: peer.port, under: profile) { verdict, profile in
            reply.fulfill((verdict: verdict, profile: profile))
        }
    }

    /// Continues with the answer of the verifier, and with the profile that the answer names, if any.
    private func receivedVerdict(_ verdict: PeerVerdict, _ profile: TLSProfile?) {
        guard case .awaitingVerdict(let engine, let trust) = state else { return }
        setAwaitingProgram(false)
        if let profile { self.profile = profile }
        // `.otherwise`: another check than the default evaluation has accepted the peer, here that of the verifier. For a refused
        // peer the value is not used, because the handshake fails.
        switch verdict {
        case .accepted: answerTrust(trust, .success(()), engine, acceptance: .otherwise)
        case .acceptedUnchecked: answerTrust(trust, .success(()), engine, acceptance: .unchecked)
        case .refused(let failure): answerTrust(trust, .failure(failure), engine, acceptance: .otherwise)
        case .byDefault: evaluate(trust, engine)
        case .cancelled: end(.failure(.cancelled))
        }
    }

    /// The kind of acceptance to record for a peer that the profile's evaluator accepts: `standard` only if the default checks
    /// are part of the evaluator.
    private var evaluatorAcceptance: PeerEvidence.Acceptance {
        let evaluator = peer.profile.trust
        if evaluator.includesDefault { return .standard }
        return evaluator.checksNothing ? .unchecked : .otherwise
    }

    /// Gives the engine the verdict on the peer, and continues the handshake.
    private func answerTrust(
        _ trust: PeerTrust, _ verdict: Result<Void, TrustFailure>, _ engine: TLSEngine,
        acceptance: PeerEvidence.Acceptance
    ) {
        lastVerdict = (trust, acceptance)
        if case .failure(let failure) = verdict {
            peer.profile.refusalHandler?(trust, failure, peer.host, peer.port)
        }
        // The verdict was about the chain of the session. The server may have another chain by now, which only a full handshake
        // shows. So the sessions of this server are removed, and the next connection offers none.
        if case .failure = verdict, engine.asksAboutResumption {
            peer.profile.forgetSessions(for: sessionPeer)
        }
        peer.progress.recordStep(at: loop.now)
        engine.answerTrust(verdict)
        state = .handshaking(engine)
        advance()
    }

    /// Returns the verifier of the exchange that the connection is for. The first call binds the exchange to the connection.
    private func claimExchange() -> PeerClaim {
        if let claimResult { return claimResult }
        let result = claim()
        claimResult = result
        return result
    }

    /// Returns a reply that delivers its answer on the loop.
    private func reply<Answer: Sendable>(
        default defaultAnswer: Answer, _ deliver: @escaping @Sendable (TLSHandshake, Answer) -> Void
    ) -> LoopReply<Answer> {
        let bound = LoopBound(self, on: loop)
        return LoopReply(default: defaultAnswer) { [loop] answer in
            // The result is ignored: a loop that has ended has closed this handshake.
            _ = loop.execute { deliver(bound.value, answer) }
        }
    }

    // MARK: identity

    /// Asks the exchange's verifier, or the profile's identity source, for the client certificate that the server requests.
    private func chooseIdentity(_ request: TLSIdentityRequest, _ engine: TLSEngine) {
        // `questions` says what the handshake asks the verifier of the exchange: here, also for the client certificate.
        if peer.profile.questions == .trustAndIdentity {
            guard case .claimed(let verifier) = claimExchange() else { return end(.failure(.cancelled)) }
            guard let verifier else { return answerIdentity(nil, engine) }
            let reply = waitForIdentity(engine)
            return verifier.identify(for: request, host: peer.host, port: peer.port, under: profile) {
                answer, profile in reply.fulfill((answer: answer, profile: profile))
            }
        }
        guard let source = peer.profile.identitySource else { return answerIdentity(nil, engine) }
        let reply = waitForIdentity(engine)
        source(request, peer.host, peer.port) { identity in
            let answer: IdentityAnswer = if let identity { .identity(identity) } else { .nobody }
            reply.fulfill((answer: answer, profile: nil))
        }
    }

    /// Begins to wait for a client certificate, and returns the reply to be fulfilled with it.
    private func waitForIdentity(
        _ engine: TLSEngine
    ) -> LoopReply<(answer: IdentityAnswer, profile: TLSProfile?)> {
        hasAskedForIdentity = true
        state = .awaitingIdentity(engine)
        setAwaitingProgram(true)
        // The answer if the program releases its reply without a call.
        let defaultAnswer = (answer: IdentityAnswer.nobody, profile: TLSProfile?.none)
        return reply(default: defaultAnswer) { handshake, choice in
            handshake.receivedIdentity(choice.answer, choice.profile)
        }
    }

    /// Continues with the chosen client certificate, and with the profile that the answer names, if any.
    private func receivedIdentity(_ answer: IdentityAnswer, _ profile: TLSProfile?) {
        guard case .awaitingIdentity(let engine) = state else { return }
        setAwaitingProgram(false)
        if let profile { self.profile = profile }
        switch answer {
        case .identity(let identity):
            // With these questions, the exchange's verifier has chosen the certificate, and not the profile's identity source.
            isBoundToExchange = peer.profile.questions == .trustAndIdentity
            answerIdentity(identity, engine)
        case .nobody: answerIdentity(nil, engine)
        case .cancelled: end(.failure(.cancelled))
        }
    }

    /// Gives the engine the client certificate, or nil for none, and continues the handshake.
    private func answerIdentity(_ identity: TLSIdentity?, _ engine: TLSEngine) {
        peer.progress.recordStep(at: loop.now)
        engine.answerIdentity(identity)
        state = .handshaking(engine)
        advance()
    }

    // MARK: the end

    /// Creates the channel and reports it. Throws if the peer has chosen a protocol that the transport does not speak.
    private func succeed(_ engine: TLSEngine) throws(TLSError) {
        // The transport speaks only these protocols, even if the configuration offers others.
        if let name = engine.applicationProtocol {
            let isSpoken = name == "http/1.1" || (name == "h2" && peer.allowsHTTP2)
            guard isSpoken else { throw .protocolNotOffered(name) }
        }
        // No handshake succeeds without a verdict.
        guard let evidence = evidence(engine) else {
            throw .untrusted(.refused("the handshake ended without a verdict"))
        }
        // Nil if no session of this connection is stored.
        let sessionSaver =
            peer.profile.configuration.resumesSessions && !hasAskedForIdentity
            ? SessionSaver(
                profile: profile, peer: sessionPeer, acceptedUntil: acceptedUntil, evidence: evidence)
            : nil
        let channel = TLSChannel(
            engine, over: wire, under: profile, sessionSaver: sessionSaver, evidence: evidence,
            isBoundToExchange: isBoundToExchange, on: loop)
        end(.success(channel))
        // When this work runs, the waiting exchange has usually sent its first bytes, and the last messages of the handshake have
        // left with them. An error is ignored: the next read reports it.
        loop.executeOnLoop { try? channel.sendLastFlight() }
    }

    /// Returns the evidence of the handshake or, for a resumed session, of the original handshake.
    private func evidence(_ engine: TLSEngine) -> PeerEvidence? {
        if engine.isResumed, let evidence = offeredSession?.evidence { return evidence }
        return lastVerdict.map {
            PeerEvidence(of: $0.trust, acceptance: $0.acceptance, identity: engine.identity)
        }
    }

    /// Ends the handshake with the wire's error if that made the engine fail, and with the engine's error otherwise.
    private func fail(_ error: TLSError) {
        let failure: ChannelFailure
        if error == .wireFailed, let cause = wire.failure { failure = cause } else { failure = .tls(error) }
        end(.failure(failure.transportError(host: peer.host, port: peer.port)))
    }

    /// Reports the result, once; closes the connection on failure.
    private func end(_ result: Result<TLSChannel, TransportError>) {
        guard registration != nil else { return }
        switch result {
        case .success:
            registration = nil
            state = .over
            releaseVerifier()
        case .failure: close()
        }
        report(result)
    }

    /// Closes the connection without a report.
    func close() {
        if let registration { loop.deregister(registration) }
        registration = nil
        if case .evaluating(_, let driver) = state { driver.cancel() }
        state = .over
        wire.close()
        releaseVerifier()
    }

    /// Releases the verifier, which `claimResult` and `claim` retain. A verifier that stores the closure with which it answers
    /// would otherwise form a reference cycle with this handshake.
    private func releaseVerifier() {
        claimResult = nil
        claim = { .claimed(nil) }
    }
}
