// SPDX-License-Identifier: MIT

import LupineCoding
import LupineHTTP
import LupineTLS

/// What a client owns: its loops or a share in the process', its resolver, its pool.
final class Engine: Sendable {
    let pool: ConnectionPool
    private let group: EventLoopGroup
    private let ownsGroup: Bool
    private let proxies: ProxyRule
    private let parserLimits: ParserLimits
    private let revocation: RevocationClient
    private let profiles: TLSProfiles
    private let tls: TLSConfiguration
    /// The same without our own identity.
    private let anonymousTLS: TLSConfiguration
    /// For requests that bring no evaluator of their own.
    private let originProfile: TLSProfile
    private let proxyProfile: TLSProfile
    /// Nil where nobody listens.
    private let reporter: TransferReporter?

    init(_ configuration: HTTPClient.Configuration) throws(TransportError) {
        guard !configuration.versions.isEmpty else {
            throw .unsupported("a client that speaks no version of HTTP")
        }
        proxies = try Self.proxies(configuration.proxy)
        reporter = TransferReporter(configuration.transferObservers)
        do throws(Errno) {
            if let count = configuration.ownLoops {
                group = try EventLoopGroup(count: max(1, count), name: "lupine-client")
                ownsGroup = true
            } else {
                group = try EventLoopGroup.shared()
                ownsGroup = false
            }
        } catch { throw TransportError(startingLoops: error) }
        var resolution = Resolver.Configuration()
        for (endpoint, addresses) in configuration.overrides {
            resolution.overrides[Resolver.Endpoint(host: endpoint.host, port: endpoint.port)] = addresses
        }
        var pooling = ConnectionPool.Configuration()
        pooling.limits = PoolLimits(
            perHost: configuration.connectionsPerHost, total: configuration.totalConnections,
            idleTimeout: Interval(configuration.idleTimeout),
            maximumAge: configuration.maximumConnectionAge.map { Interval($0) })
        pooling.dial.timeout = configuration.connectTimeout.map { Interval($0) }
        pooling.dial.tlsHandshakeTimeout = configuration.tlsHandshakeTimeout.map { Interval($0) }
        pooling.dial.tunnelsEverything = configuration.tunnelsThroughProxy
        var tls = configuration.tls
        tls.applicationProtocols = configuration.versions.offered(of: tls.applicationProtocols)
        pooling.dial.versions = tls.applicationProtocols.contains("h2") ? configuration.versions : .http11
        pooling.coalescesConnections = configuration.coalescesConnections
        pooling.parserLimits = configuration.parserLimits
        pooling.leniency = configuration.leniency
        parserLimits = configuration.parserLimits
        let resolver = Resolver(configuration: resolution)
        pool = ConnectionPool(configuration: pooling, group: group, resolver: resolver)
        revocation = RevocationClient(group: group, resolver: resolver, proxies: proxies)
        profiles = TLSProfiles(
            revocation: RevocationSupport(fetcher: revocation, cache: RevocationMemory()))
        self.tls = tls
        originProfile = profiles.profile(tls, trust: configuration.trust)
        var anonymousTLS = tls
        anonymousTLS.identity = nil
        self.anonymousTLS = anonymousTLS
        var proxyTLS = configuration.tls
        proxyTLS.identity = nil
        proxyTLS.applicationProtocols.removeAll { $0 == "h2" }
        proxyProfile = profiles.profile(proxyTLS, trust: configuration.proxyTrust)
    }

    private static func proxies(_ proxy: HTTPClient.Proxy) throws(TransportError) -> ProxyRule {
        do throws(ProxyURLError) {
            switch proxy {
            case .none: return .direct
            case .url(let text, let except):
                let server = try ProxyServer(url: text)
                return ProxyRule(http: server, https: server, bypass: NoProxyList(except))
            case .environment:
                return try ProxyRule(environment: { Environment.value(of: $0) })
            }
        } catch { throw .proxy(error) }
    }

    /// One of the loops, each in turn.
    var executor: EventLoop { group.nextExecutor() }

    // MARK: requests

    /// The place of a transfer; nil where nobody listens.
    func place(_ cause: TransferCause) -> TransferPlace? { reporter == nil ? nil : TransferPlace(cause) }

    /// Sends one request and waits for the head of its response.
    ///
    /// - Parameters:
    ///   - move: How far redirects have led away from the origin that the program named.
    ///   - place: What observers are told of; nil where there are none.
    func send(
        _ request: HTTPRequest, _ configuration: HTTPClient.Configuration, after move: RedirectMove,
        as place: TransferPlace?
    ) async throws(TransportError) -> HTTPResponse {
        let inlet = BodyInlet(
            decodes: configuration.decodesContent, upTo: configuration.expansionLimit,
            host: request.url.host, port: request.url.port)
        let exchange = try exchange(for: request, configuration, after: move, as: place, sink: inlet)
        let head = try await inlet.head(of: exchange, through: pool)
        return HTTPResponse(head: head, body: ResponseBody(inlet), url: request.url)
    }

