// SPDX-License-Identifier: MIT

/// Counts the frames of a peer that cause work without progress, and enforces their rate limits.
///
/// Each kind has a level, as in a leaky bucket. A frame raises it; time lowers it, and so do useful frames, since a peer that
/// transfers messages may also send, for example, PING to measure the round-trip time. No level falls below zero, so that a peer
/// cannot save up credit. The time is an argument, relative to any moment that the owner has chosen.
struct FloodGuard: Sendable {
    /// Received DATA of fewer octets does not count as `Progress`.
    static let leastContent = 64

    /// The kinds of frames and octets that are counted.
    enum Kind: Int, CaseIterable {
        case pings, settings, emptyData, paddingOctets, resets, provokedResets, priorities, windowUpdates
        case ignoredFrames, lateFrames
    }

    /// Useful work, which lowers levels.
    enum Progress {
        /// Part of a message was received: a header list, or DATA of at least `leastContent` octets.
        case received
        /// A header list was sent, or DATA that is as long as the owner wanted or has at least `leastContent` octets.
        case sent
        /// A stream ended with END_STREAM from both endpoints.
        case streamEnded
    }

    /// The level in thousandths of a frame, and the millisecond at which time last lowered it.
    private struct Level {
        var thousandths = 0
        var loweredAt: Int64 = 0
    }

    /// The longest time, in milliseconds, that lowers a level at once; it keeps the product with the rate from overflowing.
    private static let longestPause: Int64 = 3_600_000

    private let limits: HTTP2Limits
    private var levels = InlineArray<10, Level>(repeating: Level())

    init(limits: HTTP2Limits) { self.limits = limits }

    /// Counts frames or octets of a kind. Throws if the peer exceeds its allowance.
    mutating func spend(_ kind: Kind, _ count: Int = 1, at now: Duration) throws(HTTP2ConnectionError) {
        let (allowance, limit) = allowance(for: kind)
        guard allowance.atOnce < Allowance.maximum else { return }
        let time = Self.milliseconds(now)
        var level = levels[kind.rawValue]
        let elapsed = min(max(time &- level.loweredAt, 0), Self.longestPause)
        level.thousandths = max(level.thousandths &- Int(elapsed) &* allowance.perSecond, 0)
        level.loweredAt = max(time, level.loweredAt)
        // A frame has at most 2^24 octets, and a level is at most 2^31 times 1,000 thousandths, so this cannot overflow.
        level.thousandths &+= count &* 1_000
        levels[kind.rawValue] = level
        guard level.thousandths <= allowance.atOnce &* 1_000 else {
            throw .limitExceeded(limit, allowed: allowance.atOnce)
        }
    }

    /// Lowers the levels that useful work offsets.
    mutating func earn(_ progress: Progress) {
        switch progress {
        case .received:
            earn(.pings, 1)
            earn(.emptyData, 1)
            earn(.ignoredFrames, 1)
            earn(.priorities, 1)
            earn(.windowUpdates, 2)
        case .sent:
            earn(.pings, 1)
            earn(.windowUpdates, 2)
        case .streamEnded:
            earn(.resets, 1)
            earn(.provokedResets, 1)
            earn(.lateFrames, 1)
        }
    }

    /// Lowers the level of padding, because as many octets of content were received.
    mutating func earnPadding(_ octets: Int) { earn(.paddingOctets, octets) }

    /// Lowers a level by a number of frames or octets.
    private mutating func earn(_ kind: Kind, _ count: Int) {
        levels[kind.rawValue].thousandths = max(levels[kind.rawValue].thousandths &- count &* 1_000, 0)
    }

    /// Returns the allowance for a kind, and the limit that an error names.
    private func allowance(for kind: Kind) -> (Allowance, HTTP2Limits.Limit) {
        switch kind {
        case .pings: (limits.pings, .pings)
        case .settings: (limits.settings, .settings)
        case .emptyData: (limits.emptyData, .emptyData)
        case .paddingOctets: (limits.paddingOctets, .paddingOctets)
        case .resets: (limits.resets, .resets)
        case .provokedResets: (limits.provokedResets, .provokedResets)
        case .priorities: (limits.priorities, .priorities)
        case .windowUpdates: (limits.windowUpdates, .windowUpdates)
        case .ignoredFrames: (limits.ignoredFrames, .ignoredFrames)
        case .lateFrames: (limits.lateFrames, .lateFrames)
        }
    }

    private static func milliseconds(_ time: Duration) -> Int64 {
        let (seconds, attoseconds) = time.components
        // No program runs that long; the limit keeps the product from overflowing.
        let whole = min(max(seconds, 0), Int64.max / 2_000)
        return whole &* 1_000 &+ max(attoseconds, 0) / 1_000_000_000_000_000
    }
}
