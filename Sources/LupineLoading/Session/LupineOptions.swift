// SPDX-License-Identifier: MIT

public import Foundation
public import LupineCoding
public import LupineHTTP
public import LupineTransport

extension URLSessionConfiguration {
    /// What a session can be told beyond Apple's configuration: `configuration.lupine`.
    ///
    /// A value. The defaults change nothing: a session made with them behaves as Apple's documentation says.
    public struct LupineOptions: Sendable {
        /// A host and port as they stand in a URL; the host `*` stands for every host.
        public typealias HostAndPort = HTTPClient.HostAndPort

        // MARK: where connections go

        /// Addresses to use instead of a look-up, with their ports; port 0 is that of the URL. Names in the URL, in `Host` and in
        /// TLS stay as they are.
        public var addressOverrides: [HostAndPort: [SocketAddress]] = [:]
        /// The path of a Unix-domain socket that all connections go to, whatever host a URL names; no proxy is used.
        public var unixSocketPath: String?
        /// The local address or the interface that connections leave from.
        public var localBinding: String?

        /// Proxies in place of the configuration's dictionary, under the names that variables of the environment have:
        /// `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`. Here `https://` names a proxy too, and loopback addresses
        /// have no exception. Nil leaves it to the dictionary.
        public var proxies: [String: String]?

        // MARK: where files go

        /// The folder, which exists, for what is written on the way: downloads until they are moved, parts that are gone on with
        /// later, forms that are too long for memory. Nil is the system's folder for temporary files.
        public var temporaryDirectory: URL?

        // MARK: what is spoken

        /// Which versions of HTTP are spoken. With both, the default, an https origin chooses; with `.http2` alone, http origins
        /// are spoken to in HTTP/2 as well, without being asked. A web socket shares a connection of HTTP/2 that is there and takes
        /// it (RFC 8441), and is opened over HTTP/1.1 otherwise, unless HTTP/2 alone is spoken.
        public var httpVersions: HTTPVersions = [.http11, .http2]
        /// Whether nothing but HTTP/1.1 is spoken.
        package var isHTTP11Alone: Bool { httpVersions == .http11 }
        /// Whether nothing but HTTP/2 is spoken.
        package var isHTTP2Alone: Bool { httpVersions.haveHTTP2WithoutTLS }

        /// Whether a connection of HTTP/2 carries requests to other hosts, too (RFC 9113 §9.1.1): those that have its address and its
        /// port, where its certificate is for their name as well, and the default evaluation alone judges the servers of both: no
        /// evaluator, no delegate and no identity. A server that answers with 421 is not taken for that host's again, and the
        /// request goes over a connection of its own.
        public var coalescesConnections = true

        // MARK: how long, how many

        /// Look-up, connecting and a proxy's tunnel together, without TLS; nil leaves it to the time-outs of the request
        /// and of the configuration.
        public var connectTimeout: Duration?
        /// Connections to all hosts at the same time.
        public var totalConnections = 512
        /// How long a connection is kept without use.
        public var idleConnectionTimeout: Duration = .seconds(60)
        /// How old a connection may grow before it carries no further request; nil for any age.
        public var maximumConnectionAge: Duration?
        /// Event loops of the session's own, as many, which end with the session; nil shares the loops of the process.
        public var ownEventLoops: Int?

        // MARK: how fast

        /// Bytes of response bodies per second and request; nil for no limit.
        public var receiveRate: Int?
        /// Bytes of request bodies per second and request; nil for no limit.
        public var sendRate: Int?

        // MARK: TLS

        /// How connections are secured.
        public var tls = TLS()

        // MARK: redirects

        /// Whether a redirect from https to http is followed. Otherwise it fails with
        /// `URLError.appTransportSecurityRequiresSecureConnection`.
        public var followsInsecureRedirects = true
        /// Fields that no redirect takes to another origin, besides credentials and cookies: at first `X-Api-Key`,
        /// `X-Auth-Token`, `Api-Key` and others by which services take keys and tokens. Names in any mix of cases.
        public var sensitiveFields = RedirectMove.sensitiveByDefault

        // MARK: protocols

        /// A value that the protocols of the session find as their `sessionValue`: a class in `protocolClasses` has no other
        /// way to know for which session it loads.
        public var protocolValue: (any Sendable)?

        // MARK: messages

        /// Header fields that are not sent where the request does not set them: of those that every request is given, such as
        /// `User-Agent` and `Accept-Language`. Names in any mix of cases; `Host` and what frames a message always go out.
        public var omittedFields: Set<String> = []

        /// The header fields by which a server tells this program's users apart, beside `Authorization` and `Cookie`: what
        /// is stored in a cache as the answer to one value of theirs is not given to a request with another, unless the server
        /// says that it is `public`. Names in any mix of cases; at first the same as `sensitiveFields`.
        public var identifyingFields = RedirectMove.sensitiveByDefault

        /// Whether content codings are undone, and `Accept-Encoding` is sent to ask for them. Without it a body is
        /// delivered as it came.
        public var decodesContent = true
        /// How far a body may grow while its content codings are undone.
        public var expansionLimit = ExpansionLimit.standard
        /// The most bytes of a body that are collected in memory, by whomever; 1 GiB at first. A longer one fails with
        /// `URLError.dataLengthExceedsMaximum`.
        ///
        /// It holds for completion handlers, `data(for:)` and a line of `bytes.lines`; for data and upload requests of a
        /// `Session`, the downloads whose file is read into memory for a response, and what is gathered for a sequence of
        /// events before somebody iterates it. Bodies that are streamed or saved have no such limit.
        public var collectedBodyLimit = 1 << 30
        /// From this many bytes on a request's body is announced by `Expect: 100-continue` and waits for the answer; nil
        /// never announces. A body of unknown length is always long enough.
        public var expectContinueThreshold: Int64?
        /// How long an announced body waits for an answer before it is sent anyhow.
        public var continueTimeout: Duration = .seconds(1)
        /// How much of the head and framing of a response is taken.
        public var parserLimits = ParserLimits()
        /// What the head of a response may get away with.
        public var leniency = Leniency.client

        // MARK: observing

        /// Are told of every transfer of the session, each of all; `TransferObserver` says what that is and on which thread.
        public var transferObservers: [any TransferObserver] = []

        // MARK: time

        /// What the sessions go by: retries, time-outs, ages of what is cached.
        package var clock = SessionClock.system

        // MARK: web sockets

        /// Whether web sockets offer to compress messages (permessage-deflate, RFC 7692).
        public var offersWebSocketCompression = false

        /// The defaults.
        public init() {}
    }
}
