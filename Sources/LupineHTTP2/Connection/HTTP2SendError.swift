// SPDX-License-Identifier: MIT

/// Why something cannot be sent. Nothing of it was written.
package enum HTTP2SendError: Error, Hashable, Sendable {
    /// The connection has failed.
    case connectionOver
    /// No stream can be opened any more: one of the two ends has sent GOAWAY, or there are no identifiers left.
    case connectionLeaving
    /// As many streams are open as the peer, or the limit of this end, allows.
    case tooManyStreams(allowed: Int)
    /// The stream is not open, or this end has ended its side of it.
    case streamOver(StreamID)
    /// The header list is larger than the peer takes (SETTINGS_MAX_HEADER_LIST_SIZE).
    case headerListTooLarge(Int, allowed: Int)
}

/// A sentence for each.
extension HTTP2SendError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .connectionOver: "the connection has failed"
        case .connectionLeaving: "the connection takes no further streams"
        case .tooManyStreams(let allowed): "\(allowed) streams are open, and no more are allowed"
        case .streamOver(let stream): "nothing can be sent on stream \(stream) any more"
        case .headerListTooLarge(let size, let allowed):
            "the header list counts for \(size) octets, the peer takes \(allowed)"
        }
    }
}
