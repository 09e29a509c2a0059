// SPDX-License-Identifier: MIT

import LupineHTTP

/// Opens one connection to an origin: look-up, race of addresses, proxy, TLS. It belongs to one loop and one dial.
///
/// `HappyEyeballsMachine` says which address is next, `TunnelMachine` and `SocksMachine` what is said to a proxy,
/// `TLSHandshake` secures the way to an https proxy and to an https origin; this performs it in order, under one time-out
/// and one for each handshake, and reports once. A handshake that fails is the end: no other address is tried, nothing
/// less secure either.
final class Dialer {
    typealias Outcome = Result<DialedChannel, TransportError>

    private let origin: Origin
    private let configuration: DialConfiguration
    private let resolver: Resolver
    private let loop: EventLoop

    private var stage = Stage.new
    private var metrics = DialMetrics()
    private var report: ((Outcome) -> Void)?
    /// Why it was given up before its start.
    private var refusal: TransportError?
    private var deadline: (token: EventLoop.TimerToken, at: Instant)?
    /// Of the handshake under way.
    private var handshakeTimer: EventLoop.TimerToken?
    private var staggerTimer: EventLoop.TimerToken?

    private enum Stage {
        case new
        /// What TLS needs is being loaded.
        case preparing
        case lookingUp(LookUp)
        case racing(Race)
        case securingProxy(TLSHandshake, Established)
        case conversing(ProxyConversation, Established)
        case securing(TLSHandshake, Established)
        case over
    }

    /// What is known of the socket once it is connected.
    private struct Established {
        let registration: Registration
        let address: SocketAddress
    }

    private struct Race {
        var machine: HappyEyeballsMachine<SocketAddress, Errno>
        var attempts: [Int: ConnectAttempt] = [:]
    }

    init(_ origin: Origin, configuration: DialConfiguration, resolver: Resolver, loop: EventLoop) {
        self.origin = origin
        self.configuration = configuration
        self.resolver = resolver
        self.loop = loop
    }

    /// Begins; `report` is called once, unless `cancel` comes before.
    func start(_ report: @escaping (Outcome) -> Void) {
        guard case .new = stage else { return }
        self.report = report
        if let refusal { return end(.failure(refusal)) }
        if let timeout = configuration.timeout { setDeadline(at: loop.now + timeout) }
        let lacksProfile = origin.scheme == .https && origin.tls == nil
        guard !lacksProfile, origin.proxy?.kind != .https || origin.proxyTLS != nil else {
            return end(.failure(.unsupported("https without a TLS profile")))
        }
        prepare()
    }

