// SPDX-License-Identifier: MIT

/// The reason for which a frame or message cannot be sent. Nothing was written.
package enum HTTP2SendError: Error, Hashable, Sendable {
    /// The connection has failed.
    case connectionOver
    /// No further stream can be opened: an endpoint has sent GOAWAY, or no identifiers are left.
    case connectionShuttingDown
    /// The number of open streams has reached the limit of the peer or of this endpoint.
    case tooManyStreams(allowed: Int)
    /// The stream is closed, or this endpoint has ended its side of it.
    case streamOver(StreamID)
    /// The header list is larger than the peer accepts (SETTINGS_MAX_HEADER_LIST_SIZE).
    case headerListTooLarge(Int, allowed: Int)
}

extension HTTP2SendError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .connectionOver: "the connection has failed"
        case .connectionShuttingDown: "the connection takes no further streams"
        case .tooManyStreams(let allowed): "\(allowed) streams are open, and no more are allowed"
        case .streamOver(let stream): "nothing can be sent on stream \(stream) any more"
        case .headerListTooLarge(let size, let allowed):
            "the header list counts for \(size) octets, the peer takes \(allowed)"
        }
    }
}
