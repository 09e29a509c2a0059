// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Decides after which failures `--retry` sends a request again, and when. It has no clock: the caller passes the elapsed
/// time. All times are in seconds.
struct RetrySchedule: Sendable {
    /// The statuses that are retried without `--retry-all-errors`.
    static let retriedStatuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// The longest delay, even if the server asks for a longer one.
    static let longestWait = 600.0

    /// The number of retries that are left.
    private(set) var retriesLeft: Int
    /// The next exponential delay.
    private var exponentialDelay = 1.0
    /// The delay of --retry-delay; nil stands for exponential delays, as `--retry-delay 0` does.
    private var fixedDelay: Double?
    /// The limit of --retry-max-time; nil stands for no limit, as `--retry-max-time 0` does.
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
        retriesLeft > 0 && (Self.retriedStatuses.contains(status) || (retriesAll && isFailure))
    }

    /// Whether a request with this failure is retried. Without --retry-all-errors and --retry-connrefused, only time-outs and
    /// lost connections are retried.
    func allowsRetry(after failure: CommandFailure) -> Bool {
        guard retriesLeft > 0 else { return false }
        switch failure.code {
        case .timeout, .lost: return true
        case .connect: return retriesAll || retriesRefused
        // The cause of these failures would still be there at another attempt.
        case .interrupted, .write, .read, .usage, .malformedURL, .tooLarge: return false
        default: return retriesAll
        }
    }

    /// Returns the delay before the next attempt; nil if that attempt would start after the limit of --retry-max-time.
    ///
    /// - Parameters:
    ///   - retryAfter: The delay that the server's Retry-After asks for. A shorter delay than the schedule's own is ignored.
    ///   - elapsed: The time since the start of the first attempt.
    func retryDelay(retryAfter: Double?, elapsed: Double) -> Double? {
        let delay = min(max(fixedDelay ?? exponentialDelay, retryAfter ?? 0), Self.longestWait)
        return elapsed + delay <= timeLimit ?? .infinity ? delay : nil
    }

    /// Counts one retry and doubles the exponential delay.
    mutating func advance() {
        retriesLeft -= 1
        exponentialDelay = min(exponentialDelay * 2, Self.longestWait)
    }

    /// Returns the seconds of a response's `Retry-After`; nil if the field is missing or has a date.
    static func retryAfter(_ response: HTTPURLResponse) -> Double? {
        response.value(forHTTPHeaderField: "Retry-After").flatMap(Quantity.seconds)
    }
}
