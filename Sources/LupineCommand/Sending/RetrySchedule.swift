// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Decides after which failures `--retry` sends a request again, and when. It has no clock: the caller passes the elapsed
/// seconds.
struct RetrySchedule: Sendable {
    /// The statuses that are retried without `--retry-all-errors`.
    static let statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// The longest delay in seconds, also if the server asks for a longer one.
    static let longestWait = 600.0

    /// The number of retries that are left.
    private(set) var retriesLeft: Int
    /// The seconds of the next exponential delay.
    private var exponentialDelay = 1.0
    /// The seconds of --retry-delay; nil, also for 0, stands for exponential delays.
    private var fixedDelay: Double?
    /// The seconds of --retry-max-time; nil, also for 0, stands for no limit.
    private var timeLimit: Double?
    /// Whether all failures are retried (--retry-all-errors).
    private var retriesAll = false
    /// Whether refused connections are retried (--retry-connrefused).
    private var retriesRefused = false

    init(retries: Int) { retriesLeft = retries }

    init(_ invocation: Invocation) {
        retriesLeft = invocation.retryLimit
        fixedDelay = invocation.retryDelay.flatMap { $0 > 0 ? $0 : nil }
        timeLimit = invocation.retryMaximumTime.flatMap { $0 > 0 ? $0 : nil }
        retriesAll = invocation.retriesAllErrors
        retriesRefused = invocation.retriesRefused
    }

    /// Whether a response with this status is retried.
    ///
    /// - Parameters:
    ///   - status: The status code of the response.
    ///   - isFailure: Whether --fail makes the status a failure.
    func allowsRetry(after status: Int, isFailure: Bool = false) -> Bool {
        retriesLeft > 0 && (Self.statuses.contains(status) || (retriesAll && isFailure))
    }

    /// Whether a request that failed this way is retried. Only failures that may be temporary are, unless an option says
    /// otherwise.
    func allowsRetry(after failure: CommandFailure) -> Bool {
        guard retriesLeft > 0 else { return false }
        switch failure.code {
        case .timeout, .lost: return true
        case .connect: return retriesAll || retriesRefused
        case .interrupted, .write, .read, .usage, .malformedURL, .tooLarge: return false
        default: return retriesAll
        }
    }

    /// Returns the seconds to wait before the next attempt; nil if it would start after the limit of --retry-max-time. The
    /// server's Retry-After takes precedence if it is longer.
    func retryDelay(retryAfter: Double?, elapsed: Double) -> Double? {
        let delay = min(max(fixedDelay ?? exponentialDelay, retryAfter ?? 0), Self.longestWait)
        return elapsed + delay <= timeLimit ?? .infinity ? delay : nil
    }

    /// Counts one retry and doubles the exponential delay.
    mutating func advance() {
        retriesLeft -= 1
        exponentialDelay = min(exponentialDelay * 2, Self.longestWait)
    }

    /// Returns the seconds of a `Retry-After`; nil if it is missing or a date, in which case the schedule's own delay is used.
    static func retryAfter(_ response: HTTPURLResponse) -> Double? {
        response.value(forHTTPHeaderField: "Retry-After").flatMap(Quantity.seconds)
    }
}
