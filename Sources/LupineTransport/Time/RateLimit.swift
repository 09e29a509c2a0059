// SPDX-License-Identifier: MIT

/// A token bucket that limits how fast one direction of an exchange moves bytes.
///
/// The caller gets `allowance`, moves that many bytes or fewer, and passes their number to `spend`; if the allowance is 0, it
/// sets a timer for `ready`. Time is an argument. Fractions of a byte are kept, so that many small steps add up to the rate
/// exactly.
package struct RateLimit: Hashable, Sendable {
    /// Bytes per second.
    package let rate: Int
    /// The most bytes that may be moved at once after a pause.
    package let burst: Int
    /// Billionths of a byte in the bucket. Negative after more was spent than allowed, because a read cannot always be limited
    /// exactly.
    private var tokens: Int64
    private var filledAt: Instant

    /// The tokens of one byte. A rate in bytes per second is the same number of tokens per nanosecond.
    private static let unit: Int64 = 1_000_000_000
    /// The largest rate and burst: the arithmetic overflows above it, and no network is that fast.
    private static let ceiling = 8 << 30

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - rate: Bytes per second; values below 1 count as 1.
    ///   - burst: The bucket's size; by default the bytes of a quarter of a second, at least 1.
    ///   - now: The current time.
    package init(rate: Int, burst: Int? = nil, at now: Instant) {
        self.rate = min(max(1, rate), Self.ceiling)
        self.burst = min(max(1, burst ?? self.rate / 4), Self.ceiling)
        tokens = Int64(self.burst) * Self.unit
        filledAt = now
    }

    /// Returns how many bytes may be moved now.
    package mutating func allowance(at now: Instant) -> Int {
        refill(at: now)
        return max(0, Int(tokens / Self.unit))
    }

    /// Removes the bytes that were moved from the bucket.
    package mutating func spend(_ count: Int, at now: Instant) {
        refill(at: now)
        let (cost, isHuge) = Int64(max(0, count)).multipliedReportingOverflow(by: Self.unit)
        let (remainder, overflow) = tokens.subtractingReportingOverflow(isHuge ? .max : cost)
        // The debt saturates.
        tokens = overflow ? -.max : remainder
    }

    /// Returns the time at which `count` bytes, or the burst if that is less, may be moved: `now` or later.
    package mutating func ready(for count: Int, at now: Instant) -> Instant {
        refill(at: now)
        let wanted = Int64(min(max(1, count), burst)) * Self.unit
        guard tokens < wanted else { return now }
        let (missing, overflow) = wanted.subtractingReportingOverflow(tokens)
        if overflow { return .distantFuture }
        // Rounded up, so that the bytes may be moved at that time.
        let rate = Int64(rate)
        return now + Interval(nanoseconds: missing / rate + (missing % rate == 0 ? 0 : 1))
    }

    /// Fills the bucket for the time since it was last filled.
    private mutating func refill(at now: Instant) {
        let elapsed = (now - filledAt).nanoseconds
        guard elapsed > 0 else { return }
        filledAt = now
        let full = Int64(burst) * Self.unit
        let (gain, isHuge) = elapsed.multipliedReportingOverflow(by: Int64(rate))
        let (sum, overflow) = tokens.addingReportingOverflow(gain)
        tokens = isHuge || overflow ? full : min(full, sum)
    }
}
