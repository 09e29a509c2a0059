// SPDX-License-Identifier: MIT

/// Opens one connection to an origin: look-up, race of addresses, proxy, TLS. Confined to one loop, and used for one dial.
///
/// `ConnectRace` connects to one of several addresses, `ProxyHandshake` asks a proxy for a tunnel, `TLSHandshake` secures the
/// connection to an https proxy and to an https origin. The dialer runs them in order, under one time-out for connecting and one
/// for each handshake, and reports once. A failed handshake ends the dial: the dialer tries no other address and no weaker
/// protection.
final class Dialer {
    typealias Outcome = Result<DialedChannel, TransportError>

    private let origin: Origin
    private let progress: DialProgress
    private let configuration: DialConfiguration
    private let resolver: Resolver
    private let loop: EventLoop

    private var phase = Phase.new
    /// The bytes of the origin that arrived together with the proxy's answer.
    private var firstOriginBytes: [UInt8] = []
    private var metrics = DialMetrics()
    private var report: ((Outcome) -> Void)?
    /// Ties an exchange to the dial, and returns the delegate or evaluator that decides about the peer for it.
    private var claim: () -> PeerClaim = { .abandoned }
    /// The result of `claim`, once it was called.
    private var claimed: PeerClaim?
    /// Existing connections that can serve instead of a new one; nil for none.
    private var offer: ConnectionOffer?
    /// The error of a cancellation before the start.
    private var earlyCancellation: TransportError?
    /// The deadline for everything but handshakes; it is extended by the duration of the handshake with the proxy.
    private var deadline: Instant?
    /// The time limit of the current step.
    private var limit: (at: Instant, timeout: TransferTimeout)?
    /// Fires no later than the limit. If it fires before the limit, it is set again, so that a later limit needs no new timer.
    private var limitTimer: (token: EventLoop.TimerToken, at: Instant)?
    private var handshakeStart = Instant.zero

    private enum Phase {
        case new
        /// The TLS context is being loaded.
        case preparing
        case lookingUp(LookUp)
        /// Connecting to the only address, without a race; nil until the attempt has been created.
        case connecting(ConnectAttempt?)
        case racing(ConnectRace)
        /// In the TLS handshake with the proxy.
        case securingProxy(TLSHandshake, Established)
        /// Asking the proxy for a tunnel.
        case handshakingWithProxy(ProxyHandshake, Established)
        /// In the TLS handshake with the origin.
        case securing(TLSHandshake, Established)
        case over
    }

    /// The registration and address of a connected socket.
    private struct Established {
        let registration: Registration
        let address: SocketAddress
    }

    /// Creates a dial to the origin of `progress`, which records when the dial last made progress.
    init(_ progress: DialProgress, configuration: DialConfiguration, resolver: Resolver, loop: EventLoop) {
        origin = progress.origin
        self.progress = progress
        self.configuration = configuration
        self.resolver = resolver
        self.loop = loop
    }

    /// Starts the dial. It ends with `cancelled` if an offered connection serves instead.
    ///
    /// - Parameters:
    ///   - claim: Called at most once, when the peer is to be verified, and only if the origin's TLS profile asks the exchange
    ///     about trust or the client's identity (`TLSProfile.questions`), or has an evaluator or identity source of the program.
    ///   - offer: Existing connections that may serve instead of a new one.
    ///   - report: Called once with the result; if `cancel(_:)` ends the dial, with the error passed to it.
    func start(
        claiming claim: @escaping () -> PeerClaim = { .claimed(nil) },
        offering offer: ConnectionOffer? = nil, _ report: @escaping (Outcome) -> Void
    ) {
        guard case .new = phase else { return }
        self.claim = claim
        self.offer = offer
        self.report = report
        if let earlyCancellation { return end(.failure(earlyCancellation)) }
        if let timeout = configuration.timeout { setDeadline(loop.now + timeout) }
        // An https origin and an https proxy each need a profile.
        let lacksProfile = origin.scheme == .https && origin.tls == nil
        guard !lacksProfile, origin.proxy?.kind != .https || origin.proxyTLS != nil else {
            return end(.failure(.unsupported("https without a TLS profile")))
        }
        prepare()
    }

