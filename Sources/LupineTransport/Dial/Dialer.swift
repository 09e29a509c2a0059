// SPDX-License-Identifier: MIT

import LupineHTTP

/// Opens one connection to an origin: look-up, race of addresses, proxy, TLS. Confined to one loop, and used for one dial.
///
/// `HappyEyeballsMachine` chooses the next address, `TunnelMachine` and `SocksMachine` decide what is sent to a proxy,
/// `TLSHandshake` secures the connection to an https proxy and to an https origin. The dialer runs them in order, under one
/// time-out for connecting and one for each handshake, and reports once. A failed handshake ends the dial: no other address is
/// tried, and nothing less secure.
final class Dialer {
    typealias Outcome = Result<DialedChannel, TransportError>

    private let origin: Origin
    private let progress: DialProgress
    private let configuration: DialConfiguration
    private let resolver: Resolver
    private let loop: EventLoop

    private var stage = Stage.new
    /// The bytes that the origin has sent right behind a proxy's answer.
    private var firstOriginBytes: [UInt8] = []
    private var metrics = DialMetrics()
    private var report: ((Outcome) -> Void)?
    /// Finds the delegate or evaluator that answers for the peer.
    private var claim: () -> PeerClaim = { .abandoned }
    private var claimed: PeerClaim?
    /// Existing connections that can serve instead of a new one.
    private var offer: ConnectionOffer?
    /// The error of a cancellation before the start.
    private var earlyCancellation: TransportError?
    /// The deadline for everything but handshakes; it is extended by the duration of the handshake with the proxy.
    private var deadline: Instant?
    /// The time limit of the current step.
    private var limit: (at: Instant, timeout: TransferTimeout)?
    /// Fires no later than the limit. If it fires too early, it is set again: a limit that moves later costs no timer.
    private var limitTimer: (token: EventLoop.TimerToken, at: Instant)?
    private var attemptDelayTimer: EventLoop.TimerToken?
    private var handshakeStart = Instant.zero

    private enum Tag: Int { case limit, attemptDelay }

    private enum Stage {
        case new
        /// The TLS context is being loaded.
        case preparing
        case lookingUp(LookUp)
        /// The only address; no race.
        case connecting(ConnectAttempt?)
        case racing(Race)
        case securingProxy(TLSHandshake, Established)
        case handshakingWithProxy(ProxyHandshake, Established)
        case securing(TLSHandshake, Established)
        case over
    }

    /// The registration and address of a connected socket.
    private struct Established {
        let registration: Registration
        let address: SocketAddress
    }

    private final class Race {
        var machine: HappyEyeballsMachine<SocketAddress, Errno>
        /// Indexed by attempt number; nil if an attempt could not start or has been closed.
        var attempts: [ConnectAttempt?] = []

        init(_ machine: HappyEyeballsMachine<SocketAddress, Errno>) { self.machine = machine }

        func attempt(_ id: HappyEyeballsMachine<SocketAddress, Errno>.AttemptID) -> ConnectAttempt? {
            attempts.indices.contains(id.rawValue) ? attempts[id.rawValue] : nil
        }
    }

    /// A dial to the origin of `progress`, which records how far it has come.
    init(_ progress: DialProgress, configuration: DialConfiguration, resolver: Resolver, loop: EventLoop) {
        origin = progress.origin
        self.progress = progress
        self.configuration = configuration
        self.resolver = resolver
        self.loop = loop
    }

    /// Starts the dial. `report` is called once; after `cancel(_:)` with its error. `claim` is called at most once, when the peer
    /// is to be verified, and only for an origin whose profile has questions or an evaluator of the program. A dial that takes an
    /// offered connection ends with `cancelled`.
    func start(
        claiming claim: @escaping () -> PeerClaim = { .claimed(nil) },
        offering offer: ConnectionOffer? = nil, _ report: @escaping (Outcome) -> Void
    ) {
        guard case .new = stage else { return }
        self.claim = claim
        self.offer = offer
        self.report = report
        if let earlyCancellation { return end(.failure(earlyCancellation)) }
        if let timeout = configuration.timeout { setDeadline(loop.now + timeout) }
        let lacksProfile = origin.scheme == .https && origin.tls == nil
        guard !lacksProfile, origin.proxy?.kind != .https || origin.proxyTLS != nil else {
            return end(.failure(.unsupported("https without a TLS profile")))
        }
        prepare()
    }

