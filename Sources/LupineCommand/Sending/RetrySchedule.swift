// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// When `--retry` sends again, and after what. A value without a clock.
struct RetrySchedule: Sendable {
    static let statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    static let longestWait = 600.0

    /// Attempts that are left.
    private(set) var left: Int
    private var wait = 1.0
    private var delay: Double?
    private var takesAll = false
    private var takesRefused = false

    init(retries: Int) { left = retries }

    init(_ invocation: Invocation) {
        left = invocation.retries
        delay = invocation.retryDelay
        takesAll = invocation.retriesAllErrors
        takesRefused = invocation.retriesRefused
    }

    /// Whether a response is given another try.
    func takes(_ status: Int) -> Bool { left > 0 && Self.statuses.contains(status) }

    /// Whether a failure is: what may pass by itself.
    func takes(_ failure: CommandFailure) -> Bool {
        guard left > 0 else { return false }
        switch failure.code {
        case .timeout, .lost: return true
        case .connect: return takesAll || takesRefused
        case .interrupted, .write, .read, .usage, .malformedURL, .tooLarge: return false
        default: return takesAll
        }
    }

    /// Uses one attempt up and says how long to wait before it. The server's wish counts when it is longer.
    mutating func next(retryAfter: Double?) -> Double {
        left -= 1
        if let delay { return min(max(delay, retryAfter ?? 0), Self.longestWait) }
        defer { wait = min(wait * 2, Self.longestWait) }
        return min(max(wait, retryAfter ?? 0), Self.longestWait)
    }

    /// The seconds of a `Retry-After`; a date is left to the schedule.
    static func retryAfter(_ response: HTTPURLResponse) -> Double? {
        response.value(forHTTPHeaderField: "Retry-After").flatMap(Quantity.seconds)
    }
}
