// SPDX-License-Identifier: MIT

// One import gives an embedder everything that the client shows: methods, fields, heads and errors.
@_exported public import LupineCoding
@_exported public import LupineHTTP
@_exported public import LupineHTTP2
@_exported public import LupineTLS

/// A complete HTTP client without Foundation: what an embedder imports this module for.
///
/// It keeps connections for reuse and is meant to be made once and shared; all of it may be used from any task or
/// thread. Cancelling the task that waits cancels the request. `shutdown()` ends everything; a client that is dropped
/// without it closes its connections by itself, once the responses in flight are read.
///
///     let client = HTTPClient()
///     let response = try await client.get("http://example.org/")
///     print(response.status, try await response.body.text())
public final class HTTPClient: Sendable {
    /// How the client behaves; used as it is when the client is made.
    public let configuration: Configuration
    private let engine: RetryableValue<Engine>

    /// Makes a client. A system that cannot give it threads is reported by each request, until it can.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        engine = RetryableValue { () throws(TransportError) in try Engine(configuration) }
    }

    deinit {
        engine.existing?.release()
    }

    /// Sends a request and returns once the head of its response is there; the body follows as it is read.
    ///
    /// Throws `TransportError`: `.cancelled` when the task is cancelled, `.shutDown` after `shutdown()`.
    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let engine = try engine.get()
        var redirected = RedirectedRequest(request)
        var place = engine.place(.request)
        while true {
            let response = try await engine.send(
                redirected.request, configuration, after: redirected.move, as: place)
            guard let next = try redirected.next(after: response, configuration) else { return response }
            await response.body.discard()
            place = place.flatMap { engine.place(.redirect(after: $0.id)) }
            redirected = next
        }
    }

    /// Fetches a URL.
    public func get(_ url: String) async throws(TransportError) -> HTTPResponse {
        try await send(try HTTPRequest(url: url))
    }

    /// One of the client's event loops, as an executor of Swift tasks: another one at each call, in turn. For programs whose tasks never
    /// block. Requests of such a task prefer connections of its loop, and are resumed there without changing threads.
    ///
    /// It keeps neither the client nor a thread: once the loop has ended, tasks run on Swift's global executor, as they do where the
    /// system gives no loop.
    public var executor: any TaskExecutor {
        (try? engine.get())?.executor ?? globalConcurrentExecutor
    }

    /// Ends the client: requests under way fail with `.shutDown`, connections close. Returns when they are closed, observers
    /// have been told of all ends and, if the client has event loops of its own, when their threads are gone.
    public func shutdown() async {
        await engine.existing?.shutdown()
    }

    /// Connections opened since the client was made; the difference between two readings shows reuse.
    public var connectionsOpened: Int {
        engine.existing?.pool.connectionsOpened ?? 0
    }

    /// How many connections there are now to each origin, and how many requests wait for one. Origins with neither are not
    /// among them. To be read now and then, for a gauge: while it counts, requests wait.
    public func poolCounts() -> [PoolCounts] { engine.existing?.pool.counts ?? [] }
}

