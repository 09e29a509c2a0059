// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTLS
import LupineTransport

/// The parts of the transport that a session owns: its pools, resolver, event loops, proxies and TLS profiles.
///
/// Made by `URLSession.init`, which cannot fail: an error is thrown by every call of `route` instead. Web sockets have a pool
/// of their own, so that they do not count against the limit for a host (U-8.12) and pass HTTP proxies through a tunnel only.
/// Any thread.
final class SessionEngine: Sendable {
    /// How a request reaches its origin.
    struct Route: Sendable {
        /// The pool's key.
        let origin: Origin
        /// Path and query as in the URL, for `RequestTarget.origin`.
        let target: String
        /// Whether the URL has neither path nor query.
        let namesServerAlone: Bool
        /// The value of `Host` unless the caller has set one.
        let hostField: String
        /// The proxy; nil for none.
        let proxy: ProxyServer?
        /// Whether the proxy only tunnels the request. It does not read it then, and fields meant for the proxy must not be
        /// sent.
        let isTunnelled: Bool
        /// The fields of a request that has none but the session's own, if they are known.
        var ownFields: Fields?
    }

    /// How a stream task's connection is opened, outside of the pools.
    struct StreamRoute: Sendable {
        let origin: Origin
        let dialing: DialConfiguration
        let resolver: Resolver
        let loop: EventLoop
        /// For TLS, if the program starts it.
        let profile: TLSProfile
    }

    /// A class, so that a request retains one object to use all parts.
    private final class Parts: Sendable {
        let group: EventLoopGroup
        let ownsGroup: Bool
        let proxies: ProxyRule
        let pool: ConnectionPool
        let webSockets: ConnectionPool
        let revocation: RevocationClient
        let trust: TLSProfileSelector
        /// As `trust`, for stream tasks: without an application protocol (ALPN), and with nothing shared with HTTP.
        let streamTrust: TLSProfileSelector
        let resolver: Resolver
        let dialing: DialConfiguration
        let proxyProfile: TLSProfile
        let unixSocketPath: String?
        let localBinding: String?
        let identityOrigins: Set<HTTPClient.HostAndPort>?
        /// Whether http origins are also reached through a tunnel: a proxy does not forward HTTP/2.
        let tunnelsEverything: Bool
        /// Whether any request may use a proxy.
        let hasProxy: Bool
        /// The servers that requests have gone to.
        let routes = RouteTable()

        init(
            group: EventLoopGroup, ownsGroup: Bool, proxies: ProxyRule, pool: ConnectionPool,
            webSockets: ConnectionPool, revocation: RevocationClient, trust: TLSProfileSelector,
            streamTrust: TLSProfileSelector, resolver: Resolver, dialing: DialConfiguration,
            proxyProfile: TLSProfile, options: URLSessionConfiguration.LupineOptions
        ) {
            self.group = group
            self.ownsGroup = ownsGroup
            self.proxies = proxies
            hasProxy = proxies.hasServer
            self.pool = pool
            self.webSockets = webSockets
            self.revocation = revocation
            self.trust = trust
            self.streamTrust = streamTrust
            self.resolver = resolver
            self.dialing = dialing
            self.proxyProfile = proxyProfile
            // Not the options themselves: the program's objects in them must not be released with the engine, on a loop.
            unixSocketPath = options.unixSocketPath
            localBinding = options.localBinding
            identityOrigins = options.tls.identityOrigins
            tunnelsEverything = options.isHTTP2Alone
        }

        /// Lets running exchanges finish, then releases everything.
        func finish(_ done: @escaping @Sendable () -> Void) {
            let pools = CountDown(2) { [self] in revocation.retire { [self] in release(done) } }
            pool.retire { pools.arrive() }
            webSockets.retire { pools.arrive() }
        }

        func shutDown(_ done: @escaping @Sendable () -> Void) {
            let pools = CountDown(2) { [self] in revocation.shutDown { [self] in release(done) } }
            pool.shutDown { pools.arrive() }
            webSockets.shutDown { pools.arrive() }
        }

        private func release(_ done: @escaping @Sendable () -> Void) {
            guard ownsGroup else { return done() }
            Task {
                await group.shutdown()
                done()
            }
        }
    }

