// SPDX-License-Identifier: MIT

/// Counts the frames of a peer that cause work without progress, and enforces their rate limits.
///
/// Each kind of frame has a level, as in a leaky bucket. A frame raises the level of its kind. Time lowers it, and so does
/// progress, since a peer that transfers messages may also send, for example, PING to measure the round-trip time. No level falls
/// below zero, so that a peer cannot save up credit. All times are relative to one moment, which the owner chooses.
struct FloodGuard: Sendable {
    /// DATA with fewer octets of content does not count as `Progress`.
    static let minimumContent = 64

    /// The kinds of frames and octets that are counted. `HTTP2Limits` describes each of them in the property of the same name.
    enum Kind: Int, CaseIterable {
        case pings, settings, emptyData, paddingOctets, resets, provokedResets, priorities, windowUpdates
        case ignoredFrames, lateFrames
    }

    /// Useful work, which lowers levels.
    enum Progress {
        /// A header list was received, or DATA with at least `minimumContent` octets of content.
        case received
        /// A header list was sent, or DATA with at least `minimumContent` octets of content, or with all content that was to be
        /// sent.
        case sent
        /// A stream ended with END_STREAM from both endpoints.
        case streamEnded
    }

    /// The level in thousandths of a frame or octet, and the millisecond at which time last lowered it.
    private struct Level {
        var thousandths = 0
        var loweredAt: Int64 = 0
    }

    /// The longest time, in milliseconds, that lowers a level at once: one hour. It keeps the product with the rate from
    /// overflowing.
    private static let maximumElapsed: Int64 = 3_600_000

    private let limits: HTTP2Limits
    /// The levels of the ten kinds; that of a kind is at the position of its raw value.
    private var levels = InlineArray<10, Level>(repeating: Level())

    init(limits: HTTP2Limits) { self.limits = limits }

    /// Counts frames or octets of a kind, which raise its level. Throws if the peer exceeds its allowance.
    mutating func record(_ kind: Kind, _ count: Int = 1, at now: Duration) throws(HTTP2ConnectionError) {
        let (allowance, limit) = allowance(for: kind)
        // An allowance of `maximum` means that there is no limit.
        guard allowance.atOnce < Allowance.maximum else { return }
        let time = Self.milliseconds(now)
        var level = levels[kind.rawValue]
        let elapsed = min(max(time &- level.loweredAt, 0), Self.maximumElapsed)
        // Milliseconds times a rate per second are thousandths.
        level.thousandths = max(level.thousandths &- Int(elapsed) &* allowance.perSecond, 0)
        level.loweredAt = max(time, level.loweredAt)
        // A frame has at most 2^24 octets, and a level is at most 2^31 times 1,000 thousandths, so this cannot overflow.
        level.thousandths &+= count &* 1_000
        levels[kind.rawValue] = level
        guard level.thousandths <= allowance.atOnce &* 1_000 else {
            throw .limitExceeded(limit, allowed: allowance.atOnce)
        }
    }

    /// Lowers the levels of the kinds that progress offsets.
    mutating func recordProgress(_ progress: Progress) {
        switch progress {
        case .received:
            lower(.pings, by: 1)
            lower(.emptyData, by: 1)
            lower(.ignoredFrames, by: 1)
            lower(.priorities, by: 1)
            lower(.windowUpdates, by: 2)
        case .sent:
            lower(.pings, by: 1)
            // The peer answers DATA with one WINDOW_UPDATE for the stream, and one for the connection.
            lower(.windowUpdates, by: 2)
        case .streamEnded:
            lower(.resets, by: 1)
            lower(.provokedResets, by: 1)
            lower(.lateFrames, by: 1)
        }
    }

    /// Lowers the level of padding by the number of octets of received content.
    mutating func recordContent(_ octets: Int) { lower(.paddingOctets, by: octets) }

    /// Lowers a level by a number of frames or octets.
    private mutating func lower(_ kind: Kind, by count: Int) {
        levels[kind.rawValue].thousandths = max(levels[kind.rawValue].thousandths &- count &* 1_000, 0)
    }

    /// Returns the allowance for a kind, and the limit that an error names.
    private func allowance(for kind: Kind) -> (allowance: Allowance, limit: HTTP2Limits.Limit) {
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

    /// Returns a time in whole milliseconds; 0 if it is negative.
    private static func milliseconds(_ time: Duration) -> Int64 {
        let (seconds, attoseconds) = time.components
        // No program runs for so many seconds; the limit keeps the product from overflowing.
        let limitedSeconds = min(max(seconds, 0), Int64.max / 2_000)
        // A millisecond has 10^15 attoseconds.
        return limitedSeconds &* 1_000 &+ max(attoseconds, 0) / 1_000_000_000_000_000
    }
}
