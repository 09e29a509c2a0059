// SPDX-License-Identifier: MIT

public import LupineHTTP
public import LupineTLS

/// When each step of a request happened, counted from the moment it was handed over, and how much it moved.
///
/// A step that did not happen has no time: a reused connection was not dialled. The names are those that URLSession
/// gives the same milestones.
public struct TransferMetrics: Hashable, Sendable {
    /// The look-up of the host began.
    public let domainLookupStart: Duration?
    /// The look-up had its answer.
    public let domainLookupEnd: Duration?
    /// The first attempt to connect began.
    public let connectStart: Duration?
    /// The handshake of TLS with the origin began.
    public let secureConnectionStart: Duration?
    /// The handshake was over and the origin trusted.
    public let secureConnectionEnd: Duration?
    /// The connection stood, a proxy's tunnel and TLS included.
    public let connectEnd: Duration?
    /// The first byte of the request was sent.
    public let requestStart: Duration?
    /// The last byte of the request was sent.
    public let requestEnd: Duration?
    /// The first byte of the response came.
    public let responseStart: Duration?
    /// The last byte of the response came.
    public let responseEnd: Duration?
    /// The connection had carried an earlier request.
    public let isReusedConnection: Bool
    /// The request went out a second time, because the reused connection had died.
    public let wasReplayed: Bool
    /// A proxy stood in between.
    public let isProxyConnection: Bool
    /// Our end of the connection.
    public let localAddress: SocketAddress?
    /// The other end: the origin's or the proxy's.
    public let remoteAddress: SocketAddress?
    /// The version of TLS between us and the origin; nil without TLS.
    public let tlsVersion: TLSVersion?
    /// The cipher suite, by the name that the RFCs give it.
    public let tlsCipherSuite: String?
    /// The handshake took up where an earlier connection had begun.
    public let isTLSResumed: Bool
    /// What ALPN chose; nil where the server does not know ALPN.
    public let applicationProtocol: String?
    /// What the response was written in.
    public let version: HTTPVersion?
    /// Octets of the request's head.
    public let requestHeaderBytesSent: Int
    /// Octets of the request's content, without framing.
    public let requestBodyBytesSent: Int64
    /// Octets of the response's head, interim heads included.
    public let responseHeaderBytesReceived: Int
    /// Octets of the response's content as they came, without framing.
    public let responseBodyBytesReceived: Int64
    /// Octets of the response's content after its coding was undone.
    public let responseBodyBytesAfterDecoding: Int64

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
