// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The progress of a download that the delegate has not been told of: reported rarely, with little delay, and completely at the
/// end (U-7.10).
///
/// Waking a thread for each piece would cost more than writing the piece. A value under the lock of its owner; time is an
/// argument.
struct WriteProgress: Sendable {
    /// What to do after a piece was written.
    enum Step: Hashable, Sendable {
        /// Nothing: a scheduled call will report it.
        case wait
        case tellNow
        case tell(after: Interval)
    }

    /// The shortest time between two calls.
    static let interval = Interval.milliseconds(50)

    private var untold: Int64 = 0
    private var isUnderWay = false
    private var toldAt: Instant?

    /// Counts written bytes.
    mutating func wrote(_ count: Int, at now: Instant) -> Step {
        guard count > 0 else { return .wait }
        untold += Int64(count)
        guard !isUnderWay else { return .wait }
        isUnderWay = true
        guard let toldAt, now < toldAt + Self.interval else { return .tellNow }
        return .tell(after: toldAt + Self.interval - now)
    }

    /// Returns the bytes to report in the scheduled call; nil if they have been reported already.
    mutating func take(at now: Instant) -> Int64? {
        isUnderWay = false
        guard untold > 0 else { return nil }
        defer { untold = 0 }
        toldAt = now
        return untold
    }

    /// Whether there is nothing to report.
    var isEmpty: Bool { untold == 0 }
}