    /// Loads what TLS needs, where that has not been done.
    private func prepare() {
        let profiles = [origin.tls, origin.proxyTLS].compactMap { $0 }
        guard let unprepared = profiles.first(where: { $0.settings.context == nil }) else { return begin() }
        stage = .preparing
        let bound = LoopBound(self, on: loop)
        unprepared.settings.make { [loop] answer in
            _ = loop.execute { bound.value.prepared(unprepared, answer) }
        }
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

    /// Gives it up and reports `error`.
    func cancel(_ error: TransportError) {
        if case .new = stage, report == nil { refusal = error }
        end(.failure(error))
    }

    private func setDeadline(at instant: Instant) {
        let token = loop.schedule(at: instant) { [weak self] reason in
            self?.deadline = nil
            self?.runOut(reason, .connect)
        }
        deadline = (token, instant)
    }

    private func runOut(_ reason: TimerReason, _ timeout: TransferTimeout) {
        end(.failure(reason == .due ? .timedOut(host: origin.host, timeout) : .shutDown))
    }

    // MARK: look-up

    private func lookUp(host: String, port: UInt16) {
        metrics.lookUpStart = loop.now
        let start = resolver.lookUp(host, port: port, family: configuration.family, on: loop) {
            [weak self] answer in
            self?.lookedUp(host, answer)
        }
        switch start {
        case .answered(let answer): lookedUp(host, answer)
        case .pending(let lookUp): stage = .lookingUp(lookUp)
        }
    }

    private func lookedUp(_ host: String, _ answer: Resolver.Answer) {
        metrics.lookUpEnd = loop.now
        switch answer {
        case .success(let addresses): race(addresses)
        case .failure(.resolverFailed(_, system: let error?)) where error.isOutOfDescriptors:
            end(.failure(.outOfDescriptors(error)))
        case .failure(let error): end(.failure(.resolution(host: host, error)))
        }
    }

    // MARK: the race

    private func race(_ addresses: [SocketAddress]) {
        metrics.connectStart = loop.now
        let machine = HappyEyeballsMachine<SocketAddress, Errno>(
            addresses: addresses.map { (family: $0.isIPv6 ? .ipv6 : .ipv4, address: $0) },
            first: configuration.firstFamily, stagger: configuration.stagger)
        stage = .racing(Race(machine: machine))
        advance(.start)
    }

    private func advance(_ event: HappyEyeballsMachine<SocketAddress, Errno>.Event) {
        guard case .racing(var race) = stage else { return }
        let actions = race.machine.handle(event, at: loop.now)
        stage = .racing(race)
        for action in actions { perform(action) }
    }

    private func perform(_ action: HappyEyeballsMachine<SocketAddress, Errno>.Action) {
        guard case .racing(var race) = stage else { return }
        switch action {
        case .connect(let id, let address):
            do throws(Errno) {
                race.attempts[id.rawValue] = try ConnectAttempt(
                    address, binding: origin.localBinding, on: loop
                ) {
                    [weak self] error in
                    self?.advance(error.map { .failed(id, $0) } ?? .connected(id))
                }
                stage = .racing(race)
            } catch {
                // No descriptor is no fault of the address: nothing further will fare better.
                if case .outOfDescriptors = TransportError(connecting: address, error) {
                    return end(.failure(.outOfDescriptors(error)))
                }
                // Reported in a step of its own, so that the machine never hears an event inside an action.
                loop.executeOnLoop { [weak self] in self?.advance(.failed(id, error)) }
            }
        case .setTimer(let instant):
            if let timer = staggerTimer { loop.cancel(timer) }
            staggerTimer = loop.schedule(at: instant) { [weak self] reason in
                self?.staggerTimer = nil
                if reason == .due { self?.advance(.timer) }
            }
        case .cancelTimer:
            if let timer = staggerTimer { loop.cancel(timer) }
            staggerTimer = nil
        case .close(let id):
            race.attempts.removeValue(forKey: id.rawValue)?.close()
            stage = .racing(race)
        case .won(let id, let address):
            guard let winner = race.attempts[id.rawValue], let registration = winner.established,
                let socket = winner.takeSocket()
            else { return end(.failure(.shutDown)) }
            connected(socket, registration, address, mayRead: winner.sawInput)
        case .failed(let failures):
            let host = origin.proxy?.host ?? origin.host
            end(
                .failure(
                    .unreachable(
                        host: host, failures.map { ConnectFailure(address: $0.address, error: $0.cause) })))
        }
    }

    // MARK: the proxy

    private func connected(
        _ socket: consuming Socket, _ registration: Registration, _ address: SocketAddress, mayRead: Bool
    ) {
        if let probes = configuration.keepAlive, address.port != nil { try? socket.setKeepAlive(probes) }
        let established = Established(registration: registration, address: address)
        let channel = ByteChannel(socket: socket)
        guard let proxy = origin.proxy, proxy.kind == .https, let profile = origin.proxyTLS else {
            return converse(over: channel, established, mayRead: mayRead)
        }
        guard let context = profile.settings.context,
            let wire = channel.wire(mayRead: mayRead, on: loop)
        else { return end(.failure(.shutDown)) }
        let peer = TLSHandshake.Peer(
            profile: profile, context: context, host: proxy.host, port: proxy.port, proxy: nil)
        let handshake = TLSHandshake(with: peer, over: wire, registration, on: loop) { [weak self] result in
            self?.securedProxy(result)
        }
        stage = .securingProxy(handshake, established)
        startHandshake(handshake)
    }

    private func securedProxy(_ result: Result<TLSChannel, TransportError>) {
        guard case .securingProxy(_, let established) = stage else { return }
        endHandshakeTimer()
        switch result {
        case .failure(let error): end(.failure(error))
        case .success(let channel):
            converse(over: ByteChannel(secure: channel), established, mayRead: true)
        }
    }

    private func converse(
        over channel: consuming ByteChannel, _ established: Established, mayRead: Bool
    ) {
        guard let proxy = origin.proxy, let machine = conversation(with: proxy) else {
            return secure(channel, established, mayRead: mayRead)
        }
        switch machine {
        case .failure(let error):
            loop.deregister(established.registration)
            channel.close()
            end(.failure(error))
        case .success(let machine):
            let conversation = ProxyConversation(
                machine, over: channel, established.registration, mayRead: mayRead,
                proxy: (proxy.description, proxy.port), on: loop
            ) { [weak self] result in self?.conversed(result) }
            stage = .conversing(conversation, established)
            conversation.start()
        }
    }

    /// What is to be said to the proxy; nil when it is asked in absolute form, request by request.
    private func conversation(with proxy: ProxyServer) -> Result<ProxyConversation.Machine, TransportError>? {
        switch proxy.kind {
        case .http, .https:
            guard !isForwarded(by: proxy) else { return nil }
            do throws(HTTPError) {
                let authority = try Authority(host: origin.host, port: origin.port)
                return .success(
                    .tunnel(
                        TunnelMachine(
                            to: authority, credentials: proxy.credentials, fields: configuration.tunnelFields)
                    ))
            } catch { return .failure(.http(host: origin.host, error)) }
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

    /// Whether the proxy reads the requests, rather than passing bytes on.
    private func isForwarded(by proxy: ProxyServer) -> Bool {
        proxy.kind != .socks5 && origin.scheme == .http && !configuration.tunnelsEverything
    }

    private func conversed(_ result: Result<Void, TransportError>) {
        guard case .conversing(let conversation, let established) = stage else { return }
        switch result {
        case .failure(let error): end(.failure(error))
        case .success:
            guard let channel = conversation.takeChannel() else { return end(.failure(.shutDown)) }
            secure(channel, established, mayRead: true)
        }
    }

    // MARK: TLS

    private func secure(_ channel: consuming ByteChannel, _ established: Established, mayRead: Bool) {
        guard origin.scheme == .https, let profile = origin.tls else {
            return finish(channel, established, mayRead: mayRead)
        }
        guard let context = profile.settings.context,
            let wire = channel.wire(mayRead: mayRead, on: loop)
        else { return end(.failure(.shutDown)) }
        let peer = TLSHandshake.Peer(
            profile: profile, context: context, host: origin.host, port: origin.port, proxy: origin.proxy)
        let handshake = TLSHandshake(with: peer, over: wire, established.registration, on: loop) {
            [weak self] result in self?.secured(result)
        }
        stage = .securing(handshake, established)
        metrics.secureStart = loop.now
        startHandshake(handshake)
    }

    private func secured(_ result: Result<TLSChannel, TransportError>) {
        guard case .securing(_, let established) = stage else { return }
        endHandshakeTimer()
        switch result {
        case .failure(let error): end(.failure(error))
        case .success(let channel):
            metrics.secureEnd = loop.now
            finish(ByteChannel(secure: channel), established, mayRead: true)
        }
    }

    /// The time that connecting may take stands still meanwhile: a handshake has its own.
    private func startHandshake(_ handshake: TLSHandshake) {
        handshakeStart = loop.now
        if let deadline { loop.cancel(deadline.token) }
        if let timeout = configuration.tlsHandshakeTimeout {
            handshakeTimer = loop.schedule(at: loop.now + timeout) { [weak self] reason in
                self?.handshakeTimer = nil
                self?.runOut(reason, .tlsHandshake)
            }
        }
        handshake.start()
    }

    private func endHandshakeTimer() {
        if let timer = handshakeTimer { loop.cancel(timer) }
        handshakeTimer = nil
        if let deadline { setDeadline(at: deadline.at + (loop.now - handshakeStart)) }
    }
    private var handshakeStart = Instant.zero

    // MARK: the end

    private func finish(_ channel: consuming ByteChannel, _ established: Established, mayRead: Bool) {
        metrics.connectEnd = loop.now
        let isForwarded = origin.proxy.map(isForwarded(by:)) ?? false
        let route = HTTP1Connection.Route(
            host: origin.unixPath ?? origin.host, port: origin.port, localAddress: channel.localAddress,
            remoteAddress: established.address, usesProxy: origin.proxy != nil, dial: metrics,
            tls: origin.scheme == .https ? channel.details : nil,
            absolutePrefix: isForwarded ? "http://" + authority : nil,
            proxyAuthorization: isForwarded ? origin.proxy?.credentials?.basicAuthorization : nil)
        end(.success(DialedChannel(channel, established.registration, route, mayRead: mayRead)))
    }

    /// The origin as it stands in a request in absolute form.
    private var authority: String {
        (try? Authority(host: origin.host, port: origin.port, defaultPort: 80))?.description ?? origin.host
    }

    private func end(_ outcome: Outcome) {
        guard let report else { return }
        self.report = nil
        if let deadline { loop.cancel(deadline.token) }
        deadline = nil
        if let timer = handshakeTimer { loop.cancel(timer) }
        handshakeTimer = nil
        if let timer = staggerTimer { loop.cancel(timer) }
        staggerTimer = nil
        switch stage {
        case .new, .preparing, .over: break
        case .lookingUp(let lookUp): lookUp.cancel()
        case .racing(let race): for attempt in race.attempts.values { attempt.close() }
        case .conversing(let conversation, _): if case .failure = outcome { conversation.close() }
        case .securingProxy(let handshake, _), .securing(let handshake, _):
            if case .failure = outcome { handshake.close() }
        }
        stage = .over
        report(outcome)
    }
}