    private let parts: RetryableValue<Parts>
    /// Reports to the transfer observers; nil without observers.
    let reporter: TransferReporter?
    /// The evaluation of https origins if no delegate decides.
    let evaluator: TrustEvaluator
    /// The options that direct connections elsewhere than to the addresses of their URLs.
    let detour: String?
    /// Used while the parts cannot be made, and so there is no connection.
    private let ownTrust: TLSProfileSelector

    /// Evaluates the peers of https origins, and selects the client's identity for them.
    var trust: TLSProfileSelector { (try? parts.get())?.trust ?? ownTrust }

    /// Distinguishes the session's trust roots from others: as they were read; before that, as their files are now.
    var rootsName: String { (parts.existing?.trust ?? ownTrust).rootsName }

    /// The same for the roots that https proxies are verified with.
    var proxyRootsName: String? { parts.existing?.proxyProfile.rootsName }

    /// The engine of a session with these settings.
    ///
    /// - Parameters:
    ///   - trust: The evaluation that https origins have to pass.
    ///   - proxyTrust: The evaluation that https proxies have to pass.
    init(
        _ settings: SessionSettings, trust: TrustEvaluator = .default, proxyTrust: TrustEvaluator = .default
    ) {
        evaluator = trust
        reporter = TransferReporter(settings.lupine.transferObservers)
        detour = settings.cache == nil ? nil : Self.detour(settings.lupine)
        parts = RetryableValue { () throws(TransportError) in
            try Self.parts(settings, trust: trust, proxyTrust: proxyTrust)
        }
        ownTrust = parts.existing?.trust ?? TLSProfileSelector(settings.tls, evaluator: trust)
    }

    deinit { finish {} }

    private static func parts(
        _ settings: SessionSettings, trust: TrustEvaluator, proxyTrust: TrustEvaluator
    ) throws(TransportError) -> Parts {
        let options = settings.lupine
        guard !options.httpVersions.isEmpty else {
            throw .unsupported("a session that speaks no version of HTTP")
        }
        let proxies: ProxyRule
        do throws(ProxyURLError) {
            proxies = try ProxyRule(
                session: settings.proxyDictionary?.value, named: settings.lupine.proxies)
        } catch { throw .proxy(error) }
        let (group, ownsGroup): SessionClock.Loops
        do throws(Errno) {
            (group, ownsGroup) = try settings.clock.loops(options.ownEventLoops)
        } catch { throw TransportError(startingLoops: error) }
        var resolution = Resolver.Configuration()
        for (endpoint, addresses) in options.addressOverrides {
            resolution.overrides[Resolver.Endpoint(host: endpoint.host, port: endpoint.port)] = addresses
        }
        let resolver = Resolver(configuration: resolution)
        var pooling = ConnectionPool.Configuration()
        pooling.limits = PoolLimits(
            perHost: settings.maximumConnectionsPerHost, total: options.totalConnections,
            idleTimeout: Interval(options.idleConnectionTimeout),
            maximumAge: options.maximumConnectionAge.map { Interval($0) })
        pooling.dial.timeout = options.connectTimeout.map { Interval($0) } ?? settings.idleTimeout
        pooling.dial.tlsHandshakeTimeout = options.tls.handshakeTimeout.map { Interval($0) }
        pooling.parserLimits = options.parserLimits
        pooling.leniency = options.leniency
        pooling.dial.versions = options.httpVersions
        pooling.coalescesConnections = options.coalescesConnections
        var tunnelling = pooling
        tunnelling.dial.versions = .http11
        if options.httpVersions.contains(.http2) { tunnelling.dial.offeredProtocols = ["http/1.1"] }
        tunnelling.limits.perHost = Int(Int32.max)
        tunnelling.limits.total = Int(Int32.max)
        tunnelling.dial.tunnelsEverything = true
        let revocation = RevocationClient(group: group, resolver: resolver, proxies: proxies)
        let support = RevocationSupport(fetcher: revocation, cache: SharedRevocationCache())
        var anonymous = settings.tls
        anonymous.identity = nil
        anonymous.applicationProtocols = ["http/1.1"]
        var streaming = settings.tls
        streaming.applicationProtocols = []
        let webSockets = ConnectionPool(configuration: tunnelling, group: group, resolver: resolver)
        return Parts(
            group: group, ownsGroup: ownsGroup, proxies: proxies,
            pool: ConnectionPool(
                configuration: pooling, group: group, resolver: resolver,
                webSockets: options.isHTTP2Alone ? nil : webSockets),
            webSockets: webSockets,
            revocation: revocation,
            trust: TLSProfileSelector(settings.tls, evaluator: trust, revocation: support),
            streamTrust: TLSProfileSelector(streaming, evaluator: trust, revocation: support),
            resolver: resolver,
            dialing: tunnelling.dial,
            proxyProfile: TLSProfile(anonymous, trust: proxyTrust, revocation: support), options: options)
    }

