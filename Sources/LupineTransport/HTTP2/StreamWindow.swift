// SPDX-License-Identifier: MIT

/// Decides the size of a stream's receive window (RFC 9113 §5.2).
///
/// A peer may send one window per round trip, whatever the link's bandwidth. If the round trip is long, a small window limits the
/// transfer. The window doubles whenever the consumer has consumed all of it within `period`. So a window that is used up in each
/// round trip doubles each time, until it exceeds the octets in flight. If the consumer or the link needs longer than `period`
/// for a window, the window keeps its size, and other streams can use the growth, which has a limit for all streams together.
struct StreamWindow: Hashable {
    /// The time within which a window must be consumed to grow: longer than the round trip of any path in common use, satellites
    /// included.
    static let period = Interval.seconds(1)

    /// The size of the window when no received octets wait for the consumer.
    private(set) var size: Int
    /// The octets of the current window that the consumer has consumed.
    private var consumed = 0
    /// When the consumer first consumed octets of the current window; nil before that.
    private var start: Instant?

    init(_ size: Int) { self.size = size }

    /// Records that the consumer has consumed `count` octets; `hasConsumedAll` says that no received octets are left. Returns by
    /// how much the window grows, at most `growthLimit`; 0 if it keeps its size.
    mutating func recordConsumed(
        _ count: Int, at now: Instant, hasConsumedAll: Bool, growthLimit: Int
    ) -> Int {
        let windowStart = start ?? now
        start = windowStart
        consumed += count
        guard consumed >= size, hasConsumedAll else { return 0 }
        consumed = 0
        start = nil
        guard now - windowStart <= Self.period else { return 0 }
        let growth = max(min(size, growthLimit), 0)
        size += growth
        return growth
    }
}