    /// Loads the TLS contexts that are not loaded yet.
    private func prepare() {
        guard let unprepared = unprepared(origin.tls) ?? unprepared(origin.proxyTLS) else { return begin() }
        phase = .preparing
        let bound = LoopBound(self, on: loop)
        unprepared.prepare { [loop] answer in
            _ = loop.execute { bound.value.prepared(unprepared, answer) }
        }
    }

    /// Returns the profile if its TLS context is not loaded.
    private func unprepared(_ profile: TLSProfile?) -> TLSProfile? {
        guard let profile, profile.context == nil else { return nil }
        return profile
    }

    /// Called on the loop when a TLS context has been loaded.
    private func prepared(_ profile: TLSProfile, _ answer: TLSSettings.Answer) {
        guard case .preparing = phase else { return }
        switch answer {
        case .success: prepare()
        case .failure(let error):
            let isOrigin = profile == origin.tls
            let host = isOrigin ? origin.host : origin.proxy?.host ?? origin.host
            end(.failure(.tls(host: host, port: isOrigin ? origin.port : origin.proxy?.port ?? 0, error)))
        }
    }

    /// Starts to connect, once all TLS contexts are loaded.
    private func begin() {
        if let path = origin.unixPath { return race([.unix(path: path)]) }
        lookUp(host: origin.proxy?.host ?? origin.host, port: origin.proxy?.port ?? origin.port)
    }

    /// Ends the dial and reports `error`.
    func cancel(_ error: TransportError) {
        if case .new = phase, report == nil { earlyCancellation = error }
        end(.failure(error))
    }

    private func setDeadline(_ instant: Instant) {
        deadline = instant
        limit = (instant, .connect)
        armLimit()
    }

    /// Sets the timer of the limit, unless a timer is set that fires no later.
    private func armLimit() {
        guard let limit else { return }
        if let limitTimer {
            guard limit.at < limitTimer.at else { return }
            loop.cancel(limitTimer.token)
        }
        limitTimer = (loop.schedule(at: limit.at, self, tag: 0), limit.at)
    }

    // MARK: Look-up

    private func lookUp(host: String, port: UInt16) {
        let began = loop.now
        // Overrides and IP literals need no look-up.
        if let answer = resolver.answerInMemory(for: host, port: port, family: configuration.family) {
            return lookedUp(host, answer)
        }
        let start = resolver.lookUp(host, port: port, family: configuration.family, on: loop) { answer in
            self.lookedUp(host, answer)
        }
        switch start {
        // A cached answer needs no look-up either.
        case .answered(let answer): lookedUp(host, answer)
        case .pending(let lookUp):
            metrics.lookUpStart = began
            phase = .lookingUp(lookUp)
        }
    }

    /// Continues with the answer of the resolver.
    private func lookedUp(_ host: String, _ answer: Resolver.Answer) {
        if metrics.lookUpStart != nil { metrics.lookUpEnd = loop.now }
        switch answer {
        case .success(let addresses):
            if let candidate = offer?.candidate(addresses) {
                coalesce(onto: candidate, insteadOf: addresses)
            } else {
                race(addresses)
            }
        case .failure(.resolverFailed(_, system: let error?)) where error.isOutOfDescriptors:
            end(.failure(.outOfDescriptors(error)))
        case .failure(let error):
            guard let proxy = origin.proxy else { return end(.failure(.resolution(host: host, error))) }
            end(.failure(.proxyResolution(proxy: proxy.description, error)))
        }
    }

    // MARK: Coalescing

