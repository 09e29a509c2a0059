// SPDX-License-Identifier: MIT

public import Foundation
public import LupineCoding
public import LupineHTTP
public import LupineTransport

extension URLSessionConfiguration {
    /// The options of a session that Apple's configuration does not have, the value of `configuration.lupine`.
    ///
    /// With the defaults, a session behaves as Apple's documentation says.
    public struct LupineOptions: Sendable {
        /// A host and port as written in a URL; the host `*` stands for every host.
        public typealias HostAndPort = HTTPClient.HostAndPort

        // MARK: addresses and proxies

        /// Addresses and ports for hosts that are not looked up; port 0 stands for the port of the URL. The names in the URL, in
        /// `Host` and in TLS do not change.
        public var addressOverrides: [HostAndPort: [SocketAddress]] = [:]
        /// The path of a Unix-domain socket for all connections, whatever host a URL names. With a path, no proxy is used.
        public var unixSocketPath: String?
        /// The local address or the network interface to which connections are bound.
        public var localBinding: String?

        /// Proxies under the names of the environment variables: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`. They
        /// replace `connectionProxyDictionary`, which applies if this is nil. A proxy may have the scheme `https`, and requests
        /// to loopback addresses use the proxies, too.
        public var proxies: [String: String]?

        // MARK: files

        /// An existing folder for temporary files: downloads before they are moved, partial downloads, and multipart forms that
        /// are too long for memory. Nil is the system's folder for temporary files.
        public var temporaryDirectory: URL?

        // MARK: versions of HTTP

        /// The versions of HTTP that the session uses; by default both.
        ///
        /// With both versions, an https origin chooses one in the TLS handshake (ALPN), and http origins are contacted in
        /// HTTP/1.1. With `.http2` alone, http origins are contacted in HTTP/2 with prior knowledge, and requests to an https
        /// origin that does not choose HTTP/2 fail. With `.http11` alone, HTTP/2 is not offered.
        ///
        /// A WebSocket uses an existing HTTP/2 connection that supports RFC 8441. Without such a connection it is opened over
        /// HTTP/1.1, unless the option is `.http2` alone.
        public var httpVersions: HTTPVersions = [.http11, .http2]
        /// Whether only HTTP/1.1 is used.
        package var isHTTP11Alone: Bool { httpVersions == .http11 }
        /// Whether only HTTP/2 is used. Without TLS, HTTP/2 is used only in this case.
        package var isHTTP2Alone: Bool { httpVersions.haveHTTP2WithoutTLS }

        /// Whether an HTTP/2 connection also carries requests to other hosts (RFC 9113 §9.1.1).
        ///
        /// The other host must have the same address and port, and the certificate must be valid for its name. The default
        /// evaluation alone must have accepted the server, without another evaluator, a delegate or a client certificate. After a
        /// response with status 421 (Misdirected Request), the request is sent again over a new connection, and further requests
        /// to that host do not use the old connection.
        public var coalescesConnections = true

        // MARK: limits of connections

        /// The time limit for the look-up of the host, connecting, and the tunnel through a proxy together; the TLS handshake is
        /// not included. With nil, only the time-outs of the request and of the configuration apply.
        public var connectTimeout: Duration?
        /// The maximum number of connections to all hosts at the same time.
        public var totalConnections = 512
        /// How long a connection stays open without a request.
        public var idleConnectionTimeout: Duration = .seconds(60)
        /// The maximum age of a connection that is used for further requests; nil for no limit.
        public var maximumConnectionAge: Duration?
        /// The number of event loops that only this session uses, and that end with it; nil for the shared loops of the process.
        public var ownEventLoops: Int?

        // MARK: rates

        /// The maximum number of bytes of response bodies per second and request; nil for no limit.
        public var receiveRate: Int?
        /// The maximum number of bytes of request bodies per second and request; nil for no limit.
        public var sendRate: Int?

        // MARK: TLS

        /// The options of TLS.
        public var tls = TLS()

        // MARK: redirects

        /// Whether a redirect from https to http is followed. Otherwise it fails with
        /// `URLError.appTransportSecurityRequiresSecureConnection`.
        public var followsInsecureRedirects = true
        /// Header fields that are removed, in addition to credentials and cookies, when a redirect leads to another origin. By
        /// default `X-Api-Key`, `X-Auth-Token`, `Api-Key` and other fields for keys and tokens. Names are case-insensitive.
        public var sensitiveFields = RedirectMove.sensitiveByDefault

        // MARK: protocols

        /// The `sessionValue` of the session's `URLProtocol` instances, by which an instance recognizes the session that it loads
        /// for; nil for none.
        public var protocolValue: (any Sendable)?

        // MARK: messages

        /// The default header fields, such as `User-Agent` and `Accept-Language`, that are not added to requests. A request can
        /// still set them. Names are case-insensitive; `Host` and the fields that frame a message are always sent.
        public var omittedFields: Set<String> = []

        /// The header fields that identify the program's users to a server, in addition to `Authorization` and `Cookie`. A cached
        /// response is not used for a request with a different value of one of these fields, unless the response has the cache
        /// directive `public`. Names are case-insensitive. The default is the same as that of `sensitiveFields`.
        public var identifyingFields = RedirectMove.sensitiveByDefault

        /// Whether `Accept-Encoding` is sent, and content codings are decoded. If false, a body is delivered as it was received.
        public var decodesContent = true
        /// The limit for the length of a decoded body.
        public var expansionLimit = ExpansionLimit.standard
        /// The maximum number of bytes of a body that is collected in memory; 1 GiB by default. A longer body fails with
        /// `URLError.dataLengthExceedsMaximum`.
        ///
        /// The limit applies to completion handlers, `data(for:)` and a line of `bytes.lines`. It also applies to data and upload
        /// requests of a `Session`, to downloads whose file is read into memory for a response, and to events that wait until the
        /// program iterates over their sequence. It does not apply to bodies that are streamed or saved to a file.
        public var collectedBodyLimit = 1 << 30
        /// The length of the body in bytes from which a request is sent with `Expect: 100-continue` (RFC 9110 §10.1.1). Requests
        /// whose body has no known length are sent with this field, too. With nil, no request has this field.
        public var expectContinueThreshold: Int64?
        /// How long a request waits for the response to `Expect: 100-continue`. When this time has passed, it sends its body.
        public var continueTimeout: Duration = .seconds(1)
        /// The limits for the head and framing of a response.
        public var parserLimits = ParserLimits()
        /// The syntax errors that are tolerated in the head of a response.
        public var leniency = Leniency.client

        // MARK: observing

        /// The observers of the session's transfers; see `TransferObserver` for the events and the thread.
        public var transferObservers: [any TransferObserver] = []

        // MARK: time

        /// The clock for retries, time-outs and the ages of cached responses. Tests replace it.
        package var clock = SessionClock.system

        // MARK: WebSockets

        /// Whether WebSockets offer to compress messages (permessage-deflate, RFC 7692).
        public var offersWebSocketCompression = false

        /// Creates options with the defaults.
        public init() {}
    }
}