    /// Loads the TLS contexts that are not loaded yet.
    private func prepare() {
        guard let unprepared = unprepared(origin.tls) ?? unprepared(origin.proxyTLS) else { return begin() }
        stage = .preparing
        let bound = LoopBound(self, on: loop)
        unprepared.prepare { [loop] answer in
            _ = loop.execute { bound.value.prepared(unprepared, answer) }
        }
    }

    private func unprepared(_ profile: TLSProfile?) -> TLSProfile? {
        guard let profile, profile.context == nil else { return nil }
        return profile
    }

    private func prepared(_ profile: TLSProfile, _ answer: TLSSettings.Answer) {
        guard case .preparing = stage else { return }
        switch answer {
        case .success: prepare()
        case .failure(let error):
            let isOrigin = profile == origin.tls
            let host = isOrigin ? origin.host : origin.proxy?.host ?? origin.host
            end(.failure(.tls(host: host, port: isOrigin ? origin.port : origin.proxy?.port ?? 0, error)))
        }
    }

    private func begin() {
        if let path = origin.unixPath { return race([.unix(path: path)]) }
        lookUp(host: origin.proxy?.host ?? origin.host, port: origin.proxy?.port ?? origin.port)
    }

    /// Ends the dial and reports `error`.
    func cancel(_ error: TransportError) {
        if case .new = stage, report == nil { earlyCancellation = error }
        end(.failure(error))
    }

    private func setDeadline(_ instant: Instant) {
        deadline = instant
        limit = (instant, .connect)
        armLimit()
    }

    private func armLimit() {
        guard let limit else { return }
        if let limitTimer {
            guard limit.at < limitTimer.at else { return }
            loop.cancel(limitTimer.token)
        }
        limitTimer = (loop.schedule(at: limit.at, self, tag: Tag.limit.rawValue), limit.at)
    }

    private func limitTimerEnded(_ reason: TimerReason) {
        limitTimer = nil
        guard reason == .due else { return end(.failure(.shutDown)) }
        guard let limit else { return }
        guard limit.at <= loop.now else { return armLimit() }
        let time = limit.timeout == .connect ? configuration.timeout : configuration.tlsHandshakeTimeout
        end(.failure(TransportError(host: origin.host, port: origin.port, limit.timeout, after: time)))
    }

