// SPDX-License-Identifier: MIT

/// A length of time in whole nanoseconds: what separates two instants.
///
/// `Duration` counts attoseconds in 128 bits; the machines do their arithmetic in 64 on the path of every request.
/// Everything saturates: a deadline computed from an absurd time-out lies in the distant future instead of trapping.
package struct Interval: Hashable, Comparable, Sendable {
    /// The length, negative backwards.
    package var nanoseconds: Int64

    /// A length of so many nanoseconds.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The same length as a `Duration`, rounded down to nanoseconds.
    package init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        nanoseconds = overflow || carry ? (seconds < 0 ? .min : .max) : sum
    }

    /// No time at all.
    package static let zero = Interval(nanoseconds: 0)

    /// So many seconds, saturating.
    package static func seconds(_ count: Int64) -> Interval { scaled(count, by: 1_000_000_000) }
    /// So many milliseconds, saturating.
    package static func milliseconds(_ count: Int64) -> Interval { scaled(count, by: 1_000_000) }

    package static func < (left: Interval, right: Interval) -> Bool { left.nanoseconds < right.nanoseconds }

    private static func scaled(_ count: Int64, by unit: Int64) -> Interval {
        let (product, overflow) = count.multipliedReportingOverflow(by: unit)
        return Interval(nanoseconds: overflow ? (count < 0 ? .min : .max) : product)
    }
}

extension Interval: CustomStringConvertible {
    /// `0.25 s`, `60 s`: milliseconds, where there are some.
    package var description: String {
        let (whole, rest) = (nanoseconds / 1_000_000).quotientAndRemainder(dividingBy: 1_000)
        if rest == 0 { return "\(whole) s" }
        var digits = String(1_000 + rest.magnitude).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return (nanoseconds < 0 && whole == 0 ? "-" : "") + "\(whole).\(digits) s"
    }
}

extension Instant {
    /// The clock's origin.
    package static let zero = Instant(nanoseconds: 0)

    /// The instant `interval` later, or the last there is.
    package static func + (instant: Instant, interval: Interval) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(interval.nanoseconds)
        if overflow { return Instant(nanoseconds: interval.nanoseconds < 0 ? .min : .max) }
        return Instant(nanoseconds: sum)
    }

    /// The time from `right` to `left`.
    package static func - (left: Instant, right: Instant) -> Interval {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        if overflow { return Interval(nanoseconds: left < right ? .min : .max) }
        return Interval(nanoseconds: difference)
    }
}
