// SPDX-License-Identifier: MIT

/// Limits on the memory that a peer can make the frame reader use, and on the work that a peer can cause without progress.
///
/// Each property is the largest allowed number of what its comment names.
package struct FrameLimits: Hashable, Sendable {
    /// Octets of a header block, in all its frames together.
    package var headerBlockOctets = 256 * 1024
    /// CONTINUATION frames of one header block.
    package var continuationFrames = 64
    /// Empty CONTINUATION frames of one header block.
    package var emptyContinuationFrames = 4
    /// Settings in one SETTINGS frame.
    package var settingsCount = 128
    /// Octets of GOAWAY's debug data that the event contains; further ones are dropped.
    package var debugOctets = 1_024
    /// Octets of a priority field value; a PRIORITY_UPDATE with a longer one is ignored.
    package var priorityOctets = 256

    /// Creates the default limits.
    package init() {}

    /// Identifies, in an error, a limit whose excess ends the connection.
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
