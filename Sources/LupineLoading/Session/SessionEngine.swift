// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTLS
import LupineTransport

/// The session's use of the transport: its connection pools, resolver, event loops, proxies and TLS profiles.
///
/// Created by `URLSession.init`, which cannot fail: if creating the components fails, every call of `route` tries again, and
/// throws the error if that fails, too. WebSockets have a separate pool, so that they do not count against the limit for a host
/// (U-8.12) and always use a tunnel through an HTTP proxy. May be used on any thread.
final class SessionEngine: Sendable {
    /// Where a request is sent: the server (origin), the request target, and the proxy between client and server.
    struct Route: Sendable {
        /// The key of the server's connections in the pool.
        let origin: Origin
        /// The path and query as in the URL, for `RequestTarget.origin`.
        let target: String
        /// Whether the URL has neither path nor query, so that OPTIONS applies to the server as a whole (RFC 9110 §9.3.7).
        let namesServerAlone: Bool
        /// The value of `Host`, if the program has not set that field.
        let hostField: String
        /// The proxy; nil for none.
        let proxy: ProxyServer?
        /// Whether the request goes through a tunnel. Then the server receives it as sent, so it must not contain fields that are
        /// meant for the proxy.
        let isTunnelled: Bool
        /// All fields of a request for which the program has set no fields: `Host` and the session's fields. Nil if they are not
        /// cached.
        var sessionFields: Fields?
    }

    /// Everything that is needed to open a stream task's connection, which does not belong to a pool.
    struct StreamRoute: Sendable {
        let origin: Origin
        let dialing: DialConfiguration
        let resolver: Resolver
        /// The event loop of the connection.
        let loop: EventLoop
        /// The TLS profile for `startSecureConnection()`.
        let profile: TLSProfile
    }

    /// The components of a working engine. A class, so that a request retains one object instead of each component.
    private final class Components: Sendable {
        let group: EventLoopGroup
        /// Whether the loops belong to this session alone and end with it; otherwise they are those of the process.
        let ownsGroup: Bool
        let proxies: ProxyRule
        /// The pool for all connections except those of WebSockets.
        let pool: ConnectionPool
        /// The pool for WebSockets.
        let webSockets: ConnectionPool
        /// Loads revocation data about server certificates.
        let revocation: RevocationClient
        /// The profiles for `https` origins.
        let tlsProfiles: TLSProfileSelector
        /// The profiles for stream tasks: they offer no application protocol (ALPN) and share no connections with HTTP.
        let streamTLSProfiles: TLSProfileSelector
        let resolver: Resolver
        /// How stream tasks connect: as for a WebSocket, with a tunnel through a proxy.
        let dialing: DialConfiguration
        /// The profile for `https` proxies.
        let proxyProfile: TLSProfile
        /// The path of the Unix-domain socket for all connections; nil to connect to the hosts of the URLs.
        let unixSocketPath: String?
        /// The local address or network interface to which connections are bound; nil for none.
        let localBinding: String?
        /// The origins to which the client certificate may be sent; nil for the origin of each task's own URL.
        let identityOrigins: Set<HTTPClient.HostAndPort>?
        /// Whether `http` origins are also reached through a tunnel. True if the session uses only HTTP/2, which proxies do not
        /// forward.
        let tunnelsEverything: Bool
        /// Whether any request may use a proxy.
        let hasProxy: Bool
        /// Caches the servers of requests, so that their URLs are not parsed again.
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
            // The options themselves are not stored, because they contain objects of the program. If the last reference to the
            // engine is released on an event loop, the `deinit` of such an object could block the loop.
            unixSocketPath = options.unixSocketPath
            localBinding = options.localBinding
            identityOrigins = options.tls.identityOrigins
            tunnelsEverything = options.isHTTP2Alone
        }

        /// Lets running exchanges finish, then shuts down the loops that the session owns, and calls `done`.
        func finish(_ done: @escaping @Sendable () -> Void) {
            // Handshakes of the pools' connections use the revocation client, so it ends after both pools.
            let pools = CountDown(2) { [self] in revocation.retire { [self] in shutDownLoops(done) } }
            pool.retire { pools.arrive() }
            webSockets.retire { pools.arrive() }
        }