    /// Uses an existing connection: ends this dial if the pool leases that connection. Dials if the pool does not, or if the
    /// delegate may reject the connection's peer; the delegate is not asked about it, because the connection was opened for
    /// another origin.
    private func coalesce(
        onto candidate: CoalescibleConnections.Candidate, insteadOf addresses: [SocketAddress]
    ) {
        if let profile = origin.tls, profile.questions != .none {
            // No exchange waits any more.
            guard case .claimed(let verifier) = claimExchange() else { return end(.failure(.cancelled)) }
            if let verifier, !verifier.acceptsByDefault(host: origin.host, port: origin.port) {
                return race(addresses)
            }
        }
        // The pool has dropped this dial and ignores its result.
        if offer?.coalesce(candidate) == true { return end(.failure(.cancelled)) }
        race(addresses)
    }

    /// Ties the dial to an exchange at the first call. Returns the exchange's verifier, or `abandoned` if no exchange waits.
    private func claimExchange() -> PeerClaim {
        let found = claimed ?? claim()
        claimed = found
        return found
    }

    // MARK: Connecting

    /// Connects to one of the addresses.
    private func race(_ addresses: [SocketAddress]) {
        metrics.connectStart = loop.now
        if addresses.count == 1 { return connect(to: addresses[0]) }
        let race = ConnectRace(
            to: addresses, binding: origin.localBinding, configuration: configuration, on: loop
        ) { outcome in
            self.raceEnded(outcome)
        }
        phase = .racing(race)
        race.start()
    }

    private func raceEnded(_ outcome: ConnectRace.Outcome) {
        switch outcome {
        case .connected(let attempt): connected(attempt)
        case .unreachable(let failures): endUnreachable(failures)
        case .failed(let error): end(.failure(error))
        }
    }

    /// Connects to the only address; a race of one needs no machine.
    private func connect(to address: SocketAddress) {
        phase = .connecting(nil)
        do throws(Errno) {
            let attempt = try ConnectAttempt(
                address, binding: origin.localBinding, speaksFirst: !configuration.keepsFirstOriginBytes,
                on: loop
            ) { error in
                self.connectEnded(error)
            }
            phase = .connecting(attempt)
        } catch {
            if case .outOfDescriptors = TransportError(connecting: address, error) {
                return end(.failure(.outOfDescriptors(error)))
            }
            // Deferred, because every other result of an attempt is reported later too.
            loop.executeOnLoop { self.endUnreachable([ConnectFailure(address: address, error: error)]) }
        }
    }

    private func connectEnded(_ error: Errno?) {
        guard case .connecting(let attempt?) = phase else { return }
        if let error { return endUnreachable([ConnectFailure(address: attempt.address, error: error)]) }
        connected(attempt)
    }

    private func endUnreachable(_ failures: [ConnectFailure]) {
        guard let proxy = origin.proxy else {
            return end(.failure(.unreachable(host: origin.host, port: origin.port, failures)))
        }
        end(.failure(.proxyUnreachable(proxy: proxy.description, failures)))
    }

    private func connected(_ attempt: ConnectAttempt) {
        guard let registration = attempt.established, let socket = attempt.takeSocket() else {
            return end(.failure(.shutDown))
        }
        useSocket(socket, registration, attempt.address, mayRead: attempt.sawInput)
    }

    // MARK: Proxy

