// SPDX-License-Identifier: MIT

/// A length of time in whole nanoseconds; the difference of two instants.
///
/// `Duration` counts attoseconds in 128 bits. The state machines use this type with 64 bits instead, because they compute with
/// times for every request. All operations saturate: a deadline from an absurd time-out lies in the distant future, and its
/// computation does not trap.
package struct Interval: Hashable, Comparable, Sendable {
    /// The length in nanoseconds; negative for an earlier instant.
    package var nanoseconds: Int64

    /// Creates an interval from nanoseconds.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Converts a `Duration`, discarding fractions of a nanosecond.
    package init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        if overflow || carry {
            nanoseconds = seconds < 0 ? .min : .max
        } else {
            nanoseconds = sum
        }
    }

    /// An interval of zero length.
    package static let zero = Interval(nanoseconds: 0)

    /// Returns an interval of `count` seconds, saturating.
    package static func seconds(_ count: Int64) -> Interval { scaled(count, by: 1_000_000_000) }
    /// Returns an interval of `count` milliseconds, saturating.
    package static func milliseconds(_ count: Int64) -> Interval { scaled(count, by: 1_000_000) }

    package static func < (left: Interval, right: Interval) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Returns the product as an interval, saturating.
    private static func scaled(_ count: Int64, by unit: Int64) -> Interval {
        let (product, overflow) = count.multipliedReportingOverflow(by: unit)
        if overflow { return Interval(nanoseconds: count < 0 ? .min : .max) }
        return Interval(nanoseconds: product)
    }
}

extension Interval: CustomStringConvertible {
    /// `0.25 s`, `60 s`: milliseconds are shown if they are not zero.
    package var description: String {
        let (whole, remainder) = (nanoseconds / 1_000_000).quotientAndRemainder(dividingBy: 1_000)
        if remainder == 0 { return "\(whole) s" }
        // Three digits: adding 1,000 and dropping the first digit keeps the leading zeros.
        var digits = String(1_000 + remainder.magnitude).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        // The number 0 has no sign, so that of -0.25 s must be added.
        return (nanoseconds < 0 && whole == 0 ? "-" : "") + "\(whole).\(digits) s"
    }
}

extension Instant {
    /// The clock's origin.
    package static let zero = Instant(nanoseconds: 0)

    /// Returns the instant `interval` later, saturating.
    package static func + (instant: Instant, interval: Interval) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(interval.nanoseconds)
        if overflow { return Instant(nanoseconds: interval.nanoseconds < 0 ? .min : .max) }
        return Instant(nanoseconds: sum)
    }

    /// Returns the time from `right` to `left`.
    package static func - (left: Instant, right: Instant) -> Interval {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        if overflow { return Interval(nanoseconds: left < right ? .min : .max) }
        return Interval(nanoseconds: difference)
    }
}