extension HTTPClient {
    /// How a client behaves.
    public struct Configuration: Sendable {
        /// Connections to one host at the same time. An HTTP/2 connection that the server has sent away, and that still
        /// receives responses, is not counted.
        public var connectionsPerHost = 6
        /// Which versions of HTTP are spoken: with both, an https origin chooses. Where `tls.applicationProtocols` has not got
        /// `h2`, HTTP/2 is spoken only if it is the one version named here.
        public var versions: HTTPVersions = [.http11, .http2]
        /// Whether a connection of HTTP/2 carries requests to other hosts, too (RFC 9113 §9.1.1): those that have its address and its
        /// port, where its certificate is for their name as well, and neither an identity nor an evaluator of the program's is
        /// asked for. A server that answers with 421 is not taken for that host's again, and the request goes over a
        /// connection of its own.
        public var coalescesConnections = true
        /// Connections in all at the same time.
        public var totalConnections = 512
        /// How long a connection is kept without use.
        public var idleTimeout: Duration = .seconds(60)
        /// How old a connection may grow before it carries no further request; nil for any age.
        public var maximumConnectionAge: Duration?
        /// Look-up, connecting and tunnel together, without TLS; nil for as long as it takes.
        public var connectTimeout: Duration? = .seconds(60)
        /// One handshake of TLS, whatever the evaluator takes included; nil for as long as it takes.
        public var tlsHandshakeTimeout: Duration? = .seconds(60)
        /// How https connections are secured: versions, ciphers, roots, our own identity.
        public var tls = TLSConfiguration()
        /// The https origins that may see the identity of `tls`; the host `*` stands for every host. With nil each request
        /// shows it to the origin that it names, and to none that a redirect leads to.
        public var identityOrigins: Set<HostAndPort>?
        /// Whom https origins have to satisfy before they get a byte of a request.
        public var trust = TrustEvaluator.default
        /// Whom https proxies have to satisfy before they learn where a request goes. Proxies are spoken to as `tls` says,
        /// but never with its identity.
        public var proxyTrust = TrustEvaluator.default
        /// From the end of the request to the first byte of the response.
        public var firstByteTimeout: Duration?
        /// Between two bytes of the response, and between two of the request.
        public var idleReadTimeout: Duration? = .seconds(60)
        /// Between two bytes of the request.
        public var idleWriteTimeout: Duration? = .seconds(60)
        /// For the exchange as a whole, body included.
        public var timeout: Duration?
        /// How many redirects are followed; nil for none, which hands out the redirect itself.
        public var redirectLimit: Int?
        /// Whether a redirect from https to http is followed. Otherwise it fails with `TransportError.insecureRedirect`.
        public var followsInsecureRedirects = true
        /// Fields that no redirect takes to another origin, besides credentials and cookies: at first `X-Api-Key`,
        /// `X-Auth-Token`, `Api-Key` and others by which services take keys and tokens. Names in any mix of cases.
        public var sensitiveFields = RedirectMove.sensitiveByDefault
        /// Asks for compressed content and undoes the compression.
        public var decodesContent = false
        /// How far a body may grow while its content codings are undone; beyond it the body ends with
        /// `TransportError.coding`.
        public var expansionLimit = ExpansionLimit.standard
        /// Addresses to use instead of a look-up, with their ports; port 0 is that of the URL.
        public var overrides: [HostAndPort: [SocketAddress]] = [:]
        /// A proxy for every request, or none.
        public var proxy = Proxy.none
        /// Asks HTTP proxies for a tunnel to `http` origins too.
        package var tunnelsThroughProxy = false
        /// The local address or interface that connections leave from.
        public var localBinding: String?
        /// Limits of what a peer's heads may be.
        public var parserLimits = ParserLimits()
        /// What heads may get away with.
        public var leniency = Leniency.client
        /// Waits so long for `100 Continue` before content is sent; nil does not ask.
        public var continueTimeout: Duration?
        /// Bytes of a response's body per second; nil for no limit.
        public var receiveRate: Int?
        /// Bytes of a request's body per second; nil for no limit.
        public var sendRate: Int?
        /// Event loops of the client's own, as many; nil shares the process' loops.
        public var ownLoops: Int?
        /// Are told of every transfer, each of all; `TransferObserver` says what that is and on which thread.
        public var transferObservers: [any TransferObserver] = []

        /// The defaults.
        public init() {}
    }

    /// A host and port, as they stand in a URL.
    public struct HostAndPort: Hashable, Sendable {
        /// The host, in any case; `*` for every host.
        public var host: String
        /// The port.
        public var port: UInt16

        /// Names a host and port.
        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }

        /// Whether an https origin may see a client's certificate.
        ///
        /// - Parameters:
        ///   - host: The origin's host.
        ///   - port: The origin's port.
        ///   - origins: Those that the configuration names; nil for the one that the program's request names.
        ///   - move: How far redirects have led away from that.
        package static func mayIdentify(
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

    /// Where the client's requests go first.
    public enum Proxy: Hashable, Sendable {
        /// Straight to the origin.
        case none
        /// To this proxy: `http://user:password@host:port`, `https://...` or `socks5h://...`, for all hosts but those of the list,
        /// which reads as `no_proxy` does.
        case url(String, except: String = "")
        /// As `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` of the environment say.
        case environment
    }
}
