// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport
import Testing

@testable import LupineLoading

struct TaskMetricsTests {
    private static let created = Date(timeIntervalSinceReferenceDate: 1_000)
    private static let completed = created.addingTimeInterval(10)
    /// A mapping in which the task was created at 100 s of the monotonic clock.
    private static let clock = WallClockMapping(Instant(nanoseconds: 100_000_000_000), at: created)

    private func point(_ seconds: Double) -> Instant {
        Instant(nanoseconds: Int64((100 + seconds) * 1e9))
    }

    private func date(_ seconds: Double) -> Date { Self.created.addingTimeInterval(seconds) }

    private func exchange(from start: Double = 1, isReused: Bool = false) -> ExchangeMetrics {
        var metrics = ExchangeMetrics(fetchStart: point(start))
        if !isReused {
            var dial = DialMetrics()
            dial.lookUpStart = point(start + 0.1)
            dial.lookUpEnd = point(start + 0.2)
            dial.connectStart = point(start + 0.3)
            dial.secureStart = point(start + 0.4)
            dial.secureEnd = point(start + 0.5)
            dial.connectEnd = point(start + 0.5)
            metrics.dial = dial
        }
        metrics.requestStart = point(start + 0.6)
        metrics.requestEnd = point(start + 0.7)
        metrics.responseStart = point(start + 0.8)
        metrics.responseEnd = point(start + 0.9)
        metrics.isReused = isReused
        metrics.localAddress = SocketAddress(literal: "127.0.0.1", port: 50_000)
        metrics.remoteAddress = SocketAddress(literal: "::1", port: 443)
        metrics.version = .http11
        metrics.requestHeadBytes = 11
        metrics.requestContentBytes = 12
        metrics.responseHeadBytes = 13
        metrics.responseContentBytes = 14
        return metrics
    }

    private func hop(
        _ exchanges: [ExchangeMetrics], from start: Double = 1, to end: Double = 2,
        _ fetchType: URLSessionTaskMetrics.ResourceFetchType = .networkLoad
    ) -> HopMetrics {
        let url = URL(fileURLWithPath: "/p")
        return HopMetrics(
            request: URLRequest(url: url),
            response: URLResponse(
                url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil),
            fetchType: fetchType, exchanges: exchanges, fetchStart: date(start), end: date(end),
            bodyBytesBeforeEncoding: 21, bodyBytesAfterDecoding: 22)
    }

    private func metrics(_ hops: SmallArray<HopMetrics>, redirects: Int = 0) -> URLSessionTaskMetrics {
        URLSessionTaskMetrics(
            hops: hops, redirectCount: redirects, created: Self.created, completed: Self.completed,
            clock: Self.clock)
    }

    private func dates(_ transaction: URLSessionTaskTransactionMetrics) -> [Date] {
        [
            transaction.fetchStartDate, transaction.domainLookupStartDate, transaction.domainLookupEndDate,
            transaction.connectStartDate, transaction.secureConnectionStartDate,
            transaction.secureConnectionEndDate, transaction.connectEndDate, transaction.requestStartDate,
            transaction.requestEndDate, transaction.responseStartDate, transaction.responseEndDate,
        ].compactMap { $0 }
    }

    private func expectOrder(_ metrics: URLSessionTaskMetrics) {
        for transaction in metrics.transactionMetrics {
            let dates = dates(transaction)
            #expect(dates == dates.sorted())
            #expect(dates.allSatisfy { metrics.taskInterval.contains($0) })
        }
    }

    @Test("[U-19.1] every milestone has its date, in order and inside the task")
    func milestones() throws {
        let metrics = metrics([hop([exchange()])], redirects: 3)
        #expect(metrics.redirectCount == 3)
        #expect(metrics.taskInterval == DateInterval(start: Self.created, end: Self.completed))
        let transaction = try #require(metrics.transactionMetrics.first)
        let wanted = [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.5, 1.6, 1.7, 1.8, 1.9].map { date($0) }
        for (found, wanted) in zip(dates(transaction), wanted) {
            #expect(abs(found.timeIntervalSince(wanted)) < 1e-6)
        }
        #expect(dates(transaction).count == 11)
        expectOrder(metrics)
    }

    @Test("[U-19.1] the dates stay ordered if clocks are set, and on connections opened for another task")
    func oddClocks() {
        let early = exchange(from: -5)
        let late = exchange(from: 30)
        for hop in [
            hop([early]), hop([late]), hop([exchange()], from: 9, to: 3), hop([exchange()], from: -9, to: 90),
        ] {
            let metrics = metrics([hop])
            #expect(dates(metrics.transactionMetrics[0]).count == 11)
            expectOrder(metrics)
        }
        let backwards = URLSessionTaskMetrics(
            hops: [hop([exchange()])], redirectCount: 0, created: Self.completed, completed: Self.created,
            clock: Self.clock)
        #expect(backwards.taskInterval.duration == 0)
        expectOrder(backwards)
    }

