// SPDX-License-Identifier: MIT

/// A type of frames (RFC 9113 §6, RFC 9218 §7.1). Any octet is one; those that have no name here are ignored.
package struct FrameType: Hashable, Sendable, CustomStringConvertible {
    /// The octet in the frame's header.
    package let rawValue: UInt8

    /// What an octet stands for.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// §6.1.
    package static let data = FrameType(rawValue: 0x00)
    /// §6.2.
    package static let headers = FrameType(rawValue: 0x01)
    /// §6.3.
    package static let priority = FrameType(rawValue: 0x02)
    /// §6.4.
    package static let rstStream = FrameType(rawValue: 0x03)
    /// §6.5.
    package static let settings = FrameType(rawValue: 0x04)
    /// §6.6.
    package static let pushPromise = FrameType(rawValue: 0x05)
    /// §6.7.
    package static let ping = FrameType(rawValue: 0x06)
    /// §6.8.
    package static let goAway = FrameType(rawValue: 0x07)
    /// §6.9.
    package static let windowUpdate = FrameType(rawValue: 0x08)
    /// §6.10.
    package static let continuation = FrameType(rawValue: 0x09)
    /// RFC 9218 §7.1.
    package static let priorityUpdate = FrameType(rawValue: 0x10)

    package var description: String {
        switch self {
        case .data: "DATA"
        case .headers: "HEADERS"
        case .priority: "PRIORITY"
        case .rstStream: "RST_STREAM"
        case .settings: "SETTINGS"
        case .pushPromise: "PUSH_PROMISE"
        case .ping: "PING"
        case .goAway: "GOAWAY"
        case .windowUpdate: "WINDOW_UPDATE"
        case .continuation: "CONTINUATION"
        case .priorityUpdate: "PRIORITY_UPDATE"
        default: "a frame of type \(rawValue)"
        }
    }
}

/// What a frame's flags say; each type of frames has its own, and ignores the others.
package struct FrameFlags: OptionSet, Hashable, Sendable {
    /// The octet in the frame's header.
    package let rawValue: UInt8

    /// What an octet stands for.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Of DATA and HEADERS: the sender's side of the stream ends.
    package static let endStream = FrameFlags(rawValue: 0x01)
    /// Of SETTINGS and PING: an acknowledgement.
    package static let ack = FrameFlags(rawValue: 0x01)
    /// Of HEADERS, PUSH_PROMISE and CONTINUATION: the header block ends.
    package static let endHeaders = FrameFlags(rawValue: 0x04)
    /// Of DATA, HEADERS and PUSH_PROMISE: a length of padding stands in front, and padding behind.
    package static let padded = FrameFlags(rawValue: 0x08)
    /// Of HEADERS: five octets of priority stand in front.
    package static let priority = FrameFlags(rawValue: 0x20)
}

/// The nine octets in front of each frame's payload: RFC 9113 §4.1.
package struct FrameHeader: Hashable, Sendable {
    /// Octets of a header.
    package static let count = 9

    /// Octets of the payload.
    package var length: Int
    /// What the payload is.
    package var type: FrameType
    /// What the flags say.
    package var flags: FrameFlags
    /// The stream that the frame is sent on.
    package var stream: StreamID

    /// A header in its parts.
    package init(length: Int, type: FrameType, flags: FrameFlags = [], stream: StreamID) {
        self.length = length
        self.type = type
        self.flags = flags
        self.stream = stream
    }

    /// The header that stands at `index` of the input; nil where it is not there as a whole.
    @inline(__always)
    init?(_ input: Span<UInt8>, at index: Int) {
        let octets = input.extracting(droppingFirst: index)
        guard octets.count >= Self.count else { return nil }
        self.init(
            length: Int(octets[0]) << 16 | Int(octets[1]) << 8 | Int(octets[2]),
            type: FrameType(rawValue: octets[3]), flags: FrameFlags(rawValue: octets[4]),
            stream: StreamID(
                UInt32(octets[5]) << 24 | UInt32(octets[6]) << 16 | UInt32(octets[7]) << 8
                    | UInt32(octets[8])))
    }

    /// How many octets must stand in front of the frame's content; 0 where the payload has no parts.
    var prefixLength: Int {
        switch type {
        case .data: padLengthCount
        case .headers: padLengthCount &+ (flags.contains(.priority) ? 5 : 0)
        case .pushPromise: padLengthCount &+ 4
        default: 0
        }
    }

    /// How many octets the length of the padding has.
    var padLengthCount: Int { flags.contains(.padded) ? 1 : 0 }
}

/// Puts frame headers together, octet by octet, where the input is cut inside of one.
struct FrameHeaderParser: Sendable {
    private var taken = 0
    /// Length, type and flags: the first five octets.
    private var front: UInt64 = 0
    /// The stream identifier: the last four.
    private var back: UInt32 = 0

    /// Whether no octet of a header has been taken.
    var isAtStart: Bool { taken == 0 }

    /// Takes one octet. The header, when it was the last; the parser is then ready for the next one.
    mutating func take(_ octet: UInt8) -> FrameHeader? {
        if taken < 5 {
            front = front << 8 | UInt64(octet)
        } else {
            back = back << 8 | UInt32(octet)
        }
        taken &+= 1
        guard taken == FrameHeader.count else { return nil }
        let header = FrameHeader(
            length: Int(front >> 16 & 0xFF_FFFF),
            type: FrameType(rawValue: UInt8(truncatingIfNeeded: front >> 8)),
            flags: FrameFlags(rawValue: UInt8(truncatingIfNeeded: front)), stream: StreamID(back))
        self = FrameHeaderParser()
        return header
    }
}
