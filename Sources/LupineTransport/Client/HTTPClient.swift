// SPDX-License-Identifier: MIT

// One import gives an embedder everything that the client's API uses: methods, fields, heads and errors.
@_exported public import LupineCoding
@_exported public import LupineHTTP
@_exported public import LupineHTTP2
@_exported public import LupineTLS

/// A complete HTTP client that does not use Foundation: the main type for programs that import this module.
///
/// A client keeps connections for reuse, so create one and share it; any task or thread may use it. Cancelling the task that
/// awaits a response cancels the request. `shutdown()` fails the running requests and closes the connections. A client that is
/// deallocated without it closes its connections once the responses in flight have been read.
///
///     let client = HTTPClient()
///     let response = try await client.get("http://example.org/")
///     print(response.status, try await response.body.text())
public final class HTTPClient: Sendable {
    /// The settings of the client, fixed when it is created.
    public let configuration: Configuration
    private let engine: RetryableValue<Engine>

    /// Creates a client. If the system cannot provide threads, each request fails until it can.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        engine = RetryableValue { () throws(TransportError) in try Engine(configuration) }
    }

    deinit {
        engine.existing?.release()
    }

    /// Sends a request and returns once the head of its response has arrived; the body is received as it is read.
    ///
    /// Throws `TransportError`: `.cancelled` when the task is cancelled, `.shutDown` after `shutdown()`.
    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let engine = try engine.get()
        var redirected = RedirectedRequest(request)
        var transfer = engine.newTransfer(.request)
        while true {
            let response = try await engine.send(
                redirected.request, configuration, after: redirected.farthestMove, as: transfer)
            guard let next = try redirected.next(after: response, configuration) else { return response }
            await response.body.discard()
            transfer = transfer.flatMap { engine.newTransfer(.redirect(after: $0.id)) }
            redirected = next
        }
    }

    /// Sends a GET request for a URL. Throws like `send(_:)`, and `TransportError.url` if the text is not a URL that can be
    /// requested.
    public func get(_ url: String) async throws(TransportError) -> HTTPResponse {
        try await send(try HTTPRequest(url: url))
    }

    /// One of the client's event loops as a task executor; each access returns the next loop. Only for tasks that never block.
    /// Requests of a task on it prefer connections of that loop, so that the task resumes without a change of threads.
    ///
    /// The executor retains neither the client nor a thread: once the loop has ended, or if the system provides no loop, tasks
    /// run on Swift's global executor.
    public var executor: any TaskExecutor {
        (try? engine.get())?.executor ?? globalConcurrentExecutor
    }

    /// Ends the client: running requests fail with `.shutDown`, and connections close. Returns when all connections are closed,
    /// when the observers have received the end of every transfer and, if the client has its own event loops, when their
    /// threads have exited.
    public func shutdown() async {
        await engine.existing?.shutdown()
    }

    /// The number of connections opened since the client was created; the difference between two readings shows reuse.
    public var connectionsOpened: Int {
        engine.existing?.pool.connectionsOpened ?? 0
    }

    /// Returns how many connections there are to each origin, and how many requests wait for one. Origins with neither are
    /// left out. Meant for a gauge that is read occasionally: requests wait while the connections are counted.
    public func poolCounts() -> [PoolCounts] { engine.existing?.pool.counts ?? [] }
}