    // MARK: for the loader

    /// The route of a request for `url`.
    ///
    /// - Parameters:
    ///   - isWebSocket: Whether the URL has a web socket's scheme, and the connection will leave HTTP.
    ///   - tunnelAuthorizer: Answers the proxy's challenges when it is asked for a tunnel.
    ///   - taskTrust: Takes the challenges of a connection to the task's delegate, if it wants them; the exchange has to have
    ///     it as its `asker`, too.
    ///   - mayIdentify: Whether the client certificate may be sent to a server that asks; not after a redirect to another
    ///     origin.
    ///   - ownFields: Makes the fields of a request to a host that has none but the session's own.
    /// - Throws: `TransportError.url` for a URL that cannot be sent to; otherwise the error that kept the engine from being
    ///   made.
    func route(
        for url: URL, isWebSocket: Bool,
        tunnelAuthorizer: TunnelAuthorizer? = nil, taskTrust: TaskTrust? = nil, mayIdentify: Bool = true,
        ownFields: (_ host: String) -> Fields? = { _ in nil }
    ) throws(TransportError) -> Route {
        let parts = try parts.get()
        var known: RouteTable.Entry?
        let place = try RouteURL(url, isWebSocket: isWebSocket) { spelling in
            known = parts.routes.entry(spelled: spelling)
            return known?.server
        }
        let server = place.server
        if let origin = known?.origin {
            return Route(
                origin: origin, target: place.target, namesServerAlone: place.namesServerAlone,
                hostField: server.hostField, proxy: nil,
                isTunnelled: false, ownFields: known?.ownFields)
        }
        var proxy = Self.proxy(for: server, parts)
        if let tunnelAuthorizer { proxy?.tunnelAuthorizer = tunnelAuthorizer }
        let profile =
            server.scheme == .https
            ? parts.trust.profile(
                host: server.host, port: server.port, for: taskTrust, mayIdentify: mayIdentify)
            : nil
        let origin = Origin(
            scheme: server.scheme, host: server.host, port: server.port,
            unixPath: parts.unixSocketPath, proxy: proxy, tls: profile,
            proxyTLS: proxy?.kind == .https ? parts.proxyProfile : nil,
            localBinding: parts.localBinding)
        let kept =
            known
            ?? RouteTable.Entry(
                server: server, origin: proxy == nil && profile == nil ? origin : nil,
                ownFields: isWebSocket || server.spelling.isEmpty ? nil : ownFields(server.hostField))
        if known == nil { parts.routes.keep(kept) }
        return Route(
            origin: origin, target: place.target, namesServerAlone: place.namesServerAlone,
            hostField: server.hostField, proxy: proxy,
            isTunnelled: proxy.map {
                $0.kind == .socks5 || server.scheme == .https || isWebSocket || parts.tunnelsEverything
            } ?? false,
            ownFields: kept.ownFields)
    }

    /// Whether proxies are asked for a tunnel to http origins as well.
    var tunnelsEverything: Bool { (try? parts.get())?.tunnelsEverything ?? false }

    /// Whether any request may use a proxy.
    var hasProxy: Bool { (try? parts.get())?.hasProxy ?? false }

    /// The proxy that `route` uses for `url`; nil also for a URL that cannot be sent to. If the session has no proxy at all,
    /// the URL is not parsed.
    func proxy(for url: URL, isWebSocket: Bool) -> ProxyServer? {
        guard let parts = try? parts.get(), parts.hasProxy,
            let place = try? RouteURL(url, isWebSocket: isWebSocket)
        else { return nil }
        return Self.proxy(for: place.server, parts)
    }

    private static func proxy(for server: RouteServer, _ parts: Parts) -> ProxyServer? {
        guard parts.unixSocketPath == nil else { return nil }
        return parts.proxies.proxy(for: server.scheme, host: server.nameWithoutZone, port: server.port)
    }

    // MARK: for stream tasks

    /// Evaluates the peers of stream tasks; nil if the engine could not be made.
    var streamTrust: TLSProfileSelector? { (try? parts.get())?.streamTrust }

