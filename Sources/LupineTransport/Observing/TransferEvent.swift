// SPDX-License-Identifier: MIT

public import LupineHTTP
public import LupineTLS

/// A request as it was passed to the transport.
///
/// Header fields and target include the credentials that are sent. An observer that logs them has to redact the credentials, as
/// `TransferLog` does.
public struct TransferStart: Sendable {
    /// Why the transfer was made: for a request, or as a redirect or repetition after another transfer, whose ID it contains.
    public let cause: TransferCause
    /// The identifier of the `URLSessionTask` of the transfer; nil without a session.
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
    /// The header fields, without those that the connection adds to frame the message.
    public let fields: Fields
    /// The length of the request's content in octets; nil if it is not known.
    public let contentLength: Int64?
    /// The proxy, without its credentials; nil for none.
    public let proxy: String?
    /// The path of the Unix-domain socket that is used instead of host and port; nil for none.
    public let unixSocketPath: String?

    /// The URL, without user and password.
    public var url: String {
        // Only an IPv6 address contains a colon (0x3A).
        let hostText = host.utf8.contains(0x3A) ? "[\(host)]" : host
        let defaultPort: UInt16 = scheme == "https" ? 443 : 80
        let portText = port == defaultPort ? "" : ":\(port)"
        return "\(scheme)://\(hostText)\(portText)\(target)"
    }
}

/// A connection that was opened for a transfer: the duration of look-up, connect, proxy tunnel and TLS, and their results.
public struct TransferDial: Sendable {
    /// The origin's host.
    public let host: String
    /// The origin's port.
    public let port: UInt16
    /// The peer's address: the origin's, or the proxy's.
    public let address: SocketAddress?
    /// The proxy, without its credentials; nil for none.
    public let proxy: String?
    /// The time from the start of the look-up, or of the first attempt to connect, to the established connection.
    public let duration: Duration
    /// The duration of the name look-up; nil if none was needed.
    public let lookUp: Duration?
    /// The duration of the TLS handshake with the origin; nil without TLS.
    public let handshake: Duration?
    /// The TLS version used with the origin; nil without TLS.
    public let tlsVersion: TLSVersion?
    /// The name of the cipher suite in the RFCs; nil without TLS.
    public let tlsCipherSuite: String?
    /// Whether the handshake resumed a session of an earlier connection.
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

/// A connection that was leased to a transfer.
public struct TransferLease: Sendable {
    /// Whether the connection had carried an earlier request.
    public let isReused: Bool
    /// How long the transfer waited for the connection, including the dial: since its start, or since the previous connection was
    /// lost.
    public let waited: Duration
    /// Whether the transport sends the request again, because the previous connection was lost.
    public let isReplay: Bool
    /// The local address of the connection.
    public let localAddress: SocketAddress?
    /// The peer's address: the origin's, or the proxy's.
    public let remoteAddress: SocketAddress?
    /// The head of the request as sent over this connection: the request line, the header fields in order and the empty line,
    /// including credentials. Over HTTP/2, the pseudo-header fields replace the request line.
    public let requestHead: [UInt8]
}

/// The final head of a response.
public struct TransferHead: Sendable {
    /// The status code.
    public let status: Status
    /// The reason phrase as received; it has no meaning (RFC 9112 §4).
    public let reason: String
    /// The HTTP version of the head.
    public let version: HTTPVersion
    /// The header fields, including credentials.
    public let fields: Fields
    /// The time from the start of the transfer to the first byte of the response.
    public let timeToFirstByte: Duration
}

/// The end of a transfer, with its result and metrics.
public struct TransferEnd: Sendable {
    /// The result of a transfer as the transport sees it. Failures of later processing, such as decoding or validating the
    /// content, do not count.
    public enum Outcome: Hashable, Sendable {
        /// The response was received, or as much of it as the caller needed. It may have any status.
        case completed
        /// The transfer was cancelled, or its client or session was shut down.
        case cancelled
        /// The transfer failed.
        case failed(TransportError)
    }

    /// The start of the transfer, as the observer received it.
    public let start: TransferStart
    /// The result.
    public let outcome: Outcome
    /// The status of the response; nil if there was none.
    public let status: Status?
    /// The time from the start to the end.
    public let duration: Duration
    /// The times in the course of the transfer, and the byte counts. `responseBodyBytesAfterDecoding` always equals
    /// `responseBodyBytesReceived`, even with a content coding: decoding is not part of a transfer.
    public let metrics: TransferMetrics

    /// The error of a failed transfer; nil for any other.
    public var error: TransportError? {
        if case .failed(let error) = outcome { return error }
        return nil
    }
}

/// An event that a `TransferReporter` delivers to its observers.
enum TransferEvent: Sendable {
    case start(TransferStart)
    case dial(TransferDial)
    case lease(TransferLease)
    case notice(HTTP2Notice)
    case head(TransferHead)
    case end(TransferEnd)

    /// Calls the observer's method for this event.
    func deliver(to observer: any TransferObserver, of id: TransferID) {
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
