// SPDX-License-Identifier: MIT

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

/// Instants and `Duration`, where a caller counts in the standard library's unit; all of it saturates.
extension Instant {
    /// This moment moved by `duration`.
    package func advanced(by duration: Duration) -> Instant { self + Interval(duration) }

    /// The time from this moment to `other`, negative when `other` was before.
    package func duration(to other: Instant) -> Duration { .nanoseconds((other - self).nanoseconds) }
}