    /// A loop for ordered work without a connection; nil if the engine could not be made.
    var anyLoop: EventLoop? { (try? parts.get())?.group.next() }

    /// The next of the loops in turn; nil if the engine could not be made.
    var executor: EventLoop? { (try? parts.get())?.group.nextExecutor() }

    /// The route of a stream task's connection. A proxy is asked for a tunnel, as for https.
    ///
    /// - Parameter trust: Takes the challenges of the connection to the task's delegate, if it wants them.
    /// - Throws: `TransportError.url` for an invalid host or port; otherwise the error that kept the engine from being made.
    func streamRoute(
        host: String, port: Int, for trust: TaskTrust?
    ) throws(TransportError) -> StreamRoute {
        let parts = try parts.get()
        let place = try Self.place(host, port)
        let name = place.zone.map { place.host + "%" + $0 } ?? place.host
        let socket = parts.unixSocketPath
        let proxy =
            socket == nil ? parts.proxies.proxy(for: .https, host: place.host, port: place.port) : nil
        let origin = Origin(
            scheme: .http, host: name, port: place.port, unixPath: socket, proxy: proxy,
            proxyTLS: proxy?.kind == .https ? parts.proxyProfile : nil,
            localBinding: parts.localBinding)
        return StreamRoute(
            origin: origin, dialing: parts.dialing, resolver: parts.resolver, loop: parts.group.next(),
            profile: parts.streamTrust.profile(
                host: name, port: place.port, for: trust,
                mayIdentify: HTTPClient.HostAndPort.mayPresentIdentity(
                    to: place.host, place.port, of: parts.identityOrigins, after: .withinOrigin)))
    }

    /// The strict URL parser validates the host; bytes that would end the host in a URL are rejected first.
    private static func place(_ host: String, _ port: Int) throws(TransportError) -> TransportURL {
        do throws(TransportURLError) {
            if let (offset, byte) = host.utf8.enumerated().first(where: { "/?#@\\".utf8.contains($0.element) }
            ) {
                throw .illegalByte(byte, offset: offset)
            }
            guard !host.utf8.contains(0x3A), !host.hasPrefix("[") else {
                let address = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
                let parts = address.split(separator: "%", maxSplits: 1)
                return try TransportURL("http://[\(parts.joined(separator: "%25"))]:\(port)")
            }
            return try TransportURL("http://\(HostName.canonical(host)):\(port)")
        } catch { throw .url(error) }
    }

    // MARK: exchanges

    /// Submits an exchange whose origin came from `route`. Everything else is reported to its sink.
    ///
    /// - Parameter isWebSocket: The value that was passed to `route`.
    func submit(_ exchange: Exchange, isWebSocket: Bool = false) {
        guard let parts = parts.existing else {
            preconditionFailure("an exchange has a route, and this engine gives none")
        }
        if isWebSocket { parts.pool.submitWebSocket(exchange) } else { parts.pool.submit(exchange) }
    }

    /// The present number of connections, by origin.
    var poolCounts: [PoolCounts] {
        guard let parts = parts.existing else { return [] }
        return PoolCounts.joined(parts.pool.counts + parts.webSockets.counts)
    }

    /// Closes idle connections.
    func closeIdleConnections() {
        guard let parts = parts.existing else { return }
        parts.pool.dropIdle()
        parts.webSockets.dropIdle()
    }

    // MARK: the end

    /// Lets running exchanges finish and takes no new ones. Exchanges that still wait for a connection fail with `shutDown`, so
    /// a session calls this when its last task is over. `done` is called, on some thread, when the last connection is closed
    /// and the session's own loops, if it has any, have ended.
    func finish(_ done: @escaping @Sendable () -> Void) {
        guard let parts = parts.existing else { return done() }
        parts.finish(done)
    }

    /// Ends everything at once, also after `finish`: exchanges fail with `shutDown`. `done` is called as by `finish`.
    func shutDown(_ done: @escaping @Sendable () -> Void) {
        guard let parts = parts.existing else { return done() }
        parts.shutDown(done)
    }
}

/// Calls back when `arrive` has been called `count` times.
private final class CountDown: Sendable {
    private let missing: Lock<Int>
    private let whenDone: @Sendable () -> Void

    init(_ count: Int, _ whenDone: @escaping @Sendable () -> Void) {
        missing = Lock(count)
        self.whenDone = whenDone
    }

    func arrive() {
        let isLast = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if isLast { whenDone() }
    }
}
