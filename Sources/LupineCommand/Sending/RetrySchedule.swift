// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Decides when `--retry` sends again, and after which failures. A value without a clock: the elapsed seconds are an argument.
struct RetrySchedule: Sendable {
    static let statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    static let longestWait = 600.0

    /// The number of attempts left.
    private(set) var left: Int
    private var wait = 1.0
    /// The seconds of --retry-delay; nil, also for 0, stands for exponential delays.
    private var delay: Double?
    /// The seconds of --retry-max-time; nil, also for 0, stands for no limit.
    private var limit: Double?
    private var retriesAll = false
    private var retriesRefused = false

    init(retries: Int) { left = retries }

    init(_ invocation: Invocation) {
        left = invocation.retries
        delay = invocation.retryDelay.flatMap { $0 > 0 ? $0 : nil }
        limit = invocation.retryMaximumTime.flatMap { $0 > 0 ? $0 : nil }
        retriesAll = invocation.retriesAllErrors
        retriesRefused = invocation.retriesRefused
    }

    /// Whether a response is retried. `isFailure`: whether --fail makes it a failure.
    func allowsRetry(after status: Int, isFailure: Bool = false) -> Bool {
        left > 0 && (Self.statuses.contains(status) || (retriesAll && isFailure))
    }

    /// Whether a failure is retried: one that may be temporary.
    func allowsRetry(after failure: CommandFailure) -> Bool {
        guard left > 0 else { return false }
        switch failure.code {
        case .timeout, .lost: return true
        case .connect: return retriesAll || retriesRefused
        case .interrupted, .write, .read, .usage, .malformedURL, .tooLarge: return false
        default: return retriesAll
        }
    }

    /// Returns the delay before the next attempt; nil if it would end after --retry-max-time. A longer Retry-After of the server
    /// takes precedence.
    func pause(retryAfter: Double?, spent: Double) -> Double? {
        let pause = min(max(delay ?? wait, retryAfter ?? 0), Self.longestWait)
        return spent + pause <= limit ?? .infinity ? pause : nil
    }

    /// Counts one attempt and doubles the delay.
    mutating func advance() {
        left -= 1
        wait = min(wait * 2, Self.longestWait)
    }

    /// The seconds of a `Retry-After`; nil for a date, for which the schedule's own delay is used.
    static func retryAfter(_ response: HTTPURLResponse) -> Double? {
        response.value(forHTTPHeaderField: "Retry-After").flatMap(Quantity.seconds)
    }
}
