// SPDX-License-Identifier: MIT

/// How much a peer may have the frame reader keep, and how much work without progress it may cause.
package struct FrameLimits: Hashable, Sendable {
    /// Octets of a header block, all its frames together.
    package var headerBlockOctets = 256 * 1024
    /// CONTINUATION frames of one header block.
    package var continuationFrames = 64
    /// CONTINUATION frames of one header block that bring nothing.
    package var emptyContinuationFrames = 4
    /// Settings in one SETTINGS frame.
    package var settingsCount = 128
    /// Octets of GOAWAY's debug data that are kept; the rest is dropped.
    package var debugOctets = 1_024
    /// Octets of a priority field value; a PRIORITY_UPDATE with a longer one is ignored.
    package var priorityOctets = 256

    /// The defaults; each is a property to change.
    package init() {}

    /// The limits that end the connection, by name.
    package enum Limit: Hashable, Sendable, CustomStringConvertible {
        case headerBlockOctets, continuationFrames, emptyContinuationFrames, settingsCount

        package var description: String {
            switch self {
            case .headerBlockOctets: "octets of a header block (headerBlockOctets)"
            case .continuationFrames: "CONTINUATION frames of a header block (continuationFrames)"
            case .emptyContinuationFrames:
                "empty CONTINUATION frames of a header block (emptyContinuationFrames)"
            case .settingsCount: "settings in a frame (settingsCount)"
            }
        }
    }
}
