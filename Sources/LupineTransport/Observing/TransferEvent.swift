// SPDX-License-Identifier: MIT

public import LupineHTTP
public import LupineTLS

/// A request as it was handed to the transport.
///
/// Header fields and target are those that are sent, with the credentials that are in them: what goes into a log is the
/// observer's to redact, as `TransferLog` does.
public struct TransferStart: Sendable {
    /// Why there is this transfer, and which one was before it.
    public let cause: TransferCause
    /// The number of the `URLSessionTask` that the transfer belongs to; nil without a session.
    public let taskIdentifier: Int?
    /// The method.
    public let method: Method
    /// `http` or `https`.
    public let scheme: String
    /// The host of the URL, in lower case and without brackets.
    public let host: String
    /// The port of the URL.
    public let port: UInt16
    /// Path and query.
    public let target: String
    /// The header fields, but for those that frame the message.
    public let fields: Fields
    /// Octets of the request's content; nil where that is not known.
    public let contentLength: Int64?
    /// The proxy in between, without its credentials; nil for none.
    public let proxy: String?
    /// The path of the Unix-domain socket that takes the place of host and port; nil for none.
    public let unixSocketPath: String?

    /// The URL, without user and password.
    public var url: String {
        let shown = host.utf8.contains(0x3A) ? "[\(host)]" : host
        let isDefault = port == (scheme == "https" ? 443 : 80)
        return "\(scheme)://\(shown)\(isDefault ? "" : ":\(port)")\(target)"
    }

    init(_ exchange: Exchange, _ place: TransferPlace) {
        let origin = exchange.origin
        cause = place.cause
        taskIdentifier = place.taskIdentifier
        method = exchange.head.method
        scheme = origin.scheme == .https ? "https" : "http"
        host = origin.host
        port = origin.port
        target = exchange.head.target.description
        fields = exchange.head.fields
        contentLength =
            switch exchange.content.announcement {
            case .none: 0
            case .known(let length): length
            case .unknown: nil
            }
        proxy = origin.proxy?.description
        unixSocketPath = origin.unixPath
    }
}

/// A connection that was opened: look-up, connecting, a proxy's tunnel and TLS.
public struct TransferDial: Sendable {
    /// The host that was asked for: the origin's.
    public let host: String
    /// The origin's port.
    public let port: UInt16
    /// The other end: the origin's address, or the proxy's.
    public let address: SocketAddress?
    /// The proxy in between, without its credentials; nil for none.
    public let proxy: String?
    /// From the first step to the last.
    public let duration: Duration
    /// What the look-up of the name took; nil where nothing had to be looked up.
    public let lookUp: Duration?
    /// What the handshake of TLS with the origin took; nil without TLS.
    public let handshake: Duration?
    /// The version of TLS between us and the origin; nil without TLS.
    public let tlsVersion: TLSVersion?
    /// The cipher suite, by the name that the RFCs give it; nil without TLS.
    public let tlsCipherSuite: String?
    /// Whether the handshake took up where an earlier connection had begun.
    public let isTLSResumed: Bool

    init(_ metrics: ExchangeMetrics, of dial: DialMetrics, to origin: Origin) {
        func between(_ start: Instant?, _ end: Instant?) -> Duration? {
            guard let start, let end else { return nil }
            return start.duration(to: end)
        }
        host = origin.host
        port = origin.port
        address = metrics.remoteAddress
        proxy = origin.proxy?.description
        duration = between(dial.lookUpStart ?? dial.connectStart, dial.connectEnd) ?? .zero
        lookUp = between(dial.lookUpStart, dial.lookUpEnd)
        handshake = between(dial.secureStart, dial.secureEnd)
        tlsVersion = metrics.tls?.version
        tlsCipherSuite = metrics.tls?.cipherSuite
        isTLSResumed = metrics.tls?.isResumed ?? false
    }
}

/// A connection that was lent to a transfer.
public struct TransferLease: Sendable {
    /// Whether the connection had carried an earlier request.
    public let isReused: Bool
    /// How long the transfer waited for it: since its start, or since the connection before had died.
    public let waited: Duration
    /// Whether the request is sent once more, because the connection before had died.
    public let isReplay: Bool
    /// Our end of the connection.
    public let localAddress: SocketAddress?
    /// The other end: the origin's address, or the proxy's.
    public let remoteAddress: SocketAddress?
    /// The head of the request as it goes out over this connection: the request line, the header fields in their order and the
    /// empty line, with the credentials that are in them. Over HTTP/2, the pseudo-fields take the place of the request line.
    public let requestHead: [UInt8]
}

/// The final head of a response.
public struct TransferHead: Sendable {
    /// The status code.
    public let status: Status
    /// The reason phrase as it came; it means nothing (RFC 9112 §4).
    public let reason: String
    /// The version that the head names.
    public let version: HTTPVersion
    /// The header fields, with the credentials that are in them.
    public let fields: Fields
    /// From the start of the transfer to the first byte of the response.
    public let timeToFirstByte: Duration
}

/// How a transfer ended, with all that is to be said of it.
public struct TransferEnd: Sendable {
    /// What became of a transfer, as the transport sees it. What is made of the content afterwards, such as decoding or
    /// validating it, is no part of it.
    public enum Outcome: Hashable, Sendable {
        /// The response has come, or as much of it as was wanted. Its status may be any.
        case completed
        /// It was given up: cancelled, or its client or session was shut down.
        case cancelled
        /// It failed.
        case failed(TransportError)
    }

    /// What it was told of at its start.
    public let start: TransferStart
    /// What became of it.
    public let outcome: Outcome
    /// The status of the response; nil where none came.
    public let status: Status?
    /// From the start to the end.
    public let duration: Duration
    /// When each step happened, and what it moved. With a coded content `responseBodyBytesAfterDecoding` is what came, as in
    /// `responseBodyBytesReceived`: decoding is no part of a transfer.
    public let metrics: TransferMetrics

    /// The error of a transfer that failed; nil for every other.
    public var error: TransportError? {
        if case .failed(let error) = outcome { return error }
        return nil
    }
}

/// One event on its way to the observers.
enum TransferEvent: Sendable {
    case start(TransferStart)
    case dial(TransferDial)
    case lease(TransferLease)
    case notice(HTTP2Notice)
    case head(TransferHead)
    case end(TransferEnd)

    /// Calls the method for it.
    func tell(_ observer: any TransferObserver, of id: TransferID) {
        switch self {
        case .start(let start): observer.transfer(id, didStart: start)
        case .dial(let dial): observer.transfer(id, didDial: dial)
        case .lease(let lease): observer.transfer(id, didLease: lease)
        case .notice(let notice): observer.transfer(id, didHear: notice)
        case .head(let head): observer.transfer(id, didReceive: head)
        case .end(let end): observer.transfer(id, didEnd: end)
        }
    }
}
