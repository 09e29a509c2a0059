// SPDX-License-Identifier: MIT

/// The clock of a loop and of its users.
///
/// Clients use `MonotonicClock`; tests pass a clock that they advance.
package protocol TransportClock: Sendable {
    /// Returns the current time, which never goes back.
    func now() -> Instant
}

/// The machine's monotonic clock.
package struct MonotonicClock: TransportClock {
    /// Creates the clock, which has no state.
    package init() {}

    package func now() -> Instant { Instant(nanoseconds: Syscalls.monotonicNanoseconds()) }
}

/// Arithmetic with the standard library's `Duration`. All operations saturate instead of overflowing.
extension Instant {
    /// Returns this instant moved by `duration`.
    package func advanced(by duration: Duration) -> Instant { self + Interval(duration) }

    /// Returns the time from this instant to `other`, negative if `other` is earlier.
    package func duration(to other: Instant) -> Duration { .nanoseconds((other - self).nanoseconds) }
}
