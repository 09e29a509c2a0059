// SPDX-License-Identifier: MIT

public import LupineHTTP
public import LupineTLS

/// The times in the course of a request, and the numbers of octets that were sent and received. Times are counted from the moment
/// at which the request was submitted.
///
/// The time of an event that did not happen is nil. For example, a reused connection was not dialled. The names are those of
/// `URLSessionTaskTransactionMetrics`.
public struct TransferMetrics: Hashable, Sendable {
    /// The time at which the look-up of the host began.
    public let domainLookupStart: Duration?
    /// The time at which the look-up was complete.
    public let domainLookupEnd: Duration?
    /// The time at which the first attempt to connect began.
    public let connectStart: Duration?
    /// The time at which the TLS handshake with the origin began.
    public let secureConnectionStart: Duration?
    /// The time at which the handshake was complete and the origin trusted.
    public let secureConnectionEnd: Duration?
    /// The time at which the connection was established, including a proxy's tunnel and TLS.
    public let connectEnd: Duration?
    /// The time at which the first byte of the request was sent.
    public let requestStart: Duration?
    /// The time at which the last byte of the request was sent.
    public let requestEnd: Duration?
    /// The time at which the first byte of the response arrived.
    public let responseStart: Duration?
    /// The time at which the last byte of the response arrived.
    public let responseEnd: Duration?
    /// Whether the connection had carried an earlier request.
    public let isReusedConnection: Bool
    /// Whether the request was sent a second time, because the first connection was lost.
    public let wasReplayed: Bool
    /// Whether a proxy was used.
    public let isProxyConnection: Bool
    /// The local address of the connection.
    public let localAddress: SocketAddress?
    /// The remote address: the origin's or the proxy's.
    public let remoteAddress: SocketAddress?
    /// The TLS version used with the origin; nil without TLS.
    public let tlsVersion: TLSVersion?
    /// The cipher suite, by its name in the RFCs.
    public let tlsCipherSuite: String?
    /// Whether the handshake resumed the session of an earlier connection.
    public let isTLSResumed: Bool
    /// The protocol chosen by ALPN; nil if the server does not support ALPN.
    public let applicationProtocol: String?
    /// The HTTP version of the response.
    public let version: HTTPVersion?
    /// Octets of the request's head.
    public let requestHeaderBytesSent: Int
    /// Octets of the request's content, without framing.
    public let requestBodyBytesSent: Int64
    /// Octets of the response's head, interim heads included.
    public let responseHeaderBytesReceived: Int
    /// Octets of the response's content as received, without framing.
    public let responseBodyBytesReceived: Int64
    /// Octets of the response's content after decoding.
    public let responseBodyBytesAfterDecoding: Int64

    /// Converts the instants of `metrics` to times since the start. `decoded` is the number of content octets after decoding.
    init(_ metrics: ExchangeMetrics, decoded: Int64) {
        let start = metrics.fetchStart
        func since(_ instant: Instant?) -> Duration? {
            instant.map { .nanoseconds(($0 - start).nanoseconds) }
        }
        domainLookupStart = since(metrics.dial?.lookUpStart)
        domainLookupEnd = since(metrics.dial?.lookUpEnd)
        connectStart = since(metrics.dial?.connectStart)
        connectEnd = since(metrics.dial?.connectEnd)
        secureConnectionStart = since(metrics.dial?.secureStart)
        secureConnectionEnd = since(metrics.dial?.secureEnd)
        tlsVersion = metrics.tls?.version
        tlsCipherSuite = metrics.tls?.cipherSuite
        isTLSResumed = metrics.tls?.isResumed ?? false
        applicationProtocol = metrics.tls?.applicationProtocol
        requestStart = since(metrics.requestStart)
        requestEnd = since(metrics.requestEnd)
        responseStart = since(metrics.responseStart)
        responseEnd = since(metrics.responseEnd)
        isReusedConnection = metrics.isReused
        wasReplayed = metrics.wasReplayed
        isProxyConnection = metrics.usedProxy
        localAddress = metrics.localAddress
        remoteAddress = metrics.remoteAddress
        version = metrics.version
        requestHeaderBytesSent = metrics.requestHeadBytes
        requestBodyBytesSent = metrics.requestContentBytes
        responseHeaderBytesReceived = metrics.responseHeadBytes
        responseBodyBytesReceived = metrics.responseContentBytes
        responseBodyBytesAfterDecoding = decoded
    }
}