        /// Fails running exchanges, then shuts down the loops that the session owns, and calls `done`.
        func shutDown(_ done: @escaping @Sendable () -> Void) {
            // Handshakes of the pools' connections use the revocation client, so it ends after both pools.
            let pools = CountDown(2) { [self] in revocation.shutDown { [self] in shutDownLoops(done) } }
            pool.shutDown { pools.arrive() }
            webSockets.shutDown { pools.arrive() }
        }

        /// Shuts down the loops if the session owns them, then calls `done`.
        private func shutDownLoops(_ done: @escaping @Sendable () -> Void) {
            guard ownsGroup else { return done() }
            Task {
                await group.shutdown()
                done()
            }
        }
    }

    private let components: RetryableValue<Components>
    /// Reports to the transfer observers; nil without observers.
    let reporter: TransferReporter?
    /// The evaluator for `https` origins if no delegate decides whether servers are trusted.
    let evaluator: TrustEvaluator
    /// A text that contains the options that redirect connections, see `connectionOverrides(_:)`. Nil if no such option is set.
    /// Also nil without a cache, because only the cache needs the text.
    let connectionOverrides: String?
    /// The TLS profiles that are used as long as creating the components fails. There are no connections during that time.
    private let fallbackProfiles: TLSProfileSelector

    /// The TLS profiles for `https` origins: how servers are evaluated, and which client certificate they get.
    var tlsProfiles: TLSProfileSelector { (try? components.get())?.tlsProfiles ?? fallbackProfiles }

    /// A name that differs for different trust roots, by which cached responses are found. It is derived from the roots. Before
    /// they are read, it is derived from the current state of their files.
    var rootsName: String { (components.existing?.tlsProfiles ?? fallbackProfiles).rootsName }

    /// A name like `rootsName`, for the roots with which `https` proxies are verified; nil until the components are created.
    var proxyRootsName: String? { components.existing?.proxyProfile.rootsName }

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
        components = RetryableValue { () throws(TransportError) in
            try Self.makeComponents(settings, trust: trust, proxyTrust: proxyTrust)
        }
        // If the first attempt has succeeded, no further profiles are needed.
        fallbackProfiles =
            components.existing?.tlsProfiles ?? TLSProfileSelector(settings.tls, evaluator: trust)
    }

    /// Nothing waits for the end, so the closure is empty.
    deinit { finish {} }

    /// Creates the components. Throws if the configuration cannot be used, or if the system cannot create event loops.
    private static func makeComponents(
        _ settings: SessionSettings, trust: TrustEvaluator, proxyTrust: TrustEvaluator
    ) throws(TransportError) -> Components {
        let options = settings.lupine
        guard !options.httpVersions.isEmpty else {
            throw .unsupported("a session that speaks no version of HTTP")
        }
        let proxies: ProxyRule
        do throws(ProxyURLError) {
            // `lupine.proxies` replaces the dictionary unless it is nil. If both are nil, the environment names the proxies.
            proxies = try ProxyRule(
                session: settings.proxyDictionary?.value, named: settings.lupine.proxies)
        } catch { throw .proxy(error) }
        let (group, ownsGroup): SessionClock.Loops
        do throws(Errno) {
            // Without a number of own loops, the loops are those of the process.
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
        // Both pools use the same TLS profiles. If the profiles also offer HTTP/2, this configuration overrides their offer.
        if options.httpVersions.contains(.http2) { webSocketPooling.dial.offeredProtocols = ["http/1.1"] }
        // In effect no limits.
        webSocketPooling.limits.perHost = Int(Int32.max)
        webSocketPooling.limits.total = Int(Int32.max)
        webSocketPooling.dial.tunnelsEverything = true
        let revocation = RevocationClient(group: group, resolver: resolver, proxies: proxies)
        let support = RevocationSupport(fetcher: revocation, cache: SharedRevocationCache())
        var proxyTLS = settings.tls
        // The client certificate is for servers, not for proxies.
        proxyTLS.identity = nil
        proxyTLS.applicationProtocols = ["http/1.1"]
        var streamTLS = settings.tls
        streamTLS.applicationProtocols = []
        let webSockets = ConnectionPool(configuration: webSocketPooling, group: group, resolver: resolver)
        return Components(
            group: group, ownsGroup: ownsGroup, proxies: proxies,
            pool: ConnectionPool(
                configuration: pooling, group: group, resolver: resolver,
                // With HTTP/2 alone, WebSockets use only HTTP/2 connections (RFC 8441), which belong to this pool.
                webSockets: options.isHTTP2Alone ? nil : webSockets),
            webSockets: webSockets,
            revocation: revocation,
            tlsProfiles: TLSProfileSelector(settings.tls, evaluator: trust, revocation: support),
            streamTLSProfiles: TLSProfileSelector(streamTLS, evaluator: trust, revocation: support),
            resolver: resolver,
            dialing: webSocketPooling.dial,
            proxyProfile: TLSProfile(proxyTLS, trust: proxyTrust, revocation: support), options: options)
    }

    /// Returns the configuration of the pool for all connections except those of WebSockets.
    private static func poolConfiguration(
        _ settings: SessionSettings, _ options: URLSessionConfiguration.LupineOptions
    ) -> ConnectionPool.Configuration {
        var pooling = ConnectionPool.Configuration()
        pooling.limits = PoolLimits(
            perHost: settings.maximumConnectionsPerHost, total: options.totalConnections,
            idleTimeout: Interval(options.idleConnectionTimeout),
            maximumAge: options.maximumConnectionAge.map { Interval($0) })
        // Without a time limit for connecting, the configuration's time-out for requests applies.
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
    ///   - tunnelAuthorizer: Answers the proxy's challenges to the request for a tunnel.
    ///   - verifier: Passes the challenges of the connection to the task's delegates; nil if there is no delegate to ask. The
    ///     caller also has to set it as the exchange's `verifier`.
    ///   - mayIdentify: Whether the client certificate may be sent to the server. False after a redirect to another origin.
    ///   - sessionFields: Returns the fields of a request for which the program has set no fields, for this value of `Host`.
    /// - Returns: The route.
    /// - Throws: `TransportError.url` for a URL that has no route; otherwise the error with which creating the components failed.
    func route(
        for url: URL, isWebSocket: Bool,
        tunnelAuthorizer: TunnelAuthorizer? = nil, verifier: TaskPeerVerifier? = nil,
        mayIdentify: Bool = true,
        sessionFields: (_ host: String) -> Fields? = { _ in nil }
    ) throws(TransportError) -> Route {
        let components = try components.get()
        var cachedEntry: RouteTable.Entry?
        // The closure returns the server if the route table contains its spelling, so that the URL is not parsed again.
        let routeURL = try RouteURL(url, isWebSocket: isWebSocket) { spelling in
            cachedEntry = components.routes.entry(spelled: spelling)
            return cachedEntry?.server
        }
        let server = routeURL.server
        // An entry has an origin only if the origin is the same for all tasks: without a proxy and without TLS.
        if let origin = cachedEntry?.origin {
            return Route(
                origin: origin, target: routeURL.target, namesServerAlone: routeURL.namesServerAlone,
                hostField: server.hostField, proxy: nil,
                isTunnelled: false, sessionFields: cachedEntry?.sessionFields)
        }
        var proxy = Self.proxy(for: server, components)
        if let tunnelAuthorizer { proxy?.tunnelAuthorizer = tunnelAuthorizer }
        let profile =
            server.scheme == .https
            ? components.tlsProfiles.profile(
                host: server.host, port: server.port, for: verifier, mayIdentify: mayIdentify)
            : nil
        let origin = Origin(
            scheme: server.scheme, host: server.host, port: server.port,
            unixPath: components.unixSocketPath, proxy: proxy, tls: profile,
            proxyTLS: proxy?.kind == .https ? components.proxyProfile : nil,
            localBinding: components.localBinding)
        // The fields are not cached if the table cannot store the server, or if the request has the fields of a handshake.
        let cachesFields = !isWebSocket && !server.spelling.isEmpty
        let entry =
            cachedEntry
            ?? RouteTable.Entry(
                server: server, origin: proxy == nil && profile == nil ? origin : nil,
                sessionFields: cachesFields ? sessionFields(server.hostField) : nil)
        if cachedEntry == nil { components.routes.insert(entry) }
        let needsTunnel = server.scheme == .https || isWebSocket || components.tunnelsEverything
        return Route(
            origin: origin, target: routeURL.target, namesServerAlone: routeURL.namesServerAlone,
            hostField: server.hostField, proxy: proxy,
            // A SOCKS proxy tunnels everything.
            isTunnelled: proxy.map { $0.kind == .socks5 || needsTunnel } ?? false,
            sessionFields: entry.sessionFields)
    }

    /// Whether `http` origins are also reached through a tunnel.
    var tunnelsEverything: Bool { (try? components.get())?.tunnelsEverything ?? false }

    /// Whether any request may use a proxy.
    var hasProxy: Bool { (try? components.get())?.hasProxy ?? false }

    /// Returns the proxy that `route` uses for `url`; nil for none, and for a URL that has no route. Does not parse the URL if
    /// the session has no proxy at all.
    func proxy(for url: URL, isWebSocket: Bool) -> ProxyServer? {
        guard let components = try? components.get(), components.hasProxy,
            let routeURL = try? RouteURL(url, isWebSocket: isWebSocket)
        else { return nil }
        return Self.proxy(for: routeURL.server, components)
    }

    /// Returns the proxy for a server; nil for none. A session with a Unix-domain socket has no proxy.
    private static func proxy(for server: RouteServer, _ components: Components) -> ProxyServer? {
        guard components.unixSocketPath == nil else { return nil }
        return components.proxies.proxy(
            for: server.scheme, host: server.nameWithoutZone, port: server.port)
    }

    // MARK: for stream tasks

    /// The TLS profiles for stream tasks; nil if creating the components fails.
    var streamTLSProfiles: TLSProfileSelector? { (try? components.get())?.streamTLSProfiles }

    /// A loop for work that needs no connection; nil if creating the components fails.
    var anyLoop: EventLoop? { (try? components.get())?.group.next() }

    /// The loops of the session's connections; nil if creating the components fails.
    var loops: EventLoopGroup? { (try? components.get())?.group }

    /// A loop for `URLSession.executor`, another one at each access; nil if creating the components fails.
    var executor: EventLoop? { (try? components.get())?.group.nextExecutor() }

    /// Returns the route of a stream task's connection. If there is a proxy, the connection uses a tunnel through it, as for
    /// `https`.
    ///
    /// - Parameters:
    ///   - host: The name or address of the host, with or without brackets.
    ///   - port: The port.
    ///   - trust: Passes the challenges of the connection to the task's delegates; nil if there is no delegate to ask.
    /// - Returns: The route.
    /// - Throws: `TransportError.url` for an invalid host or port; otherwise the error with which creating the components failed.
    func streamRoute(
        host: String, port: Int, for trust: TaskPeerVerifier?
    ) throws(TransportError) -> StreamRoute {
        let components = try components.get()
        let url = try Self.streamURL(host, port)
        let name = url.zone.map { url.host + "%" + $0 } ?? url.host
        let socketPath = components.unixSocketPath
        let proxy =
            socketPath == nil ? components.proxies.proxy(for: .https, host: url.host, port: url.port) : nil
        // The scheme is `http`, because TLS begins only if the program calls `startSecureConnection()`.
        let origin = Origin(
            scheme: .http, host: name, port: url.port, unixPath: socketPath, proxy: proxy,
            proxyTLS: proxy?.kind == .https ? components.proxyProfile : nil,
            localBinding: components.localBinding)
        // The client certificate may be sent `.withinOrigin`, because a stream task follows no redirects.
        return StreamRoute(
            origin: origin, dialing: components.dialing, resolver: components.resolver,
            loop: components.group.next(),
            profile: components.streamTLSProfiles.profile(
                host: name, port: url.port, for: trust,
                mayIdentify: HTTPClient.HostAndPort.mayPresentIdentity(
                    to: url.host, url.port, of: components.identityOrigins, after: .withinOrigin)))
    }

    /// Returns a URL with this host and port. Throws for a host that is not valid: `TransportURL`, the strict parser, checks it.
    /// Bytes that would end the host in a URL are rejected first.
    private static func streamURL(_ host: String, _ port: Int) throws(TransportError) -> TransportURL {
        do throws(TransportURLError) {
            let hostEnds = "/?#@\\".utf8
            for (offset, byte) in host.utf8.enumerated() where hostEnds.contains(byte) {
                throw .illegalByte(byte, offset: offset)
            }
            let isIPv6 = host.utf8.contains(UInt8(ascii: ":")) || host.hasPrefix("[")
            if isIPv6 {
                let address = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
                // "%25" is the encoded percent sign between the address and its zone.
                let addressAndZone = address.split(separator: "%", maxSplits: 1)
                return try TransportURL("http://[\(addressAndZone.joined(separator: "%25"))]:\(port)")
            }
            return try TransportURL("http://\(HostName.canonical(host)):\(port)")
        } catch { throw .url(error) }
    }

    // MARK: exchanges

    /// Submits an exchange (one request with its response) to the pool. The pool reports to the exchange's sink.
    ///
    /// - Parameters:
    ///   - exchange: An exchange with the origin that `route` returned.
    ///   - isWebSocket: The value that was passed to `route`.
    func submit(_ exchange: Exchange, isWebSocket: Bool = false) {
        guard let components = components.existing else {
            preconditionFailure("an exchange has a route, and this engine gives none")
        }
        if isWebSocket {
            // Uses an HTTP/2 connection of this pool, or passes the exchange on to the pool for WebSockets.
            components.pool.submitWebSocket(exchange)
        } else {
            components.pool.submit(exchange)
        }
    }

    /// The current numbers of connections by origin, in both pools.
    var poolCounts: [PoolCounts] {
        guard let components = components.existing else { return [] }
        return PoolCounts.joined(components.pool.counts + components.webSockets.counts)
    }

    /// Closes idle connections.
    func closeIdleConnections() {
        guard let components = components.existing else { return }
        components.pool.dropIdle()
        components.webSockets.dropIdle()
    }

    // MARK: shutting down

    /// Lets running exchanges finish and accepts no new ones. Exchanges that wait for a connection fail with
    /// `TransportError.shutDown`, so a session calls this when its last task has ended. Calls `done`, on any thread, when the
    /// last connection is closed and the loops that the session owns have ended.
    func finish(_ done: @escaping @Sendable () -> Void) {
        guard let components = components.existing else { return done() }
        components.finish(done)
    }

    /// Fails all exchanges with `TransportError.shutDown` at once. May also be called after `finish`. Calls `done` as `finish`
    /// does.
    func shutDown(_ done: @escaping @Sendable () -> Void) {
        guard let components = components.existing else { return done() }
        components.shutDown(done)
    }
}

/// Calls a closure when `arrive` has been called a certain number of times.
private final class CountDown: Sendable {
    private let remaining: Lock<Int>
    private let whenDone: @Sendable () -> Void

    /// Creates a countdown that calls `whenDone` during the `count`-th call of `arrive`.
    init(_ count: Int, _ whenDone: @escaping @Sendable () -> Void) {
        remaining = Lock(count)
        self.whenDone = whenDone
    }

    /// Counts one call, and calls the closure if it is the last one.
    func arrive() {
        let isLast = remaining.withLock { remaining in
            remaining -= 1
            return remaining == 0
        }
        if isLast { whenDone() }
    }
}
