// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineTLS
internal import LupineTransport

/// The metrics of one request of a task. Immutable.
///
/// The dates of events that did not happen are nil, such as those of look-up, connecting and TLS on a reused connection.
public final class URLSessionTaskTransactionMetrics: NSObject, Sendable {
    /// The request as it was sent.
    public let request: URLRequest
    /// The response, if one was received.
    public let response: URLResponse?
    /// The source of the response.
    public let resourceFetchType: URLSessionTaskMetrics.ResourceFetchType
    /// Always `unknown`, because the system's resolver does not tell.
    public let domainResolutionProtocol = URLSessionTaskMetrics.DomainResolutionProtocol.unknown

    /// When the request was begun.
    public let fetchStartDate: Date?
    /// When the host name was passed to the resolver; nil for an IP address, and for a name that the proxy resolves.
    public let domainLookupStartDate: Date?
    /// When the resolver answered.
    public let domainLookupEndDate: Date?
    /// When connecting to the first address began.
    public let connectStartDate: Date?
    /// When the TLS handshake began.
    public let secureConnectionStartDate: Date?
    /// When the TLS handshake was complete and the server was trusted.
    public let secureConnectionEndDate: Date?
    /// When the connection was established, TLS included.
    public let connectEndDate: Date?
    /// When the first byte of the request was sent.
    public let requestStartDate: Date?
    /// When the last byte of the request was passed to the kernel.
    public let requestEndDate: Date?
    /// When the first byte of the response was received.
    public let responseStartDate: Date?
    /// When the last byte of the response was received.
    public let responseEndDate: Date?

    /// `h2`, `http/1.1` or `http/1.0`; nil if the network was not used.
    public let networkProtocolName: String?
    /// Whether the connection went to or through a proxy.
    public let isProxyConnection: Bool
    /// Whether the connection had been used for an earlier request.
    public let isReusedConnection: Bool
    /// The size of the request's head on the wire.
    public let countOfRequestHeaderBytesSent: Int64
    /// The size of the request's body on the wire.
    public let countOfRequestBodyBytesSent: Int64
    /// The size of the request's body before framing.
    public let countOfRequestBodyBytesBeforeEncoding: Int64
    /// The size of the response's heads on the wire.
    public let countOfResponseHeaderBytesReceived: Int64
    /// The size of the response's body as received.
    public let countOfResponseBodyBytesReceived: Int64
    /// The size of the response's body as delivered.
    public let countOfResponseBodyBytesAfterDecoding: Int64
    /// The local address; nil without a connection to an IP address.
    public let localAddress: String?
    /// The local port.
    public let localPort: String?
    /// The address of the server, or of the proxy.
    public let remoteAddress: String?
    /// The port of the server, or of the proxy.
    public let remotePort: String?
    /// The version of TLS; nil for plain text.
    public let negotiatedTLSProtocolVersion: tls_protocol_version_t?
    /// The cipher suite; nil for plain text.
    public let negotiatedTLSCipherSuite: tls_ciphersuite_t?
    /// Always false: the library cannot tell whether a cellular interface was used.
    public let isCellular = false
    /// Always false: the library cannot tell whether an expensive interface was used.
    public let isExpensive = false
    /// Always false: the library cannot tell whether an interface in low data mode was used.
    public let isConstrained = false
    /// Always false: a connection uses one route.
    public let isMultipath = false

    /// Returns the transactions of a hop, which is one request with its response: one for each exchange with the network; one if
    /// there was no exchange.
    static func transactions(
        of hop: HopMetrics, _ clock: WallClockMapping, within task: ClosedRange<Date>
    ) -> [URLSessionTaskTransactionMetrics] {
        let start = hop.fetchStart.clamped(to: task)
        // The wall clock may have been set back during the hop.
        let bounds = start...max(start, hop.end.clamped(to: task))
        guard let last = hop.exchanges.last else {
            // Without an exchange there are no other dates than those of the hop.
            return [URLSessionTaskTransactionMetrics(hop, local: bounds)]
        }
        // Only the last exchange has a response: the request of the others was sent again.
        var transactions: [URLSessionTaskTransactionMetrics] = []
        for exchange in hop.exchanges.dropLast() {
            let dates = TransactionDates(exchange, clock, within: bounds)
            transactions.append(URLSessionTaskTransactionMetrics(hop.withoutResponse, exchange, dates))
        }
        let dates = TransactionDates(last, clock, within: bounds)
        transactions.append(URLSessionTaskTransactionMetrics(hop, last, dates))
        return transactions
    }

    /// Creates the metrics of a hop without an exchange: of the cache, a file, a `data:` URL, or the program's `URLProtocol`.
    private convenience init(_ hop: HopMetrics, local bounds: ClosedRange<Date>) {
        // Without a network, only the start and the end were measured: sending takes no time, and the response arrives at the
        // end.
        var dates = TransactionDates()
        dates.fetchStart = bounds.lowerBound
        dates.requestStart = bounds.lowerBound
        dates.requestEnd = bounds.lowerBound
        if hop.response != nil {
            dates.responseStart = bounds.upperBound
            dates.responseEnd = bounds.upperBound
        }
        self.init(hop, nil, dates)
    }

    /// Creates the metrics of an exchange of a hop; of a hop without an exchange if `exchange` is nil.
    private init(_ hop: HopMetrics, _ exchange: ExchangeMetrics?, _ dates: TransactionDates) {
        request = hop.request
        response = hop.response
        resourceFetchType = hop.fetchType
        fetchStartDate = dates.fetchStart
        domainLookupStartDate = dates.lookUpStart
        domainLookupEndDate = dates.lookUpEnd
        connectStartDate = dates.connectStart
        secureConnectionStartDate = dates.secureStart
        secureConnectionEndDate = dates.secureEnd
        connectEndDate = dates.connectEnd
        requestStartDate = dates.requestStart
        requestEndDate = dates.requestEnd
        responseStartDate = dates.responseStart
        responseEndDate = dates.responseEnd
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

    /// The request, the source and the duration.
    public override var description: String {
        let name = request.url?.withoutUserInfo.absoluteString ?? "no URL"
        let time = (fetchStartDate.flatMap { responseEndDate?.timeIntervalSince($0) }).map { "\($0) s" }
        return "<URLSessionTaskTransactionMetrics \(name), \(resourceFetchType), \(time ?? "unfinished")>"
    }
}

/// The dates of a transaction; nil for events that did not happen.
private struct TransactionDates {
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

    /// Creates dates that are all nil.
    init() {}

    /// Creates the dates of an exchange. The dates of a connection that was opened earlier, for another request, are clamped to
    /// the start of this hop.
    init(_ exchange: ExchangeMetrics, _ clock: WallClockMapping, within bounds: ClosedRange<Date>) {
        func date(_ instant: Instant?) -> Date? { clock.date(of: instant, within: bounds) }
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
