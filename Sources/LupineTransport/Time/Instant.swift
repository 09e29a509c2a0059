// SPDX-License-Identifier: MIT

/// A point on the monotonic clock, in nanoseconds since the clock's unspecified origin.
///
/// State machines get the current time as an argument of this type, and never read a clock themselves.
package struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since the clock's origin.
    package let nanoseconds: Int64

    /// Creates an instant from the nanoseconds since the clock's origin.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// An instant that is never reached.
    package static let distantFuture = Instant(nanoseconds: .max)

    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
}
