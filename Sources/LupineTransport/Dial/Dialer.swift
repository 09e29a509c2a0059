// SPDX-License-Identifier: MIT

import LupineHTTP

/// Opens one connection to an origin: look-up, race of addresses, proxy. It belongs to one loop and one dial.
///
/// `HappyEyeballsMachine` says which address is next, `TunnelMachine` and `SocksMachine` what is said to a proxy; this
/// performs it under one time-out and reports once.
final class Dialer {
    typealias Outcome = Result<DialedSocket, TransportError>

    private let origin: Origin
    private let configuration: DialConfiguration
    private let resolver: Resolver
    private let loop: EventLoop

    private var stage = Stage.new
    private var metrics = DialMetrics()
    private var report: ((Outcome) -> Void)?
    /// Why it was given up before its start.
    private var refusal: TransportError?
    private var deadline: EventLoop.TimerToken?
    private var staggerTimer: EventLoop.TimerToken?

    private enum Stage {
        case new
        case lookingUp(LookUp)
        case racing(Race)
        case conversing(ProxyConversation, Registration, SocketAddress)
        case over
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
        if let timeout = configuration.timeout {
            deadline = loop.schedule(at: loop.now + timeout) { [weak self] reason in
                self?.deadline = nil
                self?.runOut(reason)
            }
        }
        guard origin.scheme == .http, origin.proxy?.kind != .https else {
            return end(.failure(.unsupported("https: this build has no TLS")))
        }
        if let path = origin.unixPath { return race([.unix(path: path)]) }
        lookUp(host: origin.proxy?.host ?? origin.host, port: origin.proxy?.port ?? origin.port)
    }

    /// Gives it up and reports `error`.
    func cancel(_ error: TransportError) {
        if case .new = stage, report == nil { refusal = error }
        end(.failure(error))
    }

    private func runOut(_ reason: TimerReason) {
        end(.failure(reason == .due ? .timedOut(host: origin.host, .connect) : .shutDown))
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
        guard let proxy = origin.proxy, let machine = conversation(with: proxy) else {
            return finish(socket, registration, address, mayRead: mayRead)
        }
        switch machine {
        case .failure(let error):
            loop.deregister(registration)
            socket.close()
            end(.failure(error))
        case .success(let machine):
            let conversation = ProxyConversation(
                machine, over: socket, registration, proxy: proxy.description, on: loop
            ) { [weak self] result in self?.conversed(result) }
            stage = .conversing(conversation, registration, address)
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
        guard case .conversing(let conversation, let registration, let address) = stage else { return }
        switch result {
        case .failure(let error): end(.failure(error))
        case .success:
            guard let socket = conversation.takeSocket() else { return end(.failure(.shutDown)) }
            finish(socket, registration, address, mayRead: true)
        }
    }

    // MARK: the end

    private func finish(
        _ socket: consuming Socket, _ registration: Registration, _ address: SocketAddress, mayRead: Bool
    ) {
        metrics.connectEnd = loop.now
        let isForwarded = origin.proxy.map(isForwarded(by:)) ?? false
        let host =
            (try? Authority(host: origin.host, port: origin.port, defaultPort: 80))?.description
            ?? origin.host
        let route = HTTP1Connection.Route(
            host: origin.unixPath ?? origin.host, localAddress: (try? socket.localAddress()) ?? nil,
            remoteAddress: address,
            usesProxy: origin.proxy != nil, dial: metrics,
            absolutePrefix: isForwarded ? "http://" + host : nil,
            proxyAuthorization: isForwarded ? origin.proxy?.credentials?.basicAuthorization : nil)
        end(.success(DialedSocket(socket, registration, route, mayRead: mayRead)))
    }

    private func end(_ outcome: Outcome) {
        guard let report else { return }
        self.report = nil
        if let timer = deadline { loop.cancel(timer) }
        deadline = nil
        if let timer = staggerTimer { loop.cancel(timer) }
        staggerTimer = nil
        switch stage {
        case .new, .over: break
        case .lookingUp(let lookUp): lookUp.cancel()
        case .racing(let race): for attempt in race.attempts.values { attempt.close() }
        case .conversing(let conversation, _, _): if case .failure = outcome { conversation.close() }
        }
        stage = .over
        report(outcome)
    }
}
