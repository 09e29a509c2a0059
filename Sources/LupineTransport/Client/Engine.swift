// SPDX-License-Identifier: MIT

import LupineCoding
import LupineHTTP
import LupineTLS

/// The resources of an `HTTPClient`: its event loops, its resolver and its connection pool. It sends single requests; the client
/// follows redirects.
final class Engine: Sendable {
    let pool: ConnectionPool
    private let group: EventLoopGroup
    /// Whether the loops belong to this client; otherwise the process shares them.
    private let ownsGroup: Bool
    private let proxies: ProxyRule
    private let parserLimits: ParserLimits
    /// Fetches revocation data for trust evaluations.
    private let revocation: RevocationClient
    private let profiles: TLSProfiles
    private let tls: TLSConfiguration
    /// The TLS configuration without the client's identity (a certificate with its key).
    private let anonymousTLS: TLSConfiguration
    /// The TLS profile of requests that have no evaluator of their own.
    private let originProfile: TLSProfile
    /// The TLS profile of connections to https proxies.
    private let proxyProfile: TLSProfile
    /// Delivers events to the observers; nil without observers.
    private let reporter: TransferReporter?

    /// Creates the resources. Throws if the configuration cannot be used, or if the system provides no threads or descriptors.
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
        // Without the protocols of versions that are not enabled.
        tls.applicationProtocols = configuration.versions.offered(of: tls.applicationProtocols)
        // Without `h2` in the offer, no origin can choose HTTP/2.
        pooling.dial.versions = tls.applicationProtocols.contains("h2") ? configuration.versions : .http11
        pooling.coalescesConnections = configuration.coalescesConnections
        pooling.parserLimits = configuration.parserLimits
        pooling.leniency = configuration.leniency
        parserLimits = configuration.parserLimits
        let resolver = Resolver(configuration: resolution)
        pool = ConnectionPool(configuration: pooling, group: group, resolver: resolver)
        revocation = RevocationClient(group: group, resolver: resolver, proxies: proxies)
        profiles = TLSProfiles(
            revocation: RevocationSupport(fetcher: revocation, cache: SharedRevocationCache()))
        self.tls = tls
        originProfile = profiles.profile(tls, trust: configuration.trust)
        var anonymousTLS = tls
        anonymousTLS.identity = nil
        self.anonymousTLS = anonymousTLS
        var proxyTLS = configuration.tls
        // The client certificate is for origins, not for proxies.
        proxyTLS.identity = nil
        // Connections to proxies use HTTP/1.1.
        proxyTLS.applicationProtocols.removeAll { $0 == "h2" }
        proxyProfile = profiles.profile(proxyTLS, trust: configuration.proxyTrust)
    }

    /// Returns the rule that selects the proxy of each request.
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

    /// A loop of the client; each access returns the next one.
    var executor: EventLoop { group.nextExecutor() }

    // MARK: requests

    /// Returns the identifier of a new transfer, with its cause, for the observers; nil without observers.
    func newTransfer(_ cause: TransferCause) -> TransferIdentity? {
        reporter == nil ? nil : TransferIdentity(cause)
    }

    /// Sends one request and returns once the head of its response has arrived.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - configuration: The settings of the client.
    ///   - move: How far redirects have led away from the origin that the program named.
    ///   - transfer: The identifier of the transfer, with its cause, for the observers; nil without observers.
    func send(
        _ request: HTTPRequest, _ configuration: HTTPClient.Configuration, after move: RedirectMove,
        as transfer: TransferIdentity?
    ) async throws(TransportError) -> HTTPResponse {
        let sink = ResponseSink(
            decodes: configuration.decodesContent, upTo: configuration.expansionLimit,
            host: request.url.host, port: request.url.port)
        let exchange = try makeExchange(for: request, configuration, after: move, as: transfer, sink: sink)
        // Submits the exchange to the pool, and waits for the head.
        let head = try await sink.head(of: exchange, through: pool)
        return HTTPResponse(head: head, body: ResponseBody(sink), url: request.url)
    }

    /// Creates the exchange for a request: its destination, head, content and time-outs.
    private func makeExchange(
        for request: HTTPRequest, _ configuration: HTTPClient.Configuration, after move: RedirectMove,
        as transfer: TransferIdentity?, sink: ResponseSink
    ) throws(TransportError) -> Exchange {
        let url = request.url
        let scheme: Origin.Scheme = url.scheme == .https ? .https : .http
        let proxy =
            url.scheme == .httpUnix ? nil : proxies.proxy(for: scheme, host: url.host, port: url.port)
        // An IPv6 address with a zone is valid only on one interface, so the zone is part of the host.
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
            // Only an HTTP proxy that reads the request may receive its credentials; an origin behind a tunnel must not.
            let proxyReadsRequest =
                proxy?.kind == .http && scheme != .https && !configuration.tunnelsThroughProxy
            if !proxyReadsRequest { fields.remove(.proxyAuthorization) }
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
            observation: transfer.flatMap { reporter?.observation(of: $0) }, sink: sink)
    }

    /// Returns the TLS profile for a request. The profile does not contain the client's identity (a certificate with its key) if
    /// the origin must not receive it.
    private func profile(
        for request: HTTPRequest, _ configuration: HTTPClient.Configuration, after move: RedirectMove
    ) -> TLSProfile {
        let isAnonymous =
            tls.identity != nil
            && !HTTPClient.HostAndPort.mayPresentIdentity(
                to: request.url.host, request.url.port, of: configuration.identityOrigins, after: move)
        if request.trust == nil, !isAnonymous { return originProfile }
        return profiles.profile(
            isAnonymous ? anonymousTLS : tls, trust: request.trust ?? originProfile.trust)
    }

    /// Returns the content of a request body. Opens the file of a `.file` body; throws if it cannot be read.
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

    /// Fails all running requests. Returns when the connections are closed and the observers have received all events.
    func shutdown() async {
        await withCheckedContinuation { continuation in pool.shutDown { continuation.resume() } }
        await withCheckedContinuation { continuation in revocation.shutDown { continuation.resume() } }
        if let reporter {
            await withCheckedContinuation { continuation in reporter.whenDelivered { continuation.resume() } }
        }
        if ownsGroup { await group.shutdown() }
    }

    /// Called when the client is deallocated. Running exchanges may complete; then the connections close, and the client's own
    /// loops end.
    func release() {
        let ownGroup = ownsGroup ? group : nil
        pool.retire { [revocation] in
            revocation.retire { if let ownGroup { Task { await ownGroup.shutdown() } } }
        }
    }
}