    // MARK: look-up

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
            stage = .lookingUp(lookUp)
        }
    }

    private func lookedUp(_ host: String, _ answer: Resolver.Answer) {
        if metrics.lookUpStart != nil { metrics.lookUpEnd = loop.now }
        switch answer {
        case .success(let addresses):
            if let candidate = offer?.candidate(addresses) {
                consider(candidate, insteadOf: addresses)
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

    // MARK: a connection that is there

    /// Takes the connection, unless the delegate may reject its peer. The delegate is not asked about a connection that the
    /// origin may not have intended.
    private func consider(
        _ candidate: CoalescibleConnections.Candidate, insteadOf addresses: [SocketAddress]
    ) {
        if let profile = origin.tls, profile.questions != .none {
            guard case .claimed(let verifier) = claimant() else { return end(.failure(.cancelled)) }
            if let verifier, !verifier.acceptsByDefault(host: origin.host, port: origin.port) {
                return race(addresses)
            }
        }
        if offer?.take(candidate) == true { return end(.failure(.cancelled)) }
        race(addresses)
    }

    /// Returns the exchange that the connection is for. Claimed once; the dial and the exchange then stay together.
    private func claimant() -> PeerClaim {
        let found = claimed ?? claim()
        claimed = found
        return found
    }

    // MARK: the race

    private func race(_ addresses: [SocketAddress]) {
        metrics.connectStart = loop.now
        if addresses.count == 1 { return connect(to: addresses[0]) }
        let machine = HappyEyeballsMachine<SocketAddress, Errno>(
            addresses: addresses.map { (family: $0.isIPv6 ? .ipv6 : .ipv4, address: $0) },
            first: configuration.firstFamily, attemptDelay: configuration.attemptDelay)
        stage = .racing(Race(machine))
        advance(.start)
    }

    /// Connects to the only address; a race of one needs no machine.
    private func connect(to address: SocketAddress) {
        stage = .connecting(nil)
        do throws(Errno) {
            let attempt = try ConnectAttempt(
                address, binding: origin.localBinding, speaksFirst: !configuration.keepsFirstOriginBytes,
                on: loop
            ) { error in
                self.connectEnded(error)
            }
            stage = .connecting(attempt)
        } catch {
            if case .outOfDescriptors = TransportError(connecting: address, error) {
                return end(.failure(.outOfDescriptors(error)))
            }
            // Reported in a separate step, as every other result of an attempt.
            loop.executeOnLoop { self.unreachable([ConnectFailure(address: address, error: error)]) }
        }
    }

    private func connectEnded(_ error: Errno?) {
        guard case .connecting(let attempt?) = stage else { return }
        if let error { return unreachable([ConnectFailure(address: attempt.address, error: error)]) }
        connected(attempt)
    }

    private func unreachable(_ failures: [ConnectFailure]) {
        guard let proxy = origin.proxy else {
            return end(.failure(.unreachable(host: origin.host, port: origin.port, failures)))
        }
        end(.failure(.proxyUnreachable(proxy: proxy.description, failures)))
    }

    private func connected(_ attempt: ConnectAttempt) {
        guard let registration = attempt.established, let socket = attempt.takeSocket() else {
            return end(.failure(.shutDown))
        }
        connected(socket, registration, attempt.address, mayRead: attempt.sawInput)
    }

    private func advance(_ event: HappyEyeballsMachine<SocketAddress, Errno>.Event) {
        guard case .racing(let race) = stage else { return }
        for action in race.machine.handle(event, at: loop.now) { perform(action) }
    }

    private func perform(_ action: HappyEyeballsMachine<SocketAddress, Errno>.Action) {
        guard case .racing(let race) = stage else { return }
        switch action {
        case .connect(let id, let address):
            do throws(Errno) {
                let attempt = try ConnectAttempt(
                    address, binding: origin.localBinding, speaksFirst: !configuration.keepsFirstOriginBytes,
                    on: loop
                ) { error in
                    self.advance(error.map { .failed(id, $0) } ?? .connected(id))
                }
                race.attempts.append(attempt)
            } catch {
                race.attempts.append(nil)
                // Out of descriptors: no other address can do better.
                if case .outOfDescriptors = TransportError(connecting: address, error) {
                    return end(.failure(.outOfDescriptors(error)))
                }
                // Reported in a separate step, so that the machine never receives an event while an action is performed.
                loop.executeOnLoop { self.advance(.failed(id, error)) }
            }
        case .setTimer(let instant):
            if let timer = attemptDelayTimer { loop.cancel(timer) }
            attemptDelayTimer = loop.schedule(at: instant, self, tag: Tag.attemptDelay.rawValue)
        case .cancelTimer:
            if let timer = attemptDelayTimer { loop.cancel(timer) }
            attemptDelayTimer = nil
        case .close(let id):
            guard let attempt = race.attempt(id) else { return }
            race.attempts[id.rawValue] = nil
            attempt.close()
        case .won(let id, _):
            guard let winner = race.attempt(id) else { return end(.failure(.shutDown)) }
            connected(winner)
        case .failed(let failures):
            unreachable(failures.map { ConnectFailure(address: $0.address, error: $0.cause) })
        }
    }

    // MARK: the proxy

    private func connected(
        _ socket: consuming Socket, _ registration: Registration, _ address: SocketAddress, mayRead: Bool
    ) {
        progress.step(at: loop.now)
        // If connecting or a handshake has no time-out, only the keep-alive probes detect a peer that is gone. Any other
        // connection enables them when it has lived long enough to need them.
        if let probes = probes(to: address),
            configuration.timeout == nil || configuration.tlsHandshakeTimeout == nil
        {
            try? socket.setKeepAlive(probes)
        }
        let established = Established(registration: registration, address: address)
        let channel = ByteChannel(socket: socket)
        guard let proxy = origin.proxy, proxy.kind == .https, let profile = origin.proxyTLS else {
            return startProxyHandshake(over: channel, established, mayRead: mayRead)
        }
        guard let context = profile.context,
            let wire = channel.wire(mayRead: mayRead, on: loop)
        else { return end(.failure(.shutDown)) }
        let peer = TLSHandshake.Peer(
            profile: profile, context: context, host: proxy.host, port: proxy.port, proxy: nil,
            progress: progress)
        let handshake = TLSHandshake(with: peer, over: wire, registration, on: loop) { result in
            self.securedProxy(result)
        }
        stage = .securingProxy(handshake, established)
        startHandshake(handshake)
    }

    private func securedProxy(_ result: Result<TLSChannel, TransportError>) {
        guard case .securingProxy(_, let established) = stage else { return }
        progress.step(at: loop.now)
        if let deadline { setDeadline(deadline + (loop.now - handshakeStart)) } else { limit = nil }
        switch result {
        case .failure(let error): end(.failure(error))
        case .success(let channel):
            startProxyHandshake(over: ByteChannel(secure: channel), established, mayRead: true)
        }
    }

    private func probes(to address: SocketAddress) -> KeepAliveProbes? {
        address.port == nil ? nil : configuration.keepAlive
    }

    private func startProxyHandshake(
        over channel: consuming ByteChannel, _ established: Established, mayRead: Bool
    ) {
        guard let proxy = origin.proxy, let machine = proxyMachine(for: proxy) else {
            return secure(channel, established, mayRead: mayRead)
        }
        switch machine {
        case .failure(let error):
            loop.deregister(established.registration)
            channel.close()
            end(.failure(error))
        case .success(let machine):
            let handshake = ProxyHandshake(
                machine, over: channel, established.registration, mayRead: mayRead,
                proxy: proxy,
                originMaySpeakFirst: configuration.keepsFirstOriginBytes && origin.scheme == .http, on: loop
            ) { result in self.proxyHandshakeEnded(result) }
            stage = .handshakingWithProxy(handshake, established)
            handshake.start()
        }
    }

    /// Returns the machine for the handshake with the proxy; nil if the proxy is sent each request in absolute form.
    private func proxyMachine(for proxy: ProxyServer) -> Result<ProxyHandshake.Machine, TransportError>? {
        switch proxy.kind {
        case .http, .https:
            guard !isForwarded(by: proxy) else { return nil }
            do throws(HTTPError) {
                let authority = try Authority(host: origin.host, port: origin.port)
                return .success(
                    .tunnel(
                        TunnelMachine(
                            to: authority, credentials: proxy.credentials,
                            authorization: proxy.tunnelAuthorizer?.source
                                .authorization(forTunnelTo: authority.description),
                            fields: configuration.tunnelFields)))
            } catch { return .failure(.http(host: origin.host, port: origin.port, error)) }
        case .socks5:
            let destination =
                IPAddress(origin.host).map { SocksMachine.Destination.ip($0) } ?? .name(origin.host)
            do throws(SocksError) {
                return .success(
                    .socks(
                        try SocksMachine(
                            destination: destination, port: origin.port, credentials: proxy.credentials)))
            } catch { return .failure(.socks(proxy: proxy.description, error)) }
        }
    }

    /// Whether the proxy forwards requests, rather than tunnelling bytes.
    private func isForwarded(by proxy: ProxyServer) -> Bool {
        proxy.kind != .socks5 && origin.scheme == .http && !configuration.tunnelsToPlainOrigins
    }

    private func proxyHandshakeEnded(_ result: Result<Void, TransportError>) {
        guard case .handshakingWithProxy(let handshake, let established) = stage else { return }
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
            handshake.claim = { [weak self] in self?.claimant() ?? .abandoned }
            handshake.setAwaitingProgram = { [weak self] isAsking in self?.handshakeAsks(isAsking) }
        }
        stage = .securing(handshake, established)
        metrics.secureStart = loop.now
        startHandshake(handshake)
    }

    private func secured(_ result: Result<TLSChannel, TransportError>) {
        guard case .securing(_, let established) = stage else { return }
        progress.step(at: loop.now)
        switch result {
        case .failure(let error): end(.failure(error))
        case .success(let channel):
            metrics.secureEnd = loop.now
            if let error = versionError(of: channel.details) {
                loop.deregister(established.registration)
                channel.close()
                return end(.failure(.tls(host: origin.host, port: origin.port, error)))
            }
            finish(ByteChannel(secure: channel), established, mayRead: !channel.isDrained)
        }
    }

    /// Returns an error if the negotiated protocol is none of the configured versions.
    private func versionError(of details: TLSDetails) -> TLSError? {
        guard configuration.versions.contains(.http2) else { return nil }
        guard details.applicationProtocol == "h2" else {
            return configuration.versions.contains(.http11)
                ? nil : .http2NotChosen(details.applicationProtocol)
        }
        return details.meetsHTTP2Requirements ? nil : .cipherNotShared
    }

    /// Starts a handshake. The connect time-out is suspended meanwhile: a handshake has its own.
    private func startHandshake(_ handshake: TLSHandshake) {
        handshakeStart = loop.now
        startHandshakeLimit()
        handshake.start()
    }

    /// Called when the handshake starts or stops waiting for an answer of the program. Only the time-out of the whole exchange
    /// counts meanwhile (U-14.3).
    private func handshakeAsks(_ isAsking: Bool) {
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

    // MARK: the end

    private func finish(_ channel: consuming ByteChannel, _ established: Established, mayRead: Bool) {
        metrics.connectEnd = loop.now
        let isForwarded = origin.proxy.map(isForwarded(by:)) ?? false
        let details = origin.scheme == .https ? channel.details : nil
        let route = ConnectionRoute(
            host: origin.unixPath ?? origin.host, port: origin.port, localAddress: channel.localAddress,
            remoteAddress: established.address, probes: probes(to: established.address),
            usesProxy: origin.proxy != nil, dial: metrics,
            tls: details, evidence: details == nil ? nil : channel.evidence,
            absolutePrefix: isForwarded ? "http://" + authority : nil,
            proxyAuthorization: isForwarded ? origin.proxy?.credentials?.basicAuthorization : nil)
        let dialed = DialedChannel(channel, established.registration, route, mayRead: mayRead)
        dialed.speaksHTTP2 =
            details.map { $0.applicationProtocol == "h2" } ?? configuration.versions.haveHTTP2WithoutTLS
        dialed.firstOriginBytes = firstOriginBytes
        if let profile = details?.profile, profile != origin.tls { dialed.newKey = origin.under(profile) }
        end(.success(dialed))
    }

    /// The authority of the origin in an absolute-form request target.
    private var authority: String {
        (try? Authority(host: origin.host, port: origin.port, defaultPort: 80))?.description ?? origin.host
    }

    private func end(_ outcome: Outcome) {
        guard let report else { return }
        self.report = nil
        claim = { .abandoned }
        claimed = nil
        offer = nil
        if let limitTimer { loop.cancel(limitTimer.token) }
        limitTimer = nil
        limit = nil
        if let timer = attemptDelayTimer { loop.cancel(timer) }
        attemptDelayTimer = nil
        switch stage {
        case .new, .preparing, .over: break
        case .lookingUp(let lookUp): lookUp.cancel()
        case .connecting(let attempt): if case .failure = outcome { attempt?.close() }
        case .racing(let race): for attempt in race.attempts { attempt?.close() }
        case .handshakingWithProxy(let handshake, _): if case .failure = outcome { handshake.close() }
        case .securingProxy(let handshake, _), .securing(let handshake, _):
            if case .failure = outcome { handshake.close() }
        }
        stage = .over
        report(outcome)
    }
}

extension Dialer: TimerTarget {
    func timerEnded(tag: Int, reason: TimerReason) {
        switch Tag(rawValue: tag) {
        case .limit: limitTimerEnded(reason)
        case .attemptDelay:
            attemptDelayTimer = nil
            if reason == .due { advance(.timer) }
        case nil: break
        }
    }
}