    /// Starts the next handshake on a connected socket.
    private func useSocket(
        _ socket: consuming Socket, _ registration: Registration, _ address: SocketAddress, mayRead: Bool
    ) {
        progress.step(at: loop.now)
        // If connecting or a handshake has no time-out, only the keep-alive probes detect a peer that is gone. Any other
        // connection enables them when it has lived long enough to need them.
        if let probes = configuration.probes(to: address),
            configuration.timeout == nil || configuration.tlsHandshakeTimeout == nil
        {
            try? socket.setKeepAlive(probes)
        }
        let established = Established(registration: registration, address: address)
        let channel = ByteChannel(socket: socket)
        guard let proxy = origin.proxy, proxy.kind == .https, let profile = origin.proxyTLS else {
            return startProxyHandshake(over: channel, established, mayRead: mayRead)
        }
        // Neither is nil: `prepare` has loaded the context, and the channel is open.
        guard let context = profile.context,
            let wire = channel.wire(mayRead: mayRead, on: loop)
        else { return end(.failure(.shutDown)) }
        let peer = TLSHandshake.Peer(
            profile: profile, context: context, host: proxy.host, port: proxy.port, proxy: nil,
            progress: progress)
        let handshake = TLSHandshake(with: peer, over: wire, registration, on: loop) { result in
            self.securedProxy(result)
        }
        phase = .securingProxy(handshake, established)
        startHandshake(handshake)
    }

    /// Continues after the TLS handshake with the proxy.
    private func securedProxy(_ result: Result<TLSChannel, TransportError>) {
        guard case .securingProxy(_, let established) = phase else { return }
        progress.step(at: loop.now)
        // The time-out for connecting resumes; it did not run during the handshake.
        if let deadline { setDeadline(deadline + (loop.now - handshakeStart)) } else { limit = nil }
        switch result {
        case .failure(let error): end(.failure(error))
        case .success(let channel):
            startProxyHandshake(over: ByteChannel(secure: channel), established, mayRead: true)
        }
    }

    /// Asks the proxy for a tunnel, if one is needed.
    private func startProxyHandshake(
        over channel: consuming ByteChannel, _ established: Established, mayRead: Bool
    ) {
        guard let proxy = origin.proxy, !configuration.forwardsRequests(to: origin) else {
            return secure(channel, established, mayRead: mayRead)
        }
        let machine: ProxyHandshake.Machine
        do throws(TransportError) {
            machine = try ProxyHandshake.Machine(proxy, to: origin, configuration)
        } catch {
            loop.deregister(established.registration)
            channel.close()
            return end(.failure(error))
        }
        let handshake = ProxyHandshake(
            machine, over: channel, established.registration, mayRead: mayRead, proxy: proxy,
            originMaySpeakFirst: configuration.keepsFirstOriginBytes && origin.scheme == .http, on: loop
        ) { result in self.proxyHandshakeEnded(result) }
        phase = .handshakingWithProxy(handshake, established)
        handshake.start()
    }

    private func proxyHandshakeEnded(_ result: Result<Void, TransportError>) {
        guard case .handshakingWithProxy(let handshake, let established) = phase else { return }
        progress.step(at: loop.now)
        switch result {
        case .failure(let error): end(.failure(error))
        case .success:
            guard let channel = handshake.takeChannel() else { return end(.failure(.shutDown)) }
            firstOriginBytes = handshake.firstOriginBytes
            secure(channel, established, mayRead: true)
        }
    }

    // MARK: TLS

    /// Starts TLS with the origin, or finishes the dial if the origin uses none.
    private func secure(_ channel: consuming ByteChannel, _ established: Established, mayRead: Bool) {
        guard origin.scheme == .https, let profile = origin.tls else {
            return finish(channel, established, mayRead: mayRead)
        }
        guard let context = profile.context,
            let wire = channel.wire(mayRead: mayRead, on: loop)
        else { return end(.failure(.shutDown)) }
        let peer = TLSHandshake.Peer(
            profile: profile, context: context, host: origin.host, port: origin.port, proxy: origin.proxy,
            progress: progress, allowsHTTP2: configuration.versions.contains(.http2),
            offering: configuration.offeredProtocols)
        let handshake = TLSHandshake(with: peer, over: wire, established.registration, on: loop) { result in
            self.secured(result)
        }
        if profile.questions != .none || profile.identitySource != nil || profile.trust.asksProgram {
            handshake.claim = { [weak self] in self?.claimExchange() ?? .abandoned }
            handshake.setAwaitingProgram = { [weak self] isAsking in
                self?.handshakeChanged(isAsking: isAsking)
            }
        }
        phase = .securing(handshake, established)
        metrics.secureStart = loop.now
        startHandshake(handshake)
    }

