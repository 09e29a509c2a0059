// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineTLS
internal import LupineTransport

/// What one request of a task did, step by step. Never changes.
///
/// A step that was not taken has no date: a connection that was reused was not looked up, connected or secured.
public final class URLSessionTaskTransactionMetrics: NSObject, Sendable {
    /// The request as it was sent.
    public let request: URLRequest
    /// The answer, if one came.
    public let response: URLResponse?
    /// Where the answer came from.
    public let resourceFetchType: URLSessionTaskMetrics.ResourceFetchType
    /// Always `unknown`: the system's resolver does not say.
    public let domainResolutionProtocol = URLSessionTaskMetrics.DomainResolutionProtocol.unknown

    /// The request was begun.
    public let fetchStartDate: Date?
    /// The name was given to the resolver; nil for a literal address and for a name that the proxy looks up.
    public let domainLookupStartDate: Date?
    /// The resolver had answered.
    public let domainLookupEndDate: Date?
    /// The first address was tried.
    public let connectStartDate: Date?
    /// The handshake of TLS began.
    public let secureConnectionStartDate: Date?
    /// The handshake was over and the server trusted.
    public let secureConnectionEndDate: Date?
    /// The connection stood, TLS included.
    public let connectEndDate: Date?
    /// The first byte of the request was sent.
    public let requestStartDate: Date?
    /// The last byte of the request was handed to the kernel.
    public let requestEndDate: Date?
    /// The first byte of the response came.
    public let responseStartDate: Date?
    /// The last byte of the response came.
    public let responseEndDate: Date?

    /// `h2`, `http/1.1` or `http/1.0`; nil where no network was involved.
    public let networkProtocolName: String?
    /// Whether the connection went to or through a proxy.
    public let isProxyConnection: Bool
    /// Whether the connection had carried an earlier request.
    public let isReusedConnection: Bool
    /// Bytes of the request's head on the wire.
    public let countOfRequestHeaderBytesSent: Int64
    /// Bytes of the request's body on the wire.
    public let countOfRequestBodyBytesSent: Int64
    /// Bytes of the request's body before framing.
    public let countOfRequestBodyBytesBeforeEncoding: Int64
    /// Bytes of the response's heads on the wire.
    public let countOfResponseHeaderBytesReceived: Int64
    /// Bytes of the response's body as they came.
    public let countOfResponseBodyBytesReceived: Int64
    /// Bytes of the response's body as they were handed on.
    public let countOfResponseBodyBytesAfterDecoding: Int64
    /// Our address; nil without a connection to an IP address.
    public let localAddress: String?
    /// Our port.
    public let localPort: String?
    /// The address of the server, or of the proxy.
    public let remoteAddress: String?
    /// The port of the server, or of the proxy.
    public let remotePort: String?
    /// The version of TLS; nil for clear text.
    public let negotiatedTLSProtocolVersion: tls_protocol_version_t?
    /// The cipher suite; nil for clear text.
    public let negotiatedTLSCipherSuite: tls_ciphersuite_t?
    /// Whether a modem's interface carried it; nothing here tells.
    public let isCellular = false
    /// Whether an interface that costs money carried it; nothing here tells.
    public let isExpensive = false
    /// Whether an interface in low data mode carried it; nothing here tells.
    public let isConstrained = false
    /// Always false: a connection uses one route.
    public let isMultipath = false

    /// The transactions of one hop: one for each exchange with the network, or one without any.
    static func transactions(
        of hop: HopMetrics, _ clock: MilestoneClock, within task: ClosedRange<Date>
    ) -> [URLSessionTaskTransactionMetrics] {
        let start = hop.fetchStart.clamped(to: task)
        let bounds = start...max(start, hop.end.clamped(to: task))
        guard let last = hop.exchanges.last else {
            return [URLSessionTaskTransactionMetrics(hop, local: bounds)]
        }
        return hop.exchanges.dropLast().map {
            URLSessionTaskTransactionMetrics(hop.ofRetries, $0, Milestones($0, clock, within: bounds))
        } + [URLSessionTaskTransactionMetrics(hop, last, Milestones(last, clock, within: bounds))]
    }

