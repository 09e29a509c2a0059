// SPDX-License-Identifier: MIT

/// The size of a stream's receive window, and when it grows.
///
/// A peer may send one window per round trip, whatever the link's bandwidth: with a long round trip, a small window limits the
/// transfer. The window doubles whenever its consumer has taken all of it within `period`. So a window that is used up in each
/// round trip doubles each time, as long as a round trip is shorter than the period, until the window exceeds the octets in
/// flight. If the consumer or the link needs longer than a period for a window, the window keeps its size and leaves the
/// growth that all streams share to others.
struct StreamWindow: Hashable {
    /// Longer than the round trip of any path in common use, satellites included.
    static let period = Interval.seconds(1)

    /// The size of the window when everything has been taken.
    private(set) var size: Int
    private var taken = 0
    private var since: Instant?

    init(_ size: Int) { self.size = size }

    /// Records that the consumer has taken octets; `isCaughtUp` says that none are left. Returns the growth of the window, at
    /// most `most`.
    mutating func recordTaken(_ count: Int, at now: Instant, isCaughtUp: Bool, growthLimit: Int) -> Int {
        let began = since ?? now
        since = began
        taken += count
        guard taken >= size, isCaughtUp else { return 0 }
        taken = 0
        since = nil
        guard now - began <= Self.period else { return 0 }
        let growth = max(min(size, growthLimit), 0)
        size += growth
        return growth
    }
}
