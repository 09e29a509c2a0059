// SPDX-License-Identifier: MIT

/// Counts what a peer does that costs work and carries nothing, against its allowances.
///
/// Each kind has a level: a frame raises it, time lowers it, and so do frames that carry something, since a peer that
/// moves messages may also ask how long the way is. No level falls below zero, so nothing can be saved up. The time is
/// an argument: the time since any moment that the owner has chosen.
struct FloodGuard: Sendable {
    /// DATA of fewer octets carries nothing worth the name: it pays for no other frame.
    static let leastContent = 64

    /// What is counted.
    enum Kind: Int, CaseIterable {
        case pings, settings, emptyData, paddingOctets, resets, provokedResets, priorities, windowUpdates
        case ignoredFrames, lateFrames
    }

    /// Frames and messages that carry something.
    enum Progress {
        /// A part of a message came, or DATA with content.
        case received
        /// A head was sent, or DATA as the owner wanted it.
        case sent
        /// A stream ended as both ends meant it.
        case streamEnded
    }

    /// Thousandths of a frame, and the millisecond up to which time has been counted.
    private struct Level {
        var thousandths = 0
        var counted: Int64 = 0
    }

    private static let longestPause: Int64 = 3_600_000

    private let limits: HTTP2Limits
    private var levels = InlineArray<10, Level>(repeating: Level())

    init(limits: HTTP2Limits) { self.limits = limits }

    /// Counts frames or octets of a kind. Throws when they are more than the peer is allowed.
    mutating func spend(_ kind: Kind, _ count: Int = 1, at now: Duration) throws(HTTP2ConnectionError) {
        let (allowance, limit) = allowance(for: kind)
        guard allowance.atOnce < Allowance.most else { return }
        let time = Self.milliseconds(now)
        var level = levels[kind.rawValue]
        let elapsed = min(max(time &- level.counted, 0), Self.longestPause)
        level.thousandths = max(level.thousandths &- Int(elapsed) &* allowance.perSecond, 0)
        level.counted = max(time, level.counted)
        // No frame has more than 2^24 octets, and no level is above 2^31 thousands: far from overflowing.
        level.thousandths &+= count &* 1_000
        levels[kind.rawValue] = level
        guard level.thousandths <= allowance.atOnce &* 1_000 else {
            throw .limitExceeded(limit, allowed: allowance.atOnce)
        }
    }

    /// Lowers the levels that something of worth pays for.
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

    /// Content pays for padding.
    mutating func earnPadding(_ octets: Int) { earn(.paddingOctets, octets) }

    private mutating func earn(_ kind: Kind, _ count: Int) {
        levels[kind.rawValue].thousandths = max(levels[kind.rawValue].thousandths &- count &* 1_000, 0)
    }

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
        // A time beyond that is no time of a running program.
        let whole = min(max(seconds, 0), Int64.max / 2_000)
        return whole &* 1_000 &+ max(attoseconds, 0) / 1_000_000_000_000_000
    }
}