    /// What was answered by something of this machine: the cache, a file, a protocol of the program's.
    private convenience init(_ hop: HopMetrics, local bounds: ClosedRange<Date>) {
        var milestones = Milestones()
        milestones.fetchStart = bounds.lowerBound
        milestones.requestStart = bounds.lowerBound
        milestones.requestEnd = bounds.lowerBound
        if hop.response != nil {
            milestones.responseStart = bounds.upperBound
            milestones.responseEnd = bounds.upperBound
        }
        self.init(hop, nil, milestones)
    }

    private init(_ hop: HopMetrics, _ exchange: ExchangeMetrics?, _ milestones: Milestones) {
        request = hop.request
        response = hop.response
        resourceFetchType = hop.fetchType
        fetchStartDate = milestones.fetchStart
        domainLookupStartDate = milestones.lookUpStart
        domainLookupEndDate = milestones.lookUpEnd
        connectStartDate = milestones.connectStart
        secureConnectionStartDate = milestones.secureStart
        secureConnectionEndDate = milestones.secureEnd
        connectEndDate = milestones.connectEnd
        requestStartDate = milestones.requestStart
        requestEndDate = milestones.requestEnd
        responseStartDate = milestones.responseStart
        responseEndDate = milestones.responseEnd
        networkProtocolName = exchange?.version.map { $0 == .http2 ? "h2" : $0.description.lowercased() }
        isProxyConnection = exchange?.usedProxy ?? false
        isReusedConnection = exchange?.isReused ?? false
        countOfRequestHeaderBytesSent = Int64(exchange?.requestHeadBytes ?? 0)
        countOfRequestBodyBytesSent = exchange?.requestContentBytes ?? 0
        countOfRequestBodyBytesBeforeEncoding = hop.bodyBytesBeforeEncoding
        countOfResponseHeaderBytesReceived = Int64(exchange?.responseHeadBytes ?? 0)
        countOfResponseBodyBytesReceived = exchange?.responseContentBytes ?? 0
        countOfResponseBodyBytesAfterDecoding = hop.bodyBytesAfterDecoding
        localAddress = exchange?.localAddress?.host
        localPort = exchange?.localAddress?.port.map { "\($0)" }
        remoteAddress = exchange?.remoteAddress?.host
        remotePort = exchange?.remoteAddress?.port.map { "\($0)" }
        negotiatedTLSProtocolVersion = exchange?.tls.map { tls_protocol_version_t($0.version) }
        negotiatedTLSCipherSuite = exchange?.tls.map { tls_ciphersuite_t(rawValue: $0.cipherSuiteNumber) }
        super.init()
    }

    /// The request and how long it took.
    public override var description: String {
        let name = request.url?.withoutUserInfo.absoluteString ?? "no URL"
        let time = (fetchStartDate.flatMap { responseEndDate?.timeIntervalSince($0) }).map { "\($0) s" }
        return "<URLSessionTaskTransactionMetrics \(name), \(resourceFetchType), \(time ?? "unfinished")>"
    }
}

/// The dates of a transaction.
private struct Milestones {
    var fetchStart: Date?
    var lookUpStart: Date?
    var lookUpEnd: Date?
    var connectStart: Date?
    var secureStart: Date?
    var secureEnd: Date?
    var connectEnd: Date?
    var requestStart: Date?
    var requestEnd: Date?
    var responseStart: Date?
    var responseEnd: Date?

    init() {}

    /// Those of an exchange. A connection that was begun for somebody else may be older than the request: its steps then
    /// are held at the request's beginning.
    init(_ exchange: ExchangeMetrics, _ clock: MilestoneClock, within bounds: ClosedRange<Date>) {
        func date(_ point: Instant?) -> Date? { clock.date(of: point, within: bounds) }
        fetchStart = bounds.lowerBound
        lookUpStart = date(exchange.dial?.lookUpStart)
        lookUpEnd = date(exchange.dial?.lookUpEnd)
        connectStart = date(exchange.dial?.connectStart)
        secureStart = date(exchange.dial?.secureStart)
        secureEnd = date(exchange.dial?.secureEnd)
        connectEnd = date(exchange.dial?.connectEnd)
        requestStart = date(exchange.requestStart)
        requestEnd = date(exchange.requestEnd)
        responseStart = date(exchange.responseStart)
        responseEnd = date(exchange.responseEnd)
    }
}
