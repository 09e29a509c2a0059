// SPDX-License-Identifier: MIT

/// A token bucket that limits how fast one direction of an exchange moves bytes.
///
/// The caller asks for the `allowance`, moves that many bytes or fewer, and passes their number to `spend`. If the allowance is
/// 0, it sets a timer for the time that `ready` returns. The caller also passes the current time. The bucket counts fractions of
/// a byte, so that many small moves add up to the rate exactly.
package struct RateLimit: Hashable, Sendable {
    /// Bytes per second.
    package let rate: Int
    /// The most bytes that may be moved at once after a pause.
    package let burst: Int
    /// The content of the bucket, in billionths of a byte. It is negative after the caller has moved more than the allowance,
    /// because the caller cannot limit every read exactly.
    private var tokens: Int64
    /// The time up to which tokens have been added.
    private var filledAt: Instant

    /// The number of tokens for one byte. With it, a rate in bytes per second is also the number of tokens per nanosecond.
    private static let unit: Int64 = 1_000_000_000
    /// The largest rate and burst, 8 GiB. Above it, the arithmetic could overflow; no network is that fast.
    private static let maximum = 8 << 30

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - rate: Bytes per second; values below 1 count as 1.
    ///   - burst: The bucket's size in bytes; by default what the rate allows in a quarter of a second, at least 1.
    ///   - now: The current time.
    package init(rate: Int, burst: Int? = nil, at now: Instant) {
        self.rate = min(max(1, rate), Self.maximum)
        self.burst = min(max(1, burst ?? self.rate / 4), Self.maximum)
        tokens = Int64(self.burst) * Self.unit
        filledAt = now
    }

    /// Returns how many bytes may be moved now.
    package mutating func allowance(at now: Instant) -> Int {
        refill(at: now)
        return max(0, Int(tokens / Self.unit))
    }

    /// What `grant` allows.
    enum Grant {
        /// This number of bytes may be moved now; it is at least 1 unless none were asked for.
        case bytes(Int)
        /// Nothing may be moved before this time.
        case wait(until: Instant)
    }

    /// Returns how many of `count` bytes may be moved now; if none, when `count` or `burst` bytes may be moved.
    mutating func grant(_ count: Int, at now: Instant) -> Grant {
        let allowance = allowance(at: now)
        return allowance > 0 ? .bytes(min(count, allowance)) : .wait(until: ready(for: count, at: now))
    }

    /// Takes the moved bytes out of the bucket.
    package mutating func spend(_ count: Int, at now: Instant) {
        refill(at: now)
        let (cost, isHuge) = Int64(max(0, count)).multipliedReportingOverflow(by: Self.unit)
        let (remainder, overflow) = tokens.subtractingReportingOverflow(isHuge ? .max : cost)
        // A debt that cannot be represented counts as the largest debt.
        tokens = overflow ? -.max : remainder
    }

    /// Returns the time at which `count` bytes, or `burst` bytes if that is less, may be moved: `now` or later.
    package mutating func ready(for count: Int, at now: Instant) -> Instant {
        refill(at: now)
        let wanted = Int64(min(max(1, count), burst)) * Self.unit
        guard tokens < wanted else { return now }
        let (missing, overflow) = wanted.subtractingReportingOverflow(tokens)
        if overflow { return .distantFuture }
        // Rounds up to whole nanoseconds, so that the bytes may really be moved at that time.
        let rate = Int64(rate)
        return now + Interval(nanoseconds: missing / rate + (missing % rate == 0 ? 0 : 1))
    }

    /// Adds the tokens for the time since the bucket was last filled, up to its size.
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