    @Test func byteCountsAndAddresses() {
        let transaction = metrics([hop([exchange()])]).transactionMetrics[0]
        #expect(transaction.resourceFetchType == .networkLoad && transaction.response != nil)
        #expect(transaction.countOfRequestHeaderBytesSent == 11)
        #expect(transaction.countOfRequestBodyBytesSent == 12)
        #expect(transaction.countOfRequestBodyBytesBeforeEncoding == 21)
        #expect(transaction.countOfResponseHeaderBytesReceived == 13)
        #expect(transaction.countOfResponseBodyBytesReceived == 14)
        #expect(transaction.countOfResponseBodyBytesAfterDecoding == 22)
        #expect(transaction.localAddress == "127.0.0.1" && transaction.localPort == "50000")
        #expect(transaction.remoteAddress == "::1" && transaction.remotePort == "443")
        #expect(transaction.networkProtocolName == "http/1.1")
        #expect(transaction.negotiatedTLSProtocolVersion == nil)
        #expect(transaction.negotiatedTLSCipherSuite == nil)
        #expect(!transaction.isProxyConnection && !transaction.isReusedConnection)
        #expect(!transaction.isCellular && !transaction.isExpensive && !transaction.isConstrained)
        #expect(!transaction.isMultipath && transaction.domainResolutionProtocol == .unknown)
    }

    @Test func aReusedConnectionWasNotOpened() {
        let transaction = metrics([hop([exchange(isReused: true)])]).transactionMetrics[0]
        #expect(transaction.isReusedConnection)
        #expect(transaction.domainLookupStartDate == nil && transaction.connectStartDate == nil)
        #expect(transaction.secureConnectionEndDate == nil && transaction.connectEndDate == nil)
        #expect(transaction.requestStartDate != nil)
    }

    @Test("[U-19.2] each exchange is a transaction; only the answered one has a response")
    func retries() {
        var died = exchange(isReused: true)
        died.responseStart = nil
        died.responseEnd = nil
        var replay = exchange(from: 1.05)
        replay.wasReplayed = true
        let metrics = metrics([hop([died, replay]), hop([exchange(from: 3)], from: 3, to: 4)], redirects: 1)
        #expect(metrics.transactionMetrics.count == 3)
        #expect(metrics.transactionMetrics.map { $0.response != nil } == [false, true, true])
        #expect(metrics.transactionMetrics.map(\.countOfResponseBodyBytesAfterDecoding) == [0, 22, 22])
        expectOrder(metrics)
    }

    @Test("[U-19.3] metrics do not change")
    func metricsDoNotChange() throws {
        let metrics = metrics([hop([exchange()])])
        let firstTransaction = try #require(metrics.transactionMetrics.first)
        var request = firstTransaction.request
        request.setValue("1", forHTTPHeaderField: "X-Later")
        #expect(
            metrics.transactionMetrics.count == 1 && metrics.transactionMetrics.first === firstTransaction)
        #expect(firstTransaction.request.allHTTPHeaderFields == nil)
        #expect(metrics.extended(until: Self.completed + 1).transactionMetrics.first === firstTransaction)
    }

    @Test("[U-19.2] a task that never began has no transactions")
    func neverBegun() {
        #expect(metrics([]).transactionMetrics.isEmpty)
    }

    @Test(
        "responses from the cache or a protocol have dates, and no connection",
        arguments: [URLSessionTaskMetrics.ResourceFetchType.localCache, .unknown])
    func localAnswers(_ type: URLSessionTaskMetrics.ResourceFetchType) {
        let metrics = metrics([hop([], type)])
        let transaction = metrics.transactionMetrics[0]
        #expect(transaction.resourceFetchType == type)
        #expect(transaction.fetchStartDate == date(1) && transaction.responseEndDate == date(2))
        #expect(transaction.networkProtocolName == nil && transaction.remoteAddress == nil)
        #expect(transaction.connectStartDate == nil && transaction.localPort == nil)
        #expect(transaction.countOfResponseBodyBytesAfterDecoding == 22)
        expectOrder(metrics)
    }

    @Test func rawValuesAreApples() {
        typealias Fetch = URLSessionTaskMetrics.ResourceFetchType
        typealias Resolution = URLSessionTaskMetrics.DomainResolutionProtocol
        #expect([Fetch.unknown, .networkLoad, .serverPush, .localCache].map(\.rawValue) == [0, 1, 2, 3])
        #expect([Resolution.unknown, .udp, .tcp, .tls, .https].map(\.rawValue) == [0, 1, 2, 3, 4])
        #expect(tls_ciphersuite_t.AES_128_GCM_SHA256.rawValue == 0x1301)
        #expect(tls_ciphersuite_t.ECDHE_RSA_WITH_AES_256_GCM_SHA384.rawValue == 0xC030)
    }
}
