// SPDX-License-Identifier: MIT

import LupineHTTP2

/// A frame of a peer, legal or not.
struct WireFrame: CustomStringConvertible {
    var type: FrameType
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []
    /// The length that the header states, if it differs from that of the payload.
    var length: Int?

    var octets: [UInt8] {
        let length = length ?? payload.count
        let front = [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
        return front + [type.rawValue, flags] + Self.number(stream) + payload
    }

    var description: String {
        let shown = payload.prefix(40).map { String($0, radix: 16) }.joined(separator: " ")
        return "\(type) flags \(flags) on \(stream), \(length ?? payload.count) octets: \(shown)"
    }

    static func number(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// Returns a header block of never-indexed literals, which may come at any point.
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        var block: [UInt8] = []
        for (name, value) in fields {
            block += [0x10, UInt8(name.utf8.count)]
            block += name.utf8
            block.append(UInt8(value.utf8.count))
            block += value.utf8
        }
        return block
    }

    static func headers(_ stream: UInt32, _ fields: [(String, String)], end: Bool) -> WireFrame {
        WireFrame(type: .headers, flags: end ? 5 : 4, stream: stream, payload: block(fields))
    }

    static func data(_ stream: UInt32, _ count: Int, end: Bool) -> WireFrame {
        WireFrame(
            type: .data, flags: end ? 1 : 0, stream: stream,
            payload: (0..<count).map { UInt8(truncatingIfNeeded: 97 + $0 % 26) })
    }

    static func settings(_ settings: [(UInt16, UInt32)]) -> WireFrame {
        var payload: [UInt8] = []
        for (identifier, value) in settings {
            payload += [UInt8(identifier >> 8), UInt8(identifier & 0xFF)]
            payload += number(value)
        }
        return WireFrame(type: .settings, payload: payload)
    }
}
