// SPDX-License-Identifier: MIT

public import Foundation
public import LupineCoding
public import LupineHTTP
public import LupineTransport

extension URLSessionConfiguration {
    /// The options of a session that Apple's configuration does not have: `configuration.lupine`.
    ///
    /// A value type. The defaults change nothing: a session made with them behaves as Apple's documentation says.
    public struct LupineOptions: Sendable {
        /// A host and port as written in a URL; the host `*` stands for every host.
        public typealias HostAndPort = HTTPClient.HostAndPort

        // MARK: where connections go

        /// Addresses to use instead of a look-up, with their ports; port 0 stands for that of the URL. The names in the URL, in
        /// `Host` and in TLS stay as they are.
        public var addressOverrides: [HostAndPort: [SocketAddress]] = [:]
        /// The path of a Unix-domain socket that all connections go to, whatever host a URL names; no proxy is used.
        public var unixSocketPath: String?
        /// The local address or the network interface that connections are bound to.
        public var localBinding: String?

        /// Proxies in place of the configuration's dictionary, under the names of the environment variables: `http_proxy`,
        /// `https_proxy`, `all_proxy`, `no_proxy`. Here `https://` can name a proxy too, and loopback addresses are not exempt.
        /// Nil leaves it to the dictionary.
        public var proxies: [String: String]?

        // MARK: where files go

        /// An existing folder for temporary files: downloads until they are moved, partial downloads that are resumed later,
        /// forms that are too long for memory. Nil is the system's folder for temporary files.
        public var temporaryDirectory: URL?

        // MARK: what is spoken

        /// The versions of HTTP that are used. With both, the default, an https origin chooses; with `.http2` alone, http
        /// origins are also contacted in HTTP/2, with prior knowledge. A web socket shares an existing HTTP/2 connection that
        /// accepts it (RFC 8441), and is opened over HTTP/1.1 otherwise, unless HTTP/2 alone is used.
        public var httpVersions: HTTPVersions = [.http11, .http2]
        /// Whether only HTTP/1.1 is used.
        package var isHTTP11Alone: Bool { httpVersions == .http11 }
        /// Whether only HTTP/2 is used.
        package var isHTTP2Alone: Bool { httpVersions.haveHTTP2WithoutTLS }

        /// Whether an HTTP/2 connection also carries requests to other hosts (RFC 9113 §9.1.1): hosts that have its address and
        /// port, if its certificate covers their names as well, and if the default evaluation alone decides about the servers
        /// of both: without evaluator, delegate and client identity. After a response with 421 the connection is not used for
        /// that host again, and the request is sent over a connection of its own.
        public var coalescesConnections = true

        // MARK: how long, how many

        /// The time limit for look-up, connecting and a proxy's tunnel together, without TLS; nil leaves it to the time-outs of
        /// the request and of the configuration.
        public var connectTimeout: Duration?
        /// The maximum number of connections to all hosts at the same time.
        public var totalConnections = 512
        /// How long an idle connection is kept.
        public var idleConnectionTimeout: Duration = .seconds(60)
        /// The age from which on a connection carries no further request; nil for no limit.
        public var maximumConnectionAge: Duration?
        /// The number of event loops of the session's own, which end with the session; nil shares the loops of the process.
        public var ownEventLoops: Int?

        // MARK: how fast

        /// The maximum number of bytes of response bodies per second and request; nil for no limit.
        public var receiveRate: Int?
        /// The maximum number of bytes of request bodies per second and request; nil for no limit.
        public var sendRate: Int?

        // MARK: TLS

        /// How connections are secured.
        public var tls = TLS()

        // MARK: redirects

        /// Whether a redirect from https to http is followed. Otherwise it fails with
        /// `URLError.appTransportSecurityRequiresSecureConnection`.
        public var followsInsecureRedirects = true
        /// Header fields that no redirect carries to another origin, besides credentials and cookies: by default `X-Api-Key`,
        /// `X-Auth-Token`, `Api-Key` and others in which services take keys and tokens. Names are case-insensitive.
        public var sensitiveFields = RedirectMove.sensitiveByDefault

        // MARK: protocols

        /// A value that the session's `URLProtocol`s find as their `sessionValue`: a class in `protocolClasses` has no other
        /// way to know for which session it loads.
        public var protocolValue: (any Sendable)?

        // MARK: messages

        /// Header fields that are not sent unless the request sets them, among those that every request is given, such as
        /// `User-Agent` and `Accept-Language`. Names are case-insensitive; `Host` and the fields that frame a message are
        /// always sent.
        public var omittedFields: Set<String> = []

        /// The header fields by which a server tells this program's users apart, besides `Authorization` and `Cookie`. A
        /// response that was cached for one value of such a field is not used for a request with another value, unless the
        /// server has marked it `public`. Names are case-insensitive; by default the same as `sensitiveFields`.
        public var identifyingFields = RedirectMove.sensitiveByDefault

        /// Whether content codings are decoded, and `Accept-Encoding` is sent to ask for them. If false, a body is delivered as
        /// it was received.
        public var decodesContent = true
        /// How far a body may grow when its content codings are decoded.
        public var expansionLimit = ExpansionLimit.standard
        /// The maximum number of bytes of a body that are collected in memory; 1 GiB by default. A longer body fails with
        /// `URLError.dataLengthExceedsMaximum`.
        ///
        /// The limit applies to completion handlers, `data(for:)` and a line of `bytes.lines`; to data and upload requests of a
        /// `Session`, downloads whose file is read into memory for a response, and events that are gathered before their
        /// sequence is iterated over. Bodies that are streamed or saved have no such limit.
        public var collectedBodyLimit = 1 << 30
        /// The body length from which on a request is sent with `Expect: 100-continue` and its body waits for the answer; nil
        /// never does so. A body of unknown length is always long enough.
        public var expectContinueThreshold: Int64?
        /// How long such a body waits for an answer before it is sent anyhow.
        public var continueTimeout: Duration = .seconds(1)
        /// The limits for the head and framing of a response.
        public var parserLimits = ParserLimits()
        /// Which syntax errors are tolerated in the head of a response.
        public var leniency = Leniency.client

        // MARK: observing

        /// Observers, each of which is told of every transfer of the session; see `TransferObserver` for the events and the
        /// thread.
        public var transferObservers: [any TransferObserver] = []

        // MARK: time

        /// The clock for retries, time-outs and the ages of cached responses.
        package var clock = SessionClock.system

        // MARK: web sockets

        /// Whether web sockets offer to compress messages (permessage-deflate, RFC 7692).
        public var offersWebSocketCompression = false

        /// The defaults.
        public init() {}
    }
}
