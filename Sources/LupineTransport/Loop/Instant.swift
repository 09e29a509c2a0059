// SPDX-License-Identifier: MIT

/// A moment of the monotonic clock, in nanoseconds since some start.
///
/// Deadlines, expiries and metrics are instants. Arithmetic saturates, so that a time-out of "for ever"
/// is the largest instant and never a trap.
package struct Instant: Hashable, Sendable {
    /// Nanoseconds since the clock's start.
    package let nanoseconds: Int64

    /// A moment from its number.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Later than every moment that comes: a timer set to it is due only when its loop closes.
    package static let distantFuture = Instant(nanoseconds: .max)

    /// This moment moved by `duration`.
    package func advanced(by duration: Duration) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        guard overflow else { return Instant(nanoseconds: sum) }
        return Instant(nanoseconds: duration < .zero ? .min : .max)
    }

    /// The time from this moment to `other`, negative when `other` was before.
    package func duration(to other: Instant) -> Duration {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        guard overflow else { return .nanoseconds(difference) }
        return .nanoseconds(other > self ? Int64.max : Int64.min)
    }
}

extension Instant: Comparable {
    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Duration {
    /// Whole nanoseconds, the nearest representable number for what is longer than 292 years.
    fileprivate var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflow) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        if tooLong || overflow { return seconds < 0 ? .min : .max }
        return sum
    }
}

/// Where a loop, and everything that asks a loop for the time, gets it from.
///
/// Production has the one clock of `MonotonicClock`; tests hand in one that stands still until it is moved.
package protocol TransportClock: Sendable {
    /// The present moment; it never goes back.
    func now() -> Instant
}

/// The machine's monotonic clock.
package struct MonotonicClock: TransportClock {
    /// The clock; there is one.
    package init() {}

    package func now() -> Instant { Instant(nanoseconds: Syscalls.monotonicNanoseconds()) }
}
