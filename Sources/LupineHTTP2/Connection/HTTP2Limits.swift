// SPDX-License-Identifier: MIT

import LupineHTTP

/// How many of something a peer may do at once, and how many more it may do each second.
package struct Allowance: Hashable, Sendable {
    /// The largest number of either that is told apart: more means that there is no limit.
    static let most = 1 << 31

    /// How many at once.
    package let atOnce: Int
    /// How many more each second.
    package let perSecond: Int

    /// An allowance; numbers below zero count as zero.
    package init(atOnce: Int, perSecond: Int) {
        self.atOnce = min(max(atOnce, 0), Self.most)
        self.perSecond = min(max(perSecond, 0), Self.most)
    }
}

/// How much a peer may have one HTTP/2 connection keep, and how much work without progress it may cause.
///
/// Each limit holds by default, and exceeding one ends the connection with an error that names it, unless it concerns
/// one stream only. What a connection keeps is bounded by these numbers and by the settings that this end announces,
/// whatever the peer does.
package struct HTTP2Limits: Hashable, Sendable {
    /// Of single frames and header blocks.
    package var frames = FrameLimits()
    /// Of header lists, decoded. A list over them costs its message, not the connection.
    package var lists = HPACKLimits()
    /// Interim responses to one request.
    package var interimHeads = ParserLimits().interimHeads
    /// Streams that this end opens at once, where the peer allows more or says nothing.
    package var openStreams = 256
    /// Streams that this end opens at once before it knows what the peer allows: the least that RFC 9113 §6.5.2 recommends.
    package var openStreamsAtFirst = 100
    /// Octets of the table that this end's encoder keeps, where the peer allows more.
    package var encoderTableOctets = 4_096
    /// Octets that the peer has caused and does not take: acknowledgements, resets, window updates
    /// (CVE-2019-9512, -9514, -9515, -9517).
    package var waitingOctets = 64 * 1024
    /// Streams that have been reset and are remembered, so that late frames on them can be judged.
    package var rememberedStreams = 256

    /// PING frames (CVE-2019-9512). A ping a second measures and keeps alive; some peers send one with each burst of DATA.
    package var pings = Allowance(atOnce: 200, perSecond: 20)
    /// SETTINGS frames, acknowledgements not counted (CVE-2019-9515).
    package var settings = Allowance(atOnce: 100, perSecond: 5)
    /// DATA frames without content that do not end their stream (CVE-2019-9518).
    package var emptyData = Allowance(atOnce: 100, perSecond: 20)
    /// Octets of padding in DATA frames. Content pays for as much padding again.
    package var paddingOctets = Allowance(atOnce: 256 * 1024, perSecond: 64 * 1024)
    /// RST_STREAM frames (CVE-2023-44487, rapid reset); nghttp2 allows as many.
    package var resets = Allowance(atOnce: 1_000, perSecond: 33)
    /// Streams that this end resets because of what the peer sent (CVE-2019-9514, CVE-2025-8671).
    package var provokedResets = Allowance(atOnce: 1_000, perSecond: 33)
    /// PRIORITY and PRIORITY_UPDATE frames (CVE-2019-9513).
    package var priorities = Allowance(atOnce: 1_000, perSecond: 50)
    /// WINDOW_UPDATE frames (CVE-2019-9511). A peer may send two for each DATA frame that it gets; a slow one with a tiny
    /// window sends many.
    package var windowUpdates = Allowance(atOnce: 10_000, perSecond: 1_000)
    /// Frames of unknown types, GOAWAY frames, and answers to no PING.
    package var ignoredFrames = Allowance(atOnce: 1_000, perSecond: 50)
    /// HEADERS, and DATA of few octets, on streams that have been reset or refused: those that are more than was to be expected.
    package var lateFrames = Allowance(atOnce: 1_000, perSecond: 100)

    /// The defaults; each is a property to change.
    package init() {}

    /// The limits of a connection as a whole, by name.
    package enum Limit: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        case pings, settings, emptyData, paddingOctets, resets, provokedResets, priorities, windowUpdates
        case ignoredFrames, lateFrames, waitingOctets

        package var description: String {
            switch self {
            case .pings: "PING frames (pings)"
            case .settings: "SETTINGS frames (settings)"
            case .emptyData: "DATA frames without content (emptyData)"
            case .paddingOctets: "octets of padding (paddingOctets)"
            case .resets: "streams reset by the peer (resets)"
            case .provokedResets: "streams that the peer made this end reset (provokedResets)"
            case .priorities: "PRIORITY and PRIORITY_UPDATE frames (priorities)"
            case .windowUpdates: "WINDOW_UPDATE frames (windowUpdates)"
            case .ignoredFrames: "frames that mean nothing (ignoredFrames)"
            case .lateFrames: "frames on streams that are over (lateFrames)"
            case .waitingOctets: "octets that the peer has caused and does not take (waitingOctets)"
            }
        }
    }
}
