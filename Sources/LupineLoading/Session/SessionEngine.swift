// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTLS
import LupineTransport

/// The parts of the transport that a session owns: its pools, resolver, event loops, proxies and TLS profiles.
///
/// Created by `URLSession.init`, which cannot fail: if creating the parts fails, every call of `route` tries again and throws the
/// error. WebSockets have a separate pool, so that they do not count against the limit for a host (U-8.12) and pass HTTP proxies
/// through a tunnel only. May be used on any thread.
final class SessionEngine: Sendable {
    /// The origin and the request target of a request, and the proxy on the way.
    struct Route: Sendable {
        /// The pool's key.
        let origin: Origin
        /// The path and query as in the URL, for `RequestTarget.origin`.
        let target: String
        /// Whether the URL has neither path nor query, so that OPTIONS applies to the server as a whole (RFC 9110 §9.3.7).
        let namesServerAlone: Bool
        /// The value of `Host` unless the caller has set one.
        let hostField: String
        /// The proxy; nil for none.
        let proxy: ProxyServer?
        /// Whether the request goes through a tunnel. The proxy does not read it then, so fields for the proxy must not be sent.
        let isTunnelled: Bool
        /// The fields of a request whose program set none: `Host` and the session's fields. Nil if they are not known.
        var sessionFields: Fields?
    }

    /// What opens a stream task's connection, outside of the pools: its origin, and the objects that dial.
    struct StreamRoute: Sendable {
        let origin: Origin
        let dialing: DialConfiguration
        let resolver: Resolver
        let loop: EventLoop
        /// The profile for `startSecureConnection()`.
        let profile: TLSProfile
    }

    /// The parts of a working engine. A class, so that a request retains one object instead of each part.
    private final class Parts: Sendable {
        let group: EventLoopGroup
        /// Whether the loops are the session's own, which end with it; otherwise other sessions share them.
        let ownsGroup: Bool
        let proxies: ProxyRule
        let pool: ConnectionPool
        /// The pool for WebSockets.
        let webSockets: ConnectionPool
        let revocation: RevocationClient
        let tlsProfiles: TLSProfileSelector
        /// The profiles for stream tasks: they offer no application protocol (ALPN) and share no connections with HTTP.
        let streamTLSProfiles: TLSProfileSelector
        let resolver: Resolver
        /// How stream tasks dial: as for a WebSocket, with a tunnel through a proxy.
        let dialing: DialConfiguration
        let proxyProfile: TLSProfile
        let unixSocketPath: String?
        let localBinding: String?
        let identityOrigins: Set<HTTPClient.HostAndPort>?
        /// Whether `http` origins are also reached through a tunnel: if the session speaks only HTTP/2, which proxies do not
        /// forward.
        let tunnelsEverything: Bool
        /// Whether any request may use a proxy.
        let hasProxy: Bool
        /// Remembers the servers that requests have gone to, so that they are not parsed again.
        let routes = RouteTable()

        init(
            group: EventLoopGroup, ownsGroup: Bool, proxies: ProxyRule, pool: ConnectionPool,
            webSockets: ConnectionPool, revocation: RevocationClient, tlsProfiles: TLSProfileSelector,
            streamTLSProfiles: TLSProfileSelector, resolver: Resolver, dialing: DialConfiguration,
            proxyProfile: TLSProfile, options: URLSessionConfiguration.LupineOptions
        ) {
            self.group = group
            self.ownsGroup = ownsGroup
            self.proxies = proxies
            hasProxy = proxies.hasServer
            self.pool = pool
            self.webSockets = webSockets
            self.revocation = revocation
            self.tlsProfiles = tlsProfiles
            self.streamTLSProfiles = streamTLSProfiles
            self.resolver = resolver
            self.dialing = dialing
            self.proxyProfile = proxyProfile
            // The options themselves are not stored: a loop may release the engine, and must not release the program's objects.
            unixSocketPath = options.unixSocketPath
            localBinding = options.localBinding
            identityOrigins = options.tls.identityOrigins
            tunnelsEverything = options.isHTTP2Alone
        }

        /// Lets running exchanges finish, then shuts down the loops that the session owns.
        func finish(_ done: @escaping @Sendable () -> Void) {
            // Counts the two pools.
            let pools = CountDown(2) { [self] in revocation.retire { [self] in shutDownLoops(done) } }
            pool.retire { pools.arrive() }
            webSockets.retire { pools.arrive() }
        }

