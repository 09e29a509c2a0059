// SPDX-License-Identifier: MIT

/// How large the receive window of a stream is, and when it grows.
///
/// A peer may send a window's worth in each round trip, whatever the link could carry: on a long way a small window is what
/// slows the peer down. The window doubles whenever its consumer has taken all of it within `period`. A window that a round
/// trip uses up grows so with each round trip, as long as those are shorter than the period, until it is larger than
/// what is on its way. A consumer, or a link, that is slower than a window in a period keeps the window that it has, and
/// leaves what all streams may grow by to others.
struct StreamWindow: Hashable {
    /// Longer than the round trip of any way that is used for much, satellites included.
    static let period = Interval.seconds(1)

    /// How large it is when everything has been taken.
    private(set) var size: Int
    private var taken = 0
    private var since: Instant?

    init(_ size: Int) { self.size = size }

    /// The consumer has taken octets, and left none if `isCaughtUp`. By how much the window grows, `most` at most.
    mutating func took(_ count: Int, at now: Instant, isCaughtUp: Bool, most: Int) -> Int {
        let began = since ?? now
        since = began
        taken += count
        guard taken >= size, isCaughtUp else { return 0 }
        taken = 0
        since = nil
        guard now - began <= Self.period else { return 0 }
        let growth = max(min(size, most), 0)
        size += growth
        return growth
    }
}
