// SPDX-License-Identifier: MIT

internal import LupineTransport

/// What a delegate has not heard yet of what was written: seldom told, never later than a moment, and all of it in the end
/// (U-7.10).
///
/// To wake a thread for each piece costs more than to write the piece. A value under the lock of whoever tells; time is an
/// argument.
struct WrittenNews: Sendable {
    /// What there is to do about a piece.
    enum Step: Hashable, Sendable {
        /// A call is under way that will tell of it.
        case wait
        case tellNow
        case tell(after: Interval)
    }

    /// How far apart calls are at least.
    static let interval = Interval.milliseconds(50)

    private var untold: Int64 = 0
    private var isUnderWay = false
    private var toldAt: Instant?

    /// So many bytes more were written.
    mutating func wrote(_ count: Int, at now: Instant) -> Step {
        guard count > 0 else { return .wait }
        untold += Int64(count)
        guard !isUnderWay else { return .wait }
        isUnderWay = true
        guard let toldAt, now < toldAt + Self.interval else { return .tellNow }
        return .tell(after: toldAt + Self.interval - now)
    }

    /// The call comes: what it is to tell, if nobody was faster.
    mutating func take(at now: Instant) -> Int64? {
        isUnderWay = false
        guard untold > 0 else { return nil }
        defer { untold = 0 }
        toldAt = now
        return untold
    }

    /// Whether there is anything to tell.
    var isEmpty: Bool { untold == 0 }
}