    private func exchange(
        for request: HTTPRequest, _ configuration: HTTPClient.Configuration, after move: RedirectMove,
        as place: TransferPlace?, sink: BodyInlet
    ) throws(TransportError) -> Exchange {
        let url = request.url
        let scheme: Origin.Scheme = url.scheme == .https ? .https : .http
        let proxy =
            url.scheme == .httpUnix ? nil : proxies.proxy(for: scheme, host: url.host, port: url.port)
        let origin = Origin(
            scheme: scheme, host: url.zone.map { url.host + "%" + $0 } ?? url.host, port: url.port,
            unixPath: url.unixPath, proxy: proxy,
            tls: scheme == .https ? profile(for: request, configuration, after: move) : nil,
            proxyTLS: proxy?.kind == .https ? proxyProfile : nil, localBinding: configuration.localBinding)
        var fields = request.fields
        do throws(HTTPError) {
            if configuration.decodesContent, !fields.contains(.acceptEncoding) {
                try fields.append(.acceptEncoding, ContentCoding.acceptEncoding())
            }
            if !fields.contains(.host) { try fields.append(.host, url.hostField) }
            // Meant for a proxy that reads the request; an origin at the end of a tunnel is not to learn it.
            if proxy?.kind != .http || scheme == .https || configuration.tunnelsThroughProxy {
                fields.remove(.proxyAuthorization)
            }
        } catch { throw .http(host: url.host, port: url.port, error) }
        let head = RequestHead(method: request.method, target: url.target(of: request.method), fields: fields)
        let options = ExchangeOptions(
            timeouts: TransferTimeouts(
                firstByte: configuration.firstByteTimeout.map { Interval($0) },
                idleRead: configuration.idleReadTimeout.map { Interval($0) },
                idleWrite: configuration.idleWriteTimeout.map { Interval($0) },
                whole: configuration.timeout.map { Interval($0) }),
            receiveRate: configuration.receiveRate, sendRate: configuration.sendRate,
            continueTimeout: configuration.continueTimeout.map { Interval($0) })
        return Exchange(
            head: head, content: try content(of: request.body), origin: origin, options: options,
            observation: place.flatMap { reporter?.observation(at: $0) }, sink: sink)
    }

    private func profile(
        for request: HTTPRequest, _ configuration: HTTPClient.Configuration, after move: RedirectMove
    ) -> TLSProfile {
        let isAnonymous =
            tls.identity != nil
            && !HTTPClient.HostAndPort.mayIdentify(
                to: request.url.host, request.url.port, of: configuration.identityOrigins, after: move)
        if request.trust == nil, !isAnonymous { return originProfile }
        return profiles.profile(
            isAnonymous ? anonymousTLS : tls, trust: request.trust ?? originProfile.trust)
    }

    private func content(of body: HTTPRequest.Body) throws(TransportError) -> OutgoingContent {
        switch body {
        case .none: return .none
        case .bytes(let bytes): return .bytes(bytes)
        case .file(let path):
            do throws(Errno) {
                let descriptor = try Descriptor.reading(path: path)
                let size = try descriptor.fileSize()
                return .file(FileSource(descriptor, offset: 0, count: size))
            } catch { throw .file(error) }
        case .stream(let length, let next):
            return .stream(ClosureSource(next), length: length)
        }
    }

    // MARK: the end

    func shutdown() async {
        await withCheckedContinuation { continuation in pool.shutDown { continuation.resume() } }
        await withCheckedContinuation { continuation in revocation.shutDown { continuation.resume() } }
        if let reporter {
            await withCheckedContinuation { continuation in reporter.whenTold { continuation.resume() } }
        }
        if ownsGroup { await group.shutdown() }
    }

    /// The client is gone: what is in flight may end, nothing new begins.
    func release() {
        let group = ownsGroup ? group : nil
        pool.retire { [revocation] in
            revocation.retire { if let group { Task { await group.shutdown() } } }
        }
    }
}

/// Content that a task supplies.
private final class ClosureSource: ContentSource {
    /// The program's closure, which a task lets go of: the loop may be the last that has the source.
    private final class Producer: Sendable {
        /// In a struct: a closure that is itself the value of a lock is wrapped once more by each look at it.
        private struct State {
            var next: (@Sendable () async throws -> [UInt8]?)?
        }

        private let state: Lock<State>

        init(_ next: @escaping @Sendable () async throws -> [UInt8]?) { state = Lock(State(next: next)) }

        func next() async throws -> [UInt8]? { try await state.withLock { $0.next }?() }

        func letGo() { _ = state.withLock { $0.next.take() } }
    }

    private let producer: Producer
    private let task = Lock<Task<Void, Never>?>(nil)

    init(_ produce: @escaping @Sendable () async throws -> [UInt8]?) { producer = Producer(produce) }

    deinit { Task { [producer] in producer.letGo() } }

    var isReplayable: Bool { false }
    func rewind() -> Bool { false }

    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {
        let running = Task { [producer] in
            do {
                reply(try await producer.next().map { .bytes($0) } ?? .end(trailers: Fields()))
            } catch {
                reply(.failed(String(describing: error)))
            }
        }
        task.withLock { $0 = running }
    }

    func abandon() {
        guard let running = task.withLock({ $0.take() }) else { return }
        // What the program does about a cancellation is done by whoever cancels: not by the loop that this may be.
        Task { running.cancel() }
    }
}