/// Supplies the content of a request from a closure of the program, which runs in a task.
private final class ClosureSource: ContentSource {
    /// Holds the program's closure, so that a task can release it. Otherwise a loop could release the last reference to the
    /// source, and would then run deinitialisers of the program.
    private final class Producer: Sendable {
        /// A struct around the closure: if the closure were the lock's value, each access would wrap it in another closure.
        private struct State {
            var next: (@Sendable () async throws -> [UInt8]?)?
        }

        private let state: Lock<State>

        init(_ next: @escaping @Sendable () async throws -> [UInt8]?) { state = Lock(State(next: next)) }

        func next() async throws -> [UInt8]? { try await state.withLock { $0.next }?() }

        // The locked block returns the closure, so that the closure is released outside of the lock.
        func releaseClosure() { _ = state.withLock { $0.next.take() } }
    }

    private let producer: Producer
    /// The task that produces the current piece.
    private let task = Lock<Task<Void, Never>?>(nil)

    init(_ next: @escaping @Sendable () async throws -> [UInt8]?) { producer = Producer(next) }

    deinit { Task { [producer] in producer.releaseClosure() } }

    var isReplayable: Bool { false }
    func rewind() -> Bool { false }

    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {
        let pieceTask = Task { [producer] in
            do {
                if let bytes = try await producer.next() {
                    reply(.bytes(bytes))
                } else {
                    reply(.end(trailers: Fields()))
                }
            } catch {
                reply(.failed(String(describing: error)))
            }
        }
        task.withLock { $0 = pieceTask }
    }

    func abandon() {
        guard let pieceTask = task.withLock({ $0.take() }) else { return }
        // `cancel` is called in another task: it runs cancellation handlers of the program, and this thread may be a loop's.
        Task { pieceTask.cancel() }
    }
}