        /// Fails running exchanges, then shuts down the loops that the session owns.
        func shutDown(_ done: @escaping @Sendable () -> Void) {
            // Counts the two pools.
            let pools = CountDown(2) { [self] in revocation.shutDown { [self] in shutDownLoops(done) } }
            pool.shutDown { pools.arrive() }
            webSockets.shutDown { pools.arrive() }
        }

        private func shutDownLoops(_ done: @escaping @Sendable () -> Void) {
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
    /// The evaluator for `https` origins if no delegate decides.
    let evaluator: TrustEvaluator
    /// A text that names the options that redirect connections, see `connectionOverrides(_:)`. Nil if none is set, and without a cache, which
    /// alone uses it.
    let connectionOverrides: String?
    /// Used while creating the parts fails. There are no connections then.
    private let fallbackProfiles: TLSProfileSelector

    /// The TLS profiles for `https` origins: how servers are evaluated, and which client identity they get.
    var tlsProfiles: TLSProfileSelector { (try? parts.get())?.tlsProfiles ?? fallbackProfiles }

    /// A name that distinguishes the session's trust roots from others. Made from the roots that were read; before they are read,
    /// from the present state of their files.
    var rootsName: String { (parts.existing?.tlsProfiles ?? fallbackProfiles).rootsName }

    /// A name like `rootsName` for the roots that `https` proxies are verified with; nil while the parts do not exist.
    var proxyRootsName: String? { parts.existing?.proxyProfile.rootsName }

    /// Creates the engine of a session.
    ///
    /// - Parameters:
    ///   - settings: The settings of the session.
    ///   - trust: The evaluator for `https` origins.
    ///   - proxyTrust: The evaluator for `https` proxies.
    init(
        _ settings: SessionSettings, trust: TrustEvaluator = .default, proxyTrust: TrustEvaluator = .default
    ) {
        evaluator = trust
        reporter = TransferReporter(settings.lupine.transferObservers)
        connectionOverrides = settings.cache == nil ? nil : Self.connectionOverrides(settings.lupine)
        parts = RetryableValue { () throws(TransportError) in
            try Self.makeParts(settings, trust: trust, proxyTrust: proxyTrust)
        }
        fallbackProfiles = parts.existing?.tlsProfiles ?? TLSProfileSelector(settings.tls, evaluator: trust)
    }

    deinit { finish {} }

    private static func makeParts(
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
        let pooling = poolConfiguration(settings, options)
        var webSocketPooling = pooling
        webSocketPooling.dial.versions = .http11
        // The TLS profiles are those of `pool`, and then offer HTTP/2, too.
        if options.httpVersions.contains(.http2) { webSocketPooling.dial.offeredProtocols = ["http/1.1"] }
        // No limits.
        webSocketPooling.limits.perHost = Int(Int32.max)
        webSocketPooling.limits.total = Int(Int32.max)
        webSocketPooling.dial.tunnelsEverything = true
        let revocation = RevocationClient(group: group, resolver: resolver, proxies: proxies)
        let support = RevocationSupport(fetcher: revocation, cache: SharedRevocationCache())
        var proxyTLS = settings.tls
        proxyTLS.identity = nil
        proxyTLS.applicationProtocols = ["http/1.1"]
        var streamTLS = settings.tls
        streamTLS.applicationProtocols = []
        let webSockets = ConnectionPool(configuration: webSocketPooling, group: group, resolver: resolver)
        return Parts(
            group: group, ownsGroup: ownsGroup, proxies: proxies,
            pool: ConnectionPool(
                configuration: pooling, group: group, resolver: resolver,
                webSockets: options.isHTTP2Alone ? nil : webSockets),
            webSockets: webSockets,
            revocation: revocation,
            tlsProfiles: TLSProfileSelector(settings.tls, evaluator: trust, revocation: support),
            streamTLSProfiles: TLSProfileSelector(streamTLS, evaluator: trust, revocation: support),
            resolver: resolver,
            dialing: webSocketPooling.dial,
            proxyProfile: TLSProfile(proxyTLS, trust: proxyTrust, revocation: support), options: options)
    }

    /// The configuration of the pool for all connections but those of web sockets.
    private static func poolConfiguration(
        _ settings: SessionSettings, _ options: URLSessionConfiguration.LupineOptions
    ) -> ConnectionPool.Configuration {
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
        return pooling
    }

    // MARK: routes

    /// Returns the route of a request for `url`.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - isWebSocket: Whether the scheme is `ws` or `wss`, so that the connection leaves HTTP.
    ///   - tunnelAuthorizer: Answers the proxy's challenges when it is asked for a tunnel.
    ///   - taskTrust: Passes the challenges of the connection to the task's delegates; nil if no delegate is asked. The exchange
    ///     needs it as its `verifier`, too.
    ///   - mayIdentify: Whether the client certificate may be sent to the server. False after a redirect to another origin.
    ///   - sessionFields: Returns the fields of a request whose program set none, for this value of `Host`.
    /// - Throws: `TransportError.url` for a URL that has no route; otherwise the error with which creating the parts failed.
    func route(
        for url: URL, isWebSocket: Bool,
        tunnelAuthorizer: TunnelAuthorizer? = nil, taskTrust: TaskTrust? = nil, mayIdentify: Bool = true,
        sessionFields: (_ host: String) -> Fields? = { _ in nil }
    ) throws(TransportError) -> Route {
        let parts = try parts.get()
        var known: RouteTable.Entry?
        let routeURL = try RouteURL(url, isWebSocket: isWebSocket) { spelling in
            known = parts.routes.entry(spelled: spelling)
            return known?.server
        }
        let server = routeURL.server
        // An entry has an origin only if nothing about the origin depends on the task: without a proxy and without TLS.
        if let origin = known?.origin {
            return Route(
                origin: origin, target: routeURL.target, namesServerAlone: routeURL.namesServerAlone,
                hostField: server.hostField, proxy: nil,
                isTunnelled: false, sessionFields: known?.sessionFields)
        }
        var proxy = Self.proxy(for: server, parts)
        if let tunnelAuthorizer { proxy?.tunnelAuthorizer = tunnelAuthorizer }
        let profile =
            server.scheme == .https
            ? parts.tlsProfiles.profile(
                host: server.host, port: server.port, for: taskTrust, mayIdentify: mayIdentify)
            : nil
        let origin = Origin(
            scheme: server.scheme, host: server.host, port: server.port,
            unixPath: parts.unixSocketPath, proxy: proxy, tls: profile,
            proxyTLS: proxy?.kind == .https ? parts.proxyProfile : nil,
            localBinding: parts.localBinding)
        let entry =
            known
            ?? RouteTable.Entry(
                server: server, origin: proxy == nil && profile == nil ? origin : nil,
                sessionFields: isWebSocket || server.spelling.isEmpty ? nil : sessionFields(server.hostField))
        if known == nil { parts.routes.insert(entry) }
        return Route(
            origin: origin, target: routeURL.target, namesServerAlone: routeURL.namesServerAlone,
            hostField: server.hostField, proxy: proxy,
            isTunnelled: proxy.map {
                $0.kind == .socks5 || server.scheme == .https || isWebSocket || parts.tunnelsEverything
            } ?? false,
            sessionFields: entry.sessionFields)
    }

    /// Whether `http` origins are also reached through a tunnel.
    var tunnelsEverything: Bool { (try? parts.get())?.tunnelsEverything ?? false }

    /// Whether any request may use a proxy.
    var hasProxy: Bool { (try? parts.get())?.hasProxy ?? false }

    /// Returns the proxy that `route` uses for `url`; nil for none, and for a URL that has no route. Does not parse the URL if
    /// the session has no proxy at all.
    func proxy(for url: URL, isWebSocket: Bool) -> ProxyServer? {
        guard let parts = try? parts.get(), parts.hasProxy,
            let routeURL = try? RouteURL(url, isWebSocket: isWebSocket)
        else { return nil }
        return Self.proxy(for: routeURL.server, parts)
    }

    private static func proxy(for server: RouteServer, _ parts: Parts) -> ProxyServer? {
        guard parts.unixSocketPath == nil else { return nil }
        return parts.proxies.proxy(for: server.scheme, host: server.nameWithoutZone, port: server.port)
    }

    // MARK: for stream tasks

    /// The TLS profiles for stream tasks; nil if creating the parts fails.
    var streamTLSProfiles: TLSProfileSelector? { (try? parts.get())?.streamTLSProfiles }

    /// A loop for work that needs no connection; nil if creating the parts fails.
    var anyLoop: EventLoop? { (try? parts.get())?.group.next() }

    /// A loop for `URLSession.executor`, another one at each call; nil if creating the parts fails.
    var executor: EventLoop? { (try? parts.get())?.group.nextExecutor() }

    /// Returns the route of a stream task's connection. A proxy is asked for a tunnel, as for `https`.
    ///
    /// - Parameters:
    ///   - host: The name or address of the host, with or without brackets.
    ///   - port: The port.
    ///   - trust: Passes the challenges of the connection to the task's delegates; nil if no delegate is asked.
    /// - Throws: `TransportError.url` for an invalid host or port; otherwise the error with which creating the parts failed.
    func streamRoute(
        host: String, port: Int, for trust: TaskTrust?
    ) throws(TransportError) -> StreamRoute {
        let parts = try parts.get()
        let url = try Self.streamURL(host, port)
        let name = url.zone.map { url.host + "%" + $0 } ?? url.host
        let socketPath = parts.unixSocketPath
        let proxy =
            socketPath == nil ? parts.proxies.proxy(for: .https, host: url.host, port: url.port) : nil
        let origin = Origin(
            scheme: .http, host: name, port: url.port, unixPath: socketPath, proxy: proxy,
            proxyTLS: proxy?.kind == .https ? parts.proxyProfile : nil,
            localBinding: parts.localBinding)
        return StreamRoute(
            origin: origin, dialing: parts.dialing, resolver: parts.resolver, loop: parts.group.next(),
            profile: parts.streamTLSProfiles.profile(
                host: name, port: url.port, for: trust,
                mayIdentify: HTTPClient.HostAndPort.mayPresentIdentity(
                    to: url.host, url.port, of: parts.identityOrigins, after: .withinOrigin)))
    }

    /// Returns a URL of this host and port. `TransportURL`, the strict parser, validates the host; bytes that would end the host
    /// in a URL are rejected first.
    private static func streamURL(_ host: String, _ port: Int) throws(TransportError) -> TransportURL {
        do throws(TransportURLError) {
            if let (offset, byte) = host.utf8.enumerated().first(where: { "/?#@\\".utf8.contains($0.element) }
            ) {
                throw .illegalByte(byte, offset: offset)
            }
            // An IPv6 address is put in brackets, and the percent sign before its zone is encoded.
            guard !host.utf8.contains(UInt8(ascii: ":")), !host.hasPrefix("[") else {
                let address = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
                let parts = address.split(separator: "%", maxSplits: 1)
                return try TransportURL("http://[\(parts.joined(separator: "%25"))]:\(port)")
            }
            return try TransportURL("http://\(HostName.canonical(host)):\(port)")
        } catch { throw .url(error) }
    }

    // MARK: exchanges

    /// Submits an exchange to the pool, which reports to the exchange's sink.
    ///
    /// - Parameters:
    ///   - exchange: An exchange with the origin that `route` returned.
    ///   - isWebSocket: The value that was passed to `route`.
    func submit(_ exchange: Exchange, isWebSocket: Bool = false) {
        guard let parts = parts.existing else {
            preconditionFailure("an exchange has a route, and this engine gives none")
        }
        if isWebSocket { parts.pool.submitWebSocket(exchange) } else { parts.pool.submit(exchange) }
    }

    /// The present numbers of connections by origin, in both pools.
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

    // MARK: shutting down

    /// Lets running exchanges finish and accepts no new ones. Exchanges that wait for a connection fail with
    /// `TransportError.shutDown`, so a session calls this when its last task has ended. Calls `done`, on any thread, when the
    /// last connection is closed and the loops that the session owns have ended.
    func finish(_ done: @escaping @Sendable () -> Void) {
        guard let parts = parts.existing else { return done() }
        parts.finish(done)
    }

    /// Fails all exchanges with `TransportError.shutDown` at once, also after `finish`. Calls `done` as `finish` does.
    func shutDown(_ done: @escaping @Sendable () -> Void) {
        guard let parts = parts.existing else { return done() }
        parts.shutDown(done)
    }
}

/// Calls a closure when `arrive` has been called `count` times.
private final class CountDown: Sendable {
    private let remaining: Lock<Int>
    private let whenDone: @Sendable () -> Void

    init(_ count: Int, _ whenDone: @escaping @Sendable () -> Void) {
        remaining = Lock(count)
        self.whenDone = whenDone
    }

    func arrive() {
        let isLast = remaining.withLock { remaining in
            remaining -= 1
            return remaining == 0
        }
        if isLast { whenDone() }
    }
}
