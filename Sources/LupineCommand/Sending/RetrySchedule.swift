// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// When `--retry` sends again, and after what. A value without a clock: the seconds that are spent are an argument.
struct RetrySchedule: Sendable {
    static let statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    static let longestWait = 600.0

    /// Attempts that are left.
    private(set) var left: Int
    private var wait = 1.0
    /// The seconds of --retry-delay, where 0 stands for the usual ones.
    private var delay: Double?
    /// The seconds of --retry-max-time, where 0 stands for no limit.
    private var limit: Double?
    private var takesAll = false
    private var takesRefused = false

    init(retries: Int) { left = retries }

    init(_ invocation: Invocation) {
        left = invocation.retries
        delay = invocation.retryDelay.flatMap { $0 > 0 ? $0 : nil }
        limit = invocation.retryMaximumTime.flatMap { $0 > 0 ? $0 : nil }
        takesAll = invocation.retriesAllErrors
        takesRefused = invocation.retriesRefused
    }

    /// Whether a response is given another try, one that `isFailure` by --fail included.
    func takes(_ status: Int, isFailure: Bool = false) -> Bool {
        left > 0 && (Self.statuses.contains(status) || (takesAll && isFailure))
    }

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

    /// How long to wait before the next attempt; nil when that would end after --retry-max-time. The server's wish counts when it
    /// is longer.
    func pause(retryAfter: Double?, spent: Double) -> Double? {
        let pause = min(max(delay ?? wait, retryAfter ?? 0), Self.longestWait)
        return spent + pause <= limit ?? .infinity ? pause : nil
    }

    /// Uses one attempt up.
    mutating func advance() {
        left -= 1
        wait = min(wait * 2, Self.longestWait)
    }

    /// The seconds of a `Retry-After`; a date is left to the schedule.
    static func retryAfter(_ response: HTTPURLResponse) -> Double? {
        response.value(forHTTPHeaderField: "Retry-After").flatMap(Quantity.seconds)
    }
}