extension HTTPClient {
    /// The settings of a client.
    public struct Configuration: Sendable {
        /// The limit of concurrent connections to one host, at least 1. An HTTP/2 connection for which the server has sent
        /// GOAWAY, and that still receives responses, does not count.
        public var connectionsPerHost = 6
        /// The enabled HTTP versions. If there are two, an https origin chooses. If `tls.applicationProtocols` does not contain
        /// `h2`, HTTP/2 is used only if it is the only version here.
        public var versions: HTTPVersions = [.http11, .http2]
        /// Whether an HTTP/2 connection also carries requests to other hosts (RFC 9113 §9.1.1). Such a host must have the
        /// connection's address and port, the server's certificate must cover the host's name, and neither an identity nor an
        /// evaluator of the program may be in use. After a 421 response, this request and all later ones to that host use
        /// connections of the host's own.
        public var coalescesConnections = true
        /// The limit of concurrent connections in total, at least 1.
        public var totalConnections = 512
        /// How long an unused connection is kept.
        public var idleTimeout: Duration = .seconds(60)
        /// The age from which a connection carries no further request; nil for no limit.
        public var maximumConnectionAge: Duration?
        /// The time-out for look-up, connecting and tunnel together, without TLS; nil for none.
        public var connectTimeout: Duration? = .seconds(60)
        /// The time-out of one TLS handshake, including the evaluator; nil for none.
        public var tlsHandshakeTimeout: Duration? = .seconds(60)
        /// The TLS settings of https connections: versions, ciphers, roots, the client's identity.
        public var tls = TLSConfiguration()
        /// The https origins that may receive the identity of `tls`; the host `*` stands for every host. If nil, the client
        /// presents the identity to the origin that a request names, but not to other origins that redirects lead to.
        public var identityOrigins: Set<HostAndPort>?
        /// The evaluator that https origins must satisfy before they receive any byte of a request.
        public var trust = TrustEvaluator.default
        /// The evaluator that https proxies must satisfy before they learn where a request goes. Connections to proxies use
        /// the settings of `tls`, but never its identity.
        public var proxyTrust = TrustEvaluator.default
        /// The time-out from the end of the request to the first byte of the response.
        public var firstByteTimeout: Duration?
        /// The time-out between two bytes of the response.
        public var idleReadTimeout: Duration? = .seconds(60)
        /// The time-out between two bytes of the request.
        public var idleWriteTimeout: Duration? = .seconds(60)
        /// The time-out of the exchange as a whole, body included.
        public var timeout: Duration?
        /// The limit of followed redirects; if nil, a redirect is returned as the response.
        public var redirectLimit: Int?
        /// Whether a redirect from https to http is followed. Otherwise the request fails with
        /// `TransportError.insecureRedirect`.
        public var followsInsecureRedirects = true
        /// Fields that are not sent to another origin after a redirect, besides credentials and cookies. The default contains
        /// `X-Api-Key`, `X-Auth-Token`, `Api-Key` and other fields for keys and tokens. Names are case-insensitive.
        public var sensitiveFields = RedirectMove.sensitiveByDefault
        /// Whether compressed content is requested and decoded.
        public var decodesContent = false
        /// The limit for the expansion of a body when its content codings are decoded; beyond it the body fails with
        /// `TransportError.coding`.
        public var expansionLimit = ExpansionLimit.standard
        /// Addresses with ports to use instead of a look-up; port 0 stands for the URL's port.
        public var overrides: [HostAndPort: [SocketAddress]] = [:]
        /// The proxy of all requests, or none.
        public var proxy = Proxy.none
        /// Whether HTTP proxies are asked for a tunnel to `http` origins too.
        package var tunnelsThroughProxy = false
        /// The local address or interface that connections are bound to.
        public var localBinding: String?
        /// The limits of received message heads.
        public var parserLimits = ParserLimits()
        /// The deviations from the syntax that are accepted in received heads; any other deviation fails the request.
        public var leniency = Leniency.client
        /// How long to wait for `100 Continue` before content is sent; if nil, the request does not ask for it.
        public var continueTimeout: Duration?
        /// The limit of response body bytes per second; nil for no limit.
        public var receiveRate: Int?
        /// The limit of request body bytes per second; nil for no limit.
        public var sendRate: Int?
        /// The number of the client's own event loops, at least 1; nil to share the process's loops.
        public var ownLoops: Int?
        /// Observers of every transfer. `TransferObserver` documents the events and their thread.
        public var transferObservers: [any TransferObserver] = []

        /// Creates the default settings.
        public init() {}
    }

    /// A host and port, as written in a URL.
    public struct HostAndPort: Hashable, Sendable {
        /// The host, in any case; `*` for every host.
        public var host: String
        /// The port.
        public var port: UInt16

        /// Creates a host and port.
        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }

        /// Whether an https origin may receive the client's certificate.
        ///
        /// - Parameters:
        ///   - host: The origin's host.
        ///   - port: The origin's port.
        ///   - origins: The origins that the configuration names; nil for the one that the program's request names.
        ///   - move: How far redirects have led away from that origin.
        package static func mayPresentIdentity(
            to host: String, _ port: UInt16, of origins: Set<HostAndPort>?, after move: RedirectMove
        ) -> Bool {
            guard let origins else { return move == .withinOrigin }
            return origins.contains { named in
                guard named.port == port else { return false }
                let name = named.host.hostLowercased
                return name == "*" || name == host || name == "[\(host)]"
            }
        }
    }

    /// The proxy settings of a client.
    public enum Proxy: Hashable, Sendable {
        /// Directly to the origin.
        case none
        /// Through this proxy: `http://user:password@host:port`, `https://...` or `socks5h://...`, for all hosts except those
        /// of the list, which has the syntax of `no_proxy`.
        case url(String, except: String = "")
        /// According to the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
        case environment
    }
}