    /// Continues after the TLS handshake with the origin.
    private func secured(_ result: Result<TLSChannel, TransportError>) {
        guard case .securing(_, let established) = phase else { return }
        progress.step(at: loop.now)
        switch result {
        case .failure(let error): end(.failure(error))
        case .success(let channel):
            metrics.secureEnd = loop.now
            if let error = configuration.versionError(of: channel.details) {
                loop.deregister(established.registration)
                channel.close()
                return end(.failure(.tls(host: origin.host, port: origin.port, error)))
            }
            finish(ByteChannel(secure: channel), established, mayRead: !channel.isDrained)
        }
    }

    /// Starts a handshake. The connect time-out is suspended meanwhile: a handshake has its own.
    private func startHandshake(_ handshake: TLSHandshake) {
        handshakeStart = loop.now
        startHandshakeLimit()
        handshake.start()
    }

    /// Called when the handshake starts or stops waiting for an answer of the program. Meanwhile only the
    /// time-out of the whole exchange runs (U-14.3).
    private func handshakeChanged(isAsking: Bool) {
        if isAsking {
            progress.awaitProgram()
            limit = nil
        } else {
            progress.step(at: loop.now)
            startHandshakeLimit()
        }
    }

    private func startHandshakeLimit() {
        limit = configuration.tlsHandshakeTimeout.map { (loop.now + $0, .tlsHandshake) }
        armLimit()
    }

    // MARK: Ending

    /// Ends the dial successfully.
    private func finish(_ channel: consuming ByteChannel, _ established: Established, mayRead: Bool) {
        metrics.connectEnd = loop.now
        let route = ConnectionRoute(
            to: origin, over: channel, address: established.address, dial: metrics,
            configuration: configuration)
        let dialed = DialedChannel(channel, established.registration, route, mayRead: mayRead)
        dialed.speaksHTTP2 =
            route.tls.map { $0.applicationProtocol == "h2" } ?? configuration.versions.haveHTTP2WithoutTLS
        dialed.firstOriginBytes = firstOriginBytes
        // The program's answer about the peer has changed the profile: the connection belongs to the key with that profile.
        if let profile = route.tls?.profile, profile != origin.tls {
            dialed.newKey = origin.withTLSProfile(profile)
        }
        end(.success(dialed))
    }

    /// Ends the dial, releases what it has opened unless it succeeded, and reports.
    private func end(_ outcome: Outcome) {
        guard let report else { return }
        self.report = nil
        claim = { .abandoned }
        claimed = nil
        offer = nil
        if let limitTimer { loop.cancel(limitTimer.token) }
        limitTimer = nil
        limit = nil
        switch phase {
        case .new, .preparing, .over: break
        case .lookingUp(let lookUp): lookUp.cancel()
        case .connecting(let attempt): if case .failure = outcome { attempt?.close() }
        // On success, the winner's socket has been taken out, so this closes nothing of it.
        case .racing(let race): race.close()
        case .handshakingWithProxy(let handshake, _): if case .failure = outcome { handshake.close() }
        case .securingProxy(let handshake, _), .securing(let handshake, _):
            if case .failure = outcome { handshake.close() }
        }
        phase = .over
        report(outcome)
    }
}

extension Dialer: TimerTarget {
    /// Called when the timer of the limit has ended.
    func timerEnded(tag: Int, reason: TimerReason) {
        limitTimer = nil
        guard reason == .due else { return end(.failure(.shutDown)) }
        guard let limit else { return }
        // A later limit has replaced the one for which the timer was set.
        guard limit.at <= loop.now else { return armLimit() }
        let time = limit.timeout == .connect ? configuration.timeout : configuration.tlsHandshakeTimeout
        end(.failure(TransportError(host: origin.host, port: origin.port, limit.timeout, after: time)))
    }
}
