// SPDX-License-Identifier: MIT

import CLupineFaults
import Foundation
import Lupine

/// Steps of the wall clock by years: time-outs and retry delays use another clock, and ages are never negative.
struct ClockFaults {
    let origin: FaultOrigin
    private static let year = 365 * 86_400

    func run() async throws {
        let real = Date()
        lupine_set_clock(Self.year)
        try origin.require(
            Date().timeIntervalSince(real) > Double(Self.year - 60), "the clock of this process cannot be set"
        )
        lupine_set_clock(0)
        for step in [Self.year, -Self.year] {
            try await stepInTheMiddle(step)
            lupine_set_clock(0)
        }
        try await retries()
        try await cache()
    }

    /// Sets the clock while a response arrives: nothing times out, no interval is negative, and a request without a response
    /// still times out.
    private func stepInTheMiddle(_ step: Int) async throws {
        let session = origin.session {
            $0.timeoutIntervalForRequest = 20
            $0.timeoutIntervalForResource = 40
        }
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let request = session.request(origin.url("/drip?duration=1&numbytes=10"))
        request.onHTTPResponse { _ in begin.yield() }
        let drops = request.validate().serializingData()
        for await _ in begun { break }
        lupine_set_clock(step)
        let response = await drops.response
        try origin.require(try response.result.get().count == 10, "\(response)")
        guard let metrics = response.metrics else { throw FaultProbe.Failure("no metrics") }
        try origin.require(
            metrics.taskInterval.duration >= 0 && metrics.transactionMetrics.count == 1, "metrics: \(metrics)"
        )
        try await origin.check(session)

        // The clock is set back while a request waits for its time-out.
        let stalled = session.request(origin.url("/delay/60")) { $0.timeoutInterval = 1 }.serializingData()
        let start = ContinuousClock.now
        lupine_set_clock(-step)
        let error = await stalled.response.error?.urlError
        try origin.require(error?.code == .timedOut, "\(String(describing: error))")
        let waited = ContinuousClock.now - start
        try origin.require(waited > .milliseconds(500) && waited < .seconds(20), "it waited \(waited)")
    }

    /// Checks that a retry delay is not changed by the clock.
    private func retries() async throws {
        let policy = RetryPolicy(retryLimit: 2, exponentialBackoffScale: 0.2)
        let session = origin.session()
        let request = session.request(origin.url("/status/503"), interceptor: policy).validate()
        let task = request.serializingData()
        lupine_set_clock(-Self.year)
        let response = await task.response
        lupine_set_clock(0)
        try origin.require(
            response.error?.responseCode == 503 && request.retryCount == 2, "retries: \(response)")
    }

    /// Checks that a fresh response becomes stale in time, and is not fresh for years if the clock is set back.
    private func cache() async throws {
        let session = origin.session { $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0) }
        func isCached() async throws -> Bool {
            let response = await session.request(origin.url("/cache/3600")).validate().serializingData()
                .response
            _ = try response.result.get()
            return response.metrics?.transactionMetrics.last?.resourceFetchType == .localCache
        }
        // The origin's own clock, which sets its `Date`, does not change.
        let steps: [(ahead: Int, isCached: Bool, what: String)] = [
            (0, false, "first"), (0, true, "at once"), (1_800, true, "half an hour on"),
            (7_200, false, "two hours on"),
            (7_200, false, "when the origin's answer is two hours old on arrival"),
            (-Self.year, false, "a year back, before it was stored"),
            (-Self.year, true, "stored in that year"),
            (0, false, "back in the present, a year later"),
        ]
        for step in steps {
            lupine_set_clock(step.ahead)
            let found = try await isCached()
            try origin.require(found == step.isCached, "the cache, \(step.what): from the cache is \(found)")
        }
    }
}
