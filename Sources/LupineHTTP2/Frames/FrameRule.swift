// SPDX-License-Identifier: MIT

/// What a frame's header alone shows to be wrong: RFC 9113 §4.2 and §6.
enum FrameRule {
    /// Where a frame of some type may come.
    private enum Place {
        case stream, connection, either
    }

    /// Throws when no frame of its type has such a length or comes on such a stream. A wrong length of PRIORITY is
    /// left to the reader, as it concerns one stream only.
    static func validate(_ header: FrameHeader) throws(HTTP2Error) {
        switch place(of: header.type) {
        case .stream: if header.stream.isConnection { throw .streamNeeded(header.type) }
        case .connection:
            if !header.stream.isConnection { throw .connectionNeeded(header.type, header.stream) }
        case .either: break
        }
        guard hasRightLength(header) else { throw .wrongLength(header.type, length: header.length) }
    }

    private static func place(of type: FrameType) -> Place {
        switch type {
        case .data, .headers, .priority, .rstStream, .pushPromise, .continuation: .stream
        case .settings, .ping, .goAway, .priorityUpdate: .connection
        default: .either
        }
    }

    private static func hasRightLength(_ header: FrameHeader) -> Bool {
        switch header.type {
        case .data, .headers, .pushPromise: header.length >= header.prefixLength
        case .rstStream, .windowUpdate: header.length == 4
        case .settings: header.flags.contains(.ack) ? header.length == 0 : header.length % 6 == 0
        case .ping: header.length == 8
        case .goAway: header.length >= 8
        case .priorityUpdate: header.length >= 4
        default: true
        }
    }
}
