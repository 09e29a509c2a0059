// SPDX-License-Identifier: MIT

import LupineHTTP

/// A rate limit: the number of frames or octets that a peer may send at once, and the number per second thereafter.
package struct Allowance: Hashable, Sendable {
    /// The largest value of `atOnce` and of `perSecond`. As `atOnce`, it means that there is no limit.
    static let maximum = 1 << 31

    /// The number that the peer may send at once.
    package let atOnce: Int
    /// The number per second that the peer may send in the long run.
    package let perSecond: Int

    /// Creates an allowance; numbers below zero count as zero.
    package init(atOnce: Int, perSecond: Int) {
        self.atOnce = min(max(atOnce, 0), Self.maximum)
        self.perSecond = min(max(perSecond, 0), Self.maximum)
    }
}

/// Limits on the memory that a peer can make one HTTP/2 connection use, and on the work that it can cause without progress.
///
/// Each property is the largest allowed number of what its comment names. All limits are on by default. If a peer exceeds one,
/// the connection ends with an error that names the limit. If the limit concerns one stream, only the stream ends. The limits and
/// the settings of this endpoint bound the memory of a connection, whatever the peer does.
package struct HTTP2Limits: Hashable, Sendable {
    /// The limits of single frames and header blocks.
    package var frames = FrameLimits()
    /// The limits of decoded header lists. A list that exceeds one fails its stream, not the connection.
    package var lists = HPACKLimits()
    /// Interim responses to one request.
    package var interimHeads = ParserLimits().interimHeads
    /// Concurrent streams that this endpoint opens, even if the peer allows more or sets no limit.
    package var openStreams = 256
    /// Concurrent streams that this endpoint opens before it has received the peer's SETTINGS: the minimum that RFC 9113 §6.5.2
    /// recommends.
    package var openStreamsAtFirst = 100
    /// Octets of the dynamic table of this endpoint's encoder, even if the peer allows more.
    package var encoderTableOctets = 4_096
    /// Octets of output that the peer has caused and does not read: acknowledgements, RST_STREAM, WINDOW_UPDATE
    /// (CVE-2019-9512, -9514, -9515, -9517).
    package var waitingOctets = 64 * 1024
    /// Reset streams that the connection remembers, to distinguish late frames on them from violations.
    package var rememberedStreams = 256

    /// PING frames (CVE-2019-9512). One per second is enough for keep-alive and to measure the round trip; some peers send one
    /// with each burst of DATA.
    package var pings = Allowance(atOnce: 200, perSecond: 20)
    /// SETTINGS frames, without acknowledgements (CVE-2019-9515).
    package var settings = Allowance(atOnce: 100, perSecond: 5)
    /// DATA frames without content that do not end their stream (CVE-2019-9518).
    package var emptyData = Allowance(atOnce: 100, perSecond: 20)
    /// Octets of padding in DATA frames. Each octet of content offsets one octet of padding.
    package var paddingOctets = Allowance(atOnce: 256 * 1024, perSecond: 64 * 1024)
    /// RST_STREAM frames (CVE-2023-44487, rapid reset), with the default limits of nghttp2.
    package var resets = Allowance(atOnce: 1_000, perSecond: 33)
    /// Streams that this endpoint resets because of errors of the peer (CVE-2019-9514, CVE-2025-8671).
    package var provokedResets = Allowance(atOnce: 1_000, perSecond: 33)
    /// PRIORITY and PRIORITY_UPDATE frames (CVE-2019-9513).
    package var priorities = Allowance(atOnce: 1_000, perSecond: 50)
    /// WINDOW_UPDATE frames (CVE-2019-9511). A peer may send two for each DATA frame that it receives; a slow peer with a tiny
    /// window sends many.
    package var windowUpdates = Allowance(atOnce: 10_000, perSecond: 1_000)
    /// Frames of unknown types, PRIORITY_UPDATE frames with a value that is too long, GOAWAY frames, and acknowledgements of
    /// PINGs that this endpoint has not sent.
    package var ignoredFrames = Allowance(atOnce: 1_000, perSecond: 50)
    /// Late frames: HEADERS and small DATA frames on reset or refused streams, beyond the number that can be expected to have
    /// been in flight.
    package var lateFrames = Allowance(atOnce: 1_000, perSecond: 100)

    /// Creates the default limits.
    package init() {}

    /// Identifies, in an error, a limit of the connection as a whole.
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
