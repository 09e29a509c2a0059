// SPDX-License-Identifier: MIT

/// A frame type (RFC 9113 §6, RFC 9218 §7.1). Any octet is valid; frames of types without a name here are ignored.
package struct FrameType: Hashable, Sendable, CustomStringConvertible {
    /// The octet in the frame's header.
    package let rawValue: UInt8

    /// Creates a type from its octet.
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

/// The flags of a frame; each frame type defines its own, and unused flags are ignored.
package struct FrameFlags: OptionSet, Hashable, Sendable {
    /// The octet in the frame's header.
    package let rawValue: UInt8

    /// Creates flags from their octet.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// In DATA and HEADERS: END_STREAM, the sender half-closes the stream.
    package static let endStream = FrameFlags(rawValue: 0x01)
    /// In SETTINGS and PING: ACK, the frame is an acknowledgement.
    package static let ack = FrameFlags(rawValue: 0x01)
    /// In HEADERS, PUSH_PROMISE and CONTINUATION: END_HEADERS, the frame ends the header block.
    package static let endHeaders = FrameFlags(rawValue: 0x04)
    /// In DATA, HEADERS and PUSH_PROMISE: PADDED, the payload begins with Pad Length and ends with padding.
    package static let padded = FrameFlags(rawValue: 0x08)
    /// In HEADERS: PRIORITY, five octets of priority precede the field block fragment.
    package static let priority = FrameFlags(rawValue: 0x20)
}

/// The nine octets that precede the payload of each frame: RFC 9113 §4.1.
package struct FrameHeader: Hashable, Sendable {
    /// The number of octets of a frame header.
    package static let count = 9

    /// The length of the payload in octets.
    package var length: Int
    /// The frame type.
    package var type: FrameType
    /// The flags.
    package var flags: FrameFlags
    /// The stream that the frame is sent on.
    package var stream: StreamID

    /// Creates a header from its fields.
    package init(length: Int, type: FrameType, flags: FrameFlags = [], stream: StreamID) {
        self.length = length
        self.type = type
        self.flags = flags
        self.stream = stream
    }

    /// Parses the header at `index` of the input; nil if the input does not contain all of it.
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

    /// The number of octets that precede the content or field block fragment in the payload; 0 for the other frame types.
    var prefixLength: Int {
        switch type {
        case .data: padLengthCount
        // The five octets of priority, and the four of the promised stream identifier.
        case .headers: padLengthCount &+ (flags.contains(.priority) ? 5 : 0)
        case .pushPromise: padLengthCount &+ 4
        default: 0
        }
    }

    /// The number of octets of the Pad Length field.
    var padLengthCount: Int { flags.contains(.padded) ? 1 : 0 }
}

/// Assembles a frame header octet by octet, if the header is split between two pieces of input.
struct FrameHeaderParser: Sendable {
    /// The number of octets of the header so far.
    private var count = 0
    /// The first five octets, in network byte order: 24 bits of length, 8 of type and 8 of flags.
    private var lengthTypeFlags: UInt64 = 0
    /// The last four octets, in network byte order: the stream identifier.
    private var stream: UInt32 = 0

    /// Whether the parser has consumed no octet of a header.
    var isAtStart: Bool { count == 0 }

    /// Consumes one octet. Returns the header if the octet was its last; the parser is then ready for the next header.
    mutating func consume(_ octet: UInt8) -> FrameHeader? {
        if count < 5 {
            lengthTypeFlags = lengthTypeFlags << 8 | UInt64(octet)
        } else {
            stream = stream << 8 | UInt32(octet)
        }
        count &+= 1
        guard count == FrameHeader.count else { return nil }
        let header = FrameHeader(
            length: Int(lengthTypeFlags >> 16 & 0xFF_FFFF),
            type: FrameType(rawValue: UInt8(truncatingIfNeeded: lengthTypeFlags >> 8)),
            flags: FrameFlags(rawValue: UInt8(truncatingIfNeeded: lengthTypeFlags)), stream: StreamID(stream))
        self = FrameHeaderParser()
        return header
    }
}
