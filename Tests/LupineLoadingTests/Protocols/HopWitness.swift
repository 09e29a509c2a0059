// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTransport
import Testing

@testable import LupineLoading

/// A client that records what a hop of a protocol, a file or a `data:` URL reports, and answers with its closures.
final class HopWitness: HopLoadClient {
    struct Log: Sendable {
        var order: [String] = []
        var response: URLResponse?
        var policy: URLCache.StoragePolicy?
        var pieces: [Data] = []
        var spliced = 0
        var failure: (any Error)?
        var metrics: HopMetrics?
        var ends = 0
        var overlaps = 0
        var redirect: URLRequest?
        var challenge: URLAuthenticationChallenge?
        var reply: (@Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)?

        var error: URLError? { failure as? URLError }
        var body: Data { pieces.reduce(Data(), +) }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    let log = LockedValue(Log())
    let ended = Gate()
    let responseReceived = Gate()
    let dataReceived = Gate()
    /// Opened by a redirect or a challenge.
    let questionReceived = Gate()
    private let isBusy = LockedValue(false)
    private let plan: @Sendable (URLResponse) -> HopPlan
    private let demand: @Sendable (Int) -> Demand

    /// - Parameters:
    ///   - plan: Answers the response.
    ///   - demand: Answers content; called with the number of bytes received so far.
    init(
        plan: @escaping @Sendable (URLResponse) -> HopPlan = { _ in .deliver },
        demand: @escaping @Sendable (Int) -> Demand = { _ in .more }
    ) {
        self.plan = plan
        self.demand = demand
    }

    /// Waits until the hop is over, and returns the log.
    func end() async -> Log {
        await ended.wait()
        return log.value
    }

    private func record<Result>(
        _ event: String, _ change: @Sendable (inout Log) -> Void, _ answer: () -> Result
    ) -> Result {
        let wasBusy = isBusy.value
        isBusy.set(true)
        log.update { log in
            if wasBusy { log.overlaps += 1 }
            log.order.append(event)
            change(&log)
        }
        defer { isBusy.set(false) }
        return answer()
    }

    func hopReceivedResponse(
        _ hop: any HopLoad, _ response: URLResponse, storagePolicy: URLCache.StoragePolicy
    )
        -> HopPlan
    {
        record("response") { log in
            log.response = response
            log.policy = storagePolicy
        } _: {
            responseReceived.open()
            return plan(response)
        }
    }

    func hopReceivedContent(_ hop: any HopLoad, _ data: Data) -> Demand {
        record("data") {
            $0.pieces.append(data)
        } _: {
            dataReceived.open()
            return demand(log.value.body.count)
        }
    }

    func hopSpliced(_ hop: any HopLoad, _ count: Int) -> Demand {
        record("spliced") {
            $0.spliced += count
        } _: {
            demand(log.value.spliced)
        }
    }

    func hopRedirected(_ hop: any HopLoad, to request: URLRequest, response: URLResponse) {
        record("redirect") { log in
            log.redirect = request
            log.response = response
        } _: {
            questionReceived.open()
        }
    }

    func hopChallenged(
        _ hop: any HopLoad, _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        record("challenge") { log in
            log.challenge = challenge
            log.reply = reply
        } _: {
            questionReceived.open()
        }
    }

    func hopEnded(_ hop: any HopLoad, _ error: (any Error)?, _ metrics: HopMetrics) {
        record("end") { log in
            log.ends += 1
            log.failure = error
            log.metrics = metrics
        } _: {
            ended.open()
        }
    }

    // Hops of protocols, files and `data:` URLs make none of these calls.

    func hopNeedsBodyStream(_ hop: any HopLoad, reply: @escaping @Sendable (BodyStream?) -> Void) {
        Issue.record("no stream is needed")
        reply(nil)
    }

    func hopSent(_ hop: any HopLoad, total: Int64, expected: Int64) { Issue.record("nothing is sent") }
    func hopReceivedInterimResponse(_ hop: any HopLoad, _ response: HTTPURLResponse) {
        Issue.record("nothing is interim")
    }
    func hopUpgraded(_ hop: any HopLoad, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    {
        Issue.record("nothing is upgraded")
        connection.close()
        return Unused()
    }

    private final class Unused: UpgradeHandler {
        func received(_ bytes: Span<UInt8>) -> Demand { .enough }
        func drained() {}
        func closed(_ error: TransportError?) {}
    }
}
