// SPDX-License-Identifier: MIT

/// The checks that need only a frame's header: RFC 9113 §4.2 and §6.
enum FrameRule {
    /// Where a type of frame may be sent: on a stream, on the connection (stream 0), or on either.
    private enum Scope {
        case stream, connection, either
    }

    /// Throws if the frame's type does not allow its length or its stream. The length of PRIORITY is not checked here: a wrong
    /// one is only a stream error, which `FrameReader` reports.
    static func validate(_ header: FrameHeader) throws(HTTP2Error) {
        switch scope(of: header.type) {
        case .stream: if header.stream.isConnection { throw .streamNeeded(header.type) }
        case .connection:
            if !header.stream.isConnection { throw .connectionNeeded(header.type, header.stream) }
        case .either: break
        }
        guard hasRightLength(header) else { throw .wrongLength(header.type, length: header.length) }
    }

    /// Returns where a type of frame may be sent: WINDOW_UPDATE and unknown types may be sent on a stream or on the connection.
    private static func scope(of type: FrameType) -> Scope {
        switch type {
        case .data, .headers, .priority, .rstStream, .pushPromise, .continuation: .stream
        case .settings, .ping, .goAway, .priorityUpdate: .connection
        default: .either
        }
    }

    /// Returns whether the payload has the length in octets that the frame's type prescribes. If the type allows different
    /// lengths, the payload must be at least as long as its fixed part.
    private static func hasRightLength(_ header: FrameHeader) -> Bool {
        switch header.type {
        case .data, .headers, .pushPromise: header.length >= header.prefixLength
        // An error code, or an increment.
        case .rstStream, .windowUpdate: header.length == 4
        case .settings:
            header.flags.contains(.ack) ? header.length == 0 : header.length % Setting.octetCount == 0
        // The opaque data.
        case .ping: header.length == 8
        // The last stream and the error code.
        case .goAway: header.length >= 8
        // The prioritized stream.
        case .priorityUpdate: header.length >= 4
        default: true
        }
    }
}
