// SPDX-License-Identifier: MIT

/// Opens one connection to an origin (a dial): name look-up, race of addresses, proxy, TLS. Confined to one loop, and used once.
///
/// `ConnectRace` connects to one of several addresses, `ProxyHandshake` asks a proxy for a tunnel, `TLSHandshake` secures the
/// connection to an https proxy and to an https origin. The dialer runs them in order, under one time-out for connecting and one
/// for each TLS handshake, and reports once. A failed handshake ends the dial: the dialer tries no other address and no weaker
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
    /// Binds an exchange to the dial and returns the exchange's verifier, or `abandoned` if no exchange waits for the dial.
    private var claim: () -> PeerClaim = { .abandoned }
    /// The result of `claim`, once it has been called.
    private var claimResult: PeerClaim?
    /// Gives access to pooled connections that the exchanges can use instead of a new one; nil for none.
    private var offer: ConnectionOffer?
    /// The error that was passed to `cancel(_:)` before `start`.
    private var earlyCancellation: TransportError?
    /// The deadline for everything but TLS handshakes; extended by the duration of the TLS handshake with the proxy.
    private var connectDeadline: Instant?
    /// The time limit of the current phase; nil if it has none.
    private var limit: (at: Instant, timeout: TransferTimeout)?
    /// Fires at the limit or earlier. If earlier, it is set again: a limit that moves to a later time needs no new timer.
    private var limitTimer: (token: EventLoop.TimerToken, at: Instant)?
    /// When the last TLS handshake began.
    private var handshakeStart = Instant.zero

    private enum Phase {
        case new
        /// A worker thread loads a TLS context.
        case loadingContext
        case lookingUp(LookUp)
        /// Connecting to the only address, without a race; nil until the attempt has been created.
        case connecting(ConnectAttempt?)
        case racing(ConnectRace)
        /// In the TLS handshake with the proxy.
        case securingProxy(TLSHandshake, Endpoint)
        /// Asking the proxy for a tunnel.
        case handshakingWithProxy(ProxyHandshake, Endpoint)
        /// In the TLS handshake with the origin.
        case securing(TLSHandshake, Endpoint)
        case over
    }

    /// The registration of a connected socket, and the address of its peer.
    private struct Endpoint {
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
    ///   - claim: Called at most once, when the peer has to be verified. It is called only if code of the program may have to
    ///     decide: the exchange's verifier (`TLSProfile.questions`), an evaluator, or an identity source.
    ///   - offer: Gives access to pooled connections that may be used instead of a new one; nil for none.
    ///   - report: Called once with the result; if `cancel(_:)` ends the dial, with the error passed to it.
    func start(
        claiming claim: @escaping () -> PeerClaim = { .claimed(nil) },
        offering offer: ConnectionOffer? = nil, _ report: @escaping (Outcome) -> Void
    ) {
        guard case .new = phase else { return }
        self.claim = claim
        self.offer = offer
        self.report = report
        if let earlyCancellation { return end(.failure(earlyCancellation)) }  // `cancel` had no `report`.
        if let timeout = configuration.timeout { setConnectDeadline(loop.now + timeout) }
        // An https origin and an https proxy each need a profile.
        let lacksOriginProfile = origin.scheme == .https && origin.tls == nil
        let lacksProxyProfile = origin.proxy?.kind == .https && origin.proxyTLS == nil
        guard !lacksOriginProfile, !lacksProxyProfile else {
            return end(.failure(.unsupported("https without a TLS profile")))
        }
        loadContexts()
    }

    /// Loads the TLS contexts that are not loaded yet, one after the other, and then starts to connect.
    private func loadContexts() {
        guard let profile = needingContext(origin.tls) ?? needingContext(origin.proxyTLS) else {
            return startConnecting()
        }
        phase = .loadingContext
        let bound = LoopBound(self, on: loop)
        profile.loadContext { [loop] answer in
            // The result is ignored: if the loop has ended, nobody waits for the dial.
            _ = loop.execute { bound.value.contextLoadEnded(profile, answer) }
        }
    }

    /// Returns the profile if its TLS context is not loaded; nil if it is, or if there is no profile.
    private func needingContext(_ profile: TLSProfile?) -> TLSProfile? {
        guard let profile, profile.context == nil else { return nil }
        return profile
    }

    /// Called on the loop when the TLS context of a profile has been loaded, or cannot be loaded.
    private func contextLoadEnded(_ profile: TLSProfile, _ answer: TLSSettings.Answer) {
        guard case .loadingContext = phase else { return }
        switch answer {
        case .success: loadContexts()
        case .failure(let error):
            let proxy = profile == origin.tls ? nil : origin.proxy  // Nil for the origin's profile.
            end(.failure(.tls(host: proxy?.host ?? origin.host, port: proxy?.port ?? origin.port, error)))
        }
    }

    /// Starts to connect, once all TLS contexts are loaded.
    private func startConnecting() {
        if let path = origin.unixPath { return race([.unix(path: path)]) }
        lookUp(host: origin.proxy?.host ?? origin.host, port: origin.proxy?.port ?? origin.port)
    }

    /// Ends the dial and reports `error`. Before `start`, it only stores the error, which `start` then reports.
    func cancel(_ error: TransportError) {
        if case .new = phase, report == nil { earlyCancellation = error }
        end(.failure(error))
    }

    /// Sets the deadline for connecting, and makes it the current limit.
    private func setConnectDeadline(_ instant: Instant) {
        connectDeadline = instant
        limit = (instant, .connect)
        setLimitTimer()
    }

    /// Sets the timer of the limit, unless a timer is set that fires no later.
    private func setLimitTimer() {
        guard let limit else { return }
        if let limitTimer {
            guard limit.at < limitTimer.at else { return }
            loop.cancel(limitTimer.token)
        }
        limitTimer = (loop.schedule(at: limit.at, self, tag: 0), limit.at)
    }

    // MARK: Look-up

    /// Looks up the addresses of the origin or its proxy.
    private func lookUp(host: String, port: UInt16) {
        let lookUpStart = loop.now
        // Overrides and IP literals need no look-up.
        if let answer = resolver.answerInMemory(for: host, port: port, family: configuration.family) {
            return lookUpEnded(host, answer)
        }
        let start = resolver.lookUp(host, port: port, family: configuration.family, on: loop) { answer in
            self.lookUpEnded(host, answer)
        }
        switch start {
        // A cached answer needs no look-up either.
        case .answered(let answer): lookUpEnded(host, answer)
        case .pending(let lookUp):
            metrics.lookUpStart = lookUpStart  // Stays nil if the answer needs no look-up.
            phase = .lookingUp(lookUp)
        }
    }

    /// Continues with the answer of the resolver.
    private func lookUpEnded(_ host: String, _ answer: Resolver.Answer) {
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

    /// Makes the pool lease a pooled connection instead, which ends this dial. Continues the dial if the pool cannot lease that
    /// connection, or if the exchange's verifier might reject its peer. The verifier itself is not asked about the peer, because
    /// the connection was opened for another origin.
    private func coalesce(
        onto candidate: CoalescibleConnections.Candidate, insteadOf addresses: [SocketAddress]
    ) {
        if let profile = origin.tls, profile.questions != .none {
            // The claim fails if no exchange waits for the dial.
            guard case .claimed(let verifier) = claimExchange() else { return end(.failure(.cancelled)) }
            if let verifier, !verifier.acceptsByDefault(host: origin.host, port: origin.port) {
                return race(addresses)
            }
        }
        // If the pool leases the candidate, it has dropped this dial and ignores the error.
        if offer?.coalesce(candidate) == true { return end(.failure(.cancelled)) }
        race(addresses)
    }

    /// Binds an exchange to the dial at the first call. Returns the exchange's verifier, or `abandoned` if no exchange waits.
    private func claimExchange() -> PeerClaim {
        let result = claimResult ?? claim()
        claimResult = result
        return result
    }

    // MARK: Connecting

    /// Connects to one of the addresses.
    private func race(_ addresses: [SocketAddress]) {
        metrics.connectStart = loop.now
        if addresses.count == 1 { return connect(to: addresses[0]) }
        let race = ConnectRace(
            to: addresses, binding: origin.localBinding, configuration: configuration, on: loop
        ) { outcome in self.raceEnded(outcome) }
        phase = .racing(race)
        race.start()
    }

    /// Continues with the connection that has won the race, or ends the dial.
    private func raceEnded(_ outcome: ConnectRace.Outcome) {
        switch outcome {
        case .connected(let attempt): useSocket(of: attempt)
        case .unreachable(let failures): endUnreachable(failures)
        case .failed(let error): end(.failure(error))
        }
    }

    /// Connects to the only address, which needs no race.
    private func connect(to address: SocketAddress) {
        phase = .connecting(nil)
        do throws(Errno) {
            let attempt = try ConnectAttempt(
                address, binding: origin.localBinding,
                clientSpeaksFirst: !configuration.keepsFirstOriginBytes, on: loop
            ) { error in self.connectEnded(error) }
            phase = .connecting(attempt)
        } catch {
            if case .outOfDescriptors = TransportError(connecting: address, error) {
                return end(.failure(.outOfDescriptors(error)))
            }
            // Deferred, so that the dial never reports this failure before `start` has returned.
            loop.executeOnLoop { self.endUnreachable([ConnectFailure(address: address, error: error)]) }
        }
    }

    /// Continues with the connection to the only address, or ends the dial.
    private func connectEnded(_ error: Errno?) {
        guard case .connecting(let attempt?) = phase else { return }
        if let error { return endUnreachable([ConnectFailure(address: attempt.address, error: error)]) }
        useSocket(of: attempt)
    }

    /// Ends the dial, because no address could be connected to.
    private func endUnreachable(_ failures: [ConnectFailure]) {
        guard let proxy = origin.proxy else {
            return end(.failure(.unreachable(host: origin.host, port: origin.port, failures)))
        }
        end(.failure(.proxyUnreachable(proxy: proxy.description, failures)))
    }

    /// Takes the socket over from an attempt that has connected.
    private func useSocket(of attempt: ConnectAttempt) {
        // `registration` is read first, because `takeSocket` sets it to nil.
        guard let registration = attempt.registration, let socket = attempt.takeSocket() else {
            return end(.failure(.shutDown))
        }
        useSocket(socket, registration, attempt.address, mayRead: attempt.mayRead)
    }

    // MARK: Proxy

    /// Starts the next handshake on a connected socket.
    private func useSocket(
        _ socket: consuming Socket, _ registration: Registration, _ address: SocketAddress, mayRead: Bool
    ) {
        progress.recordStep(at: loop.now)
        // If connecting or a handshake has no time-out, only keep-alive probes detect that the peer has gone. Any other
        // connection enables the probes later, when it has been open for a while.
        if let probes = configuration.probes(to: address),
            configuration.timeout == nil || configuration.tlsHandshakeTimeout == nil
        {
            try? socket.setKeepAlive(probes)
        }
        let endpoint = Endpoint(registration: registration, address: address)
        let channel = ByteChannel(socket: socket)
        guard let proxy = origin.proxy, proxy.kind == .https, let profile = origin.proxyTLS else {
            return startProxyHandshake(over: channel, endpoint, mayRead: mayRead)
        }
        // Neither is nil: `loadContexts` has loaded the context, and the channel is open.
        guard let context = profile.context,
            let wire = channel.wire(mayRead: mayRead, on: loop)
        else { return end(.failure(.shutDown)) }
        let peer = TLSHandshake.Peer(
            profile: profile, context: context, host: proxy.host, port: proxy.port, proxy: nil,
            progress: progress)
        let handshake = TLSHandshake(with: peer, over: wire, registration, on: loop) { result in
            self.proxyTLSHandshakeEnded(result)
        }
        phase = .securingProxy(handshake, endpoint)
        startHandshake(handshake)
    }

    /// Continues after the TLS handshake with the proxy.
    private func proxyTLSHandshakeEnded(_ result: Result<TLSChannel, TransportError>) {
        guard case .securingProxy(_, let endpoint) = phase else { return }
        progress.recordStep(at: loop.now)
        // The time-out for connecting resumes: its deadline moves by the duration of the handshake, which does not count.
        if let connectDeadline {
            setConnectDeadline(connectDeadline + (loop.now - handshakeStart))
        } else {
            limit = nil
        }
        switch result {
        case .failure(let error): end(.failure(error))
        case .success(let channel):
            startProxyHandshake(over: ByteChannel(secure: channel), endpoint, mayRead: true)
        }
    }

    /// Asks the proxy for a tunnel, if one is needed.
    private func startProxyHandshake(
        over channel: consuming ByteChannel, _ endpoint: Endpoint, mayRead: Bool
    ) {
        guard let proxy = origin.proxy, !configuration.forwardsRequests(to: origin) else {
            return secure(channel, endpoint, mayRead: mayRead)
        }
        let machine: ProxyHandshake.Machine
        do throws(TransportError) {
            machine = try ProxyHandshake.Machine(proxy, to: origin, configuration)
        } catch {
            loop.deregister(endpoint.registration)
            channel.close()
            return end(.failure(error))
        }
        let handshake = ProxyHandshake(
            machine, over: channel, endpoint.registration, mayRead: mayRead, proxy: proxy,
            originMaySpeakFirst: configuration.keepsFirstOriginBytes && origin.scheme == .http, on: loop
        ) { result in self.proxyHandshakeEnded(result) }
        phase = .handshakingWithProxy(handshake, endpoint)
        handshake.start()
    }

    private func proxyHandshakeEnded(_ result: Result<Void, TransportError>) {
        guard case .handshakingWithProxy(let handshake, let endpoint) = phase else { return }
        progress.recordStep(at: loop.now)
        switch result {
        case .failure(let error): end(.failure(error))
        case .success:
            guard let channel = handshake.takeChannel() else { return end(.failure(.shutDown)) }
            firstOriginBytes = handshake.firstOriginBytes
            secure(channel, endpoint, mayRead: true)
        }
    }

    // MARK: TLS

    /// Starts TLS with the origin, or finishes the dial if the origin uses none.
    private func secure(_ channel: consuming ByteChannel, _ endpoint: Endpoint, mayRead: Bool) {
        guard origin.scheme == .https, let profile = origin.tls else {
            return finish(channel, endpoint, mayRead: mayRead)
        }
        // Neither is nil: `loadContexts` has loaded the context, and the channel is open.
        guard let context = profile.context,
            let wire = channel.wire(mayRead: mayRead, on: loop)
        else { return end(.failure(.shutDown)) }
        let peer = TLSHandshake.Peer(
            profile: profile, context: context, host: origin.host, port: origin.port, proxy: origin.proxy,
            progress: progress, allowsHTTP2: configuration.versions.contains(.http2),
            offering: configuration.offeredProtocols)
        let handshake = TLSHandshake(with: peer, over: wire, endpoint.registration, on: loop) { result in
            self.tlsHandshakeEnded(result)
        }
        let mayAskProgram =
            profile.questions != .none || profile.identitySource != nil || profile.trust.asksProgram
        if mayAskProgram {
            handshake.claim = { [weak self] in self?.claimExchange() ?? .abandoned }
            handshake.setAwaitingProgram = { [weak self] isAwaiting in
                self?.setAwaitingProgram(isAwaiting)
            }
        }
        phase = .securing(handshake, endpoint)
        metrics.secureStart = loop.now
        startHandshake(handshake)
    }

    /// Continues after the TLS handshake with the origin.
    private func tlsHandshakeEnded(_ result: Result<TLSChannel, TransportError>) {
        guard case .securing(_, let endpoint) = phase else { return }
        progress.recordStep(at: loop.now)
        switch result {
        case .failure(let error): end(.failure(error))
        case .success(let channel):
            metrics.secureEnd = loop.now
            if let error = configuration.versionError(of: channel.details) {
                loop.deregister(endpoint.registration)
                channel.close()
                return end(.failure(.tls(host: origin.host, port: origin.port, error)))
            }
            finish(ByteChannel(secure: channel), endpoint, mayRead: !channel.isDrained)
        }
    }

    /// Starts a TLS handshake under its own time-out. The time-out for connecting does not run meanwhile.
    private func startHandshake(_ handshake: TLSHandshake) {
        handshakeStart = loop.now
        startHandshakeLimit()
        handshake.start()
    }

    /// Called when the handshake starts or stops waiting for an answer of the program. While it waits, only the time-out of the
    /// whole exchange runs (U-14.3).
    private func setAwaitingProgram(_ isAwaiting: Bool) {
        if isAwaiting {
            progress.awaitProgram()
            limit = nil
        } else {
            progress.recordStep(at: loop.now)
            startHandshakeLimit()
        }
    }

    /// Makes the time-out of a TLS handshake the current limit, counted from now.
    private func startHandshakeLimit() {
        limit = configuration.tlsHandshakeTimeout.map { (loop.now + $0, .tlsHandshake) }
        setLimitTimer()
    }

    // MARK: Ending

    /// Ends the dial successfully.
    private func finish(_ channel: consuming ByteChannel, _ endpoint: Endpoint, mayRead: Bool) {
        metrics.connectEnd = loop.now  // As in URLSession, connecting includes the TLS handshake.
        let route = ConnectionRoute(
            to: origin, over: channel, address: endpoint.address, configuration: configuration)
        let dialed = DialedChannel(
            channel, endpoint.registration, route, times: metrics, mayRead: mayRead)
        dialed.speaksHTTP2 =
            route.tls.map { $0.applicationProtocol == "h2" } ?? configuration.versions.haveHTTP2WithoutTLS
        dialed.firstOriginBytes = firstOriginBytes
        // An answer of the program may have changed the profile: the connection then belongs to the key with the new profile.
        if let profile = route.tls?.profile, profile != origin.tls {
            dialed.newKey = origin.withTLSProfile(profile)
        }
        end(.success(dialed))
    }

    /// Ends the dial and reports the outcome, once. After a failure, closes the current phase's attempts or handshake.
    private func end(_ outcome: Outcome) {
        guard let report else { return }
        self.report = nil
        claim = { .abandoned }
        claimResult = nil
        offer = nil
        if let limitTimer { loop.cancel(limitTimer.token) }
        limitTimer = nil
        limit = nil
        switch phase {
        case .new, .loadingContext, .over: break
        case .lookingUp(let lookUp): lookUp.cancel()
        case .connecting(let attempt): if case .failure = outcome { attempt?.close() }
        // After a success, `takeSocket` has removed the winner's socket, so this does not close it.
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
    /// Called when the timer of the limit has ended. The dialer has only one timer, so `tag` is not needed.
    func timerEnded(tag: Int, reason: TimerReason) {
        limitTimer = nil
        guard reason == .due else { return end(.failure(.shutDown)) }
        guard let limit else { return }
        // If a later limit has replaced the one for which the timer was set, the timer is set again.
        guard limit.at <= loop.now else { return setLimitTimer() }
        let duration = limit.timeout == .connect ? configuration.timeout : configuration.tlsHandshakeTimeout
        end(.failure(TransportError(host: origin.host, port: origin.port, limit.timeout, after: duration)))
    }
}
