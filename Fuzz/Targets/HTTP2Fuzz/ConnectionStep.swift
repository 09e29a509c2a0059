// SPDX-License-Identifier: MIT

import FuzzKit

/// A step of a connection: a frame from the peer, or an action of the machine's owner.
enum ConnectionStep {
    /// The peer sends octets.
    case wire([UInt8])
    /// The owner consumes the delivered content.
    case consume
    /// The owner takes the pending output.
    case flush
    /// Time passes, in milliseconds.
    case time(Int)
    /// The owner opens a stream.
    case open(endsStream: Bool)
    /// The owner sends a response, or trailers.
    case answer(UInt32, endsStream: Bool)
    /// The owner sends content.
    case content(UInt32, Int, endsStream: Bool)
    case reset(UInt32)
    /// The owner changes its settings.
    case settings(Int)
    /// The owner enlarges the window of a stream; 0 is the connection.
    case enlargeWindow(UInt32)
    /// The owner announces the end of the connection (the first GOAWAY).
    case announceShutdown
    /// The owner ends the connection (the last GOAWAY).
    case shutDown

    /// Valid header blocks, in addition to those that the fuzzer makes.
    private static let blocks: [[UInt8]] = [
        [0x82, 0x86, 0x84, 0x41, 1, 0x61], [0x83, 0x86, 0x84, 0x41, 1, 0x61], [0x88],
        [0x08, 3, 0x31, 0x30, 0x33],
        [0x40, 1, 0x61, 1, 0x62], [0x88, 0x0F, 0x0D, 1, 0x33], [0xBE], [0x20], [0x3F, 0xE1, 0x1F],
    ]

    /// Reads the next step; its first octet selects the kind.
    init(_ input: inout FuzzInput) {
        let kind = input.readOctet()
        let stream = UInt32(input.readOctet() & 0x1F)
        switch kind {
        case 0xE0: self = .consume
        case 0xE1: self = .flush
        case 0xE2: self = .time(Int(input.readOctet()) * 50)
        case 0xE3: self = .open(endsStream: stream & 1 == 0)
        case 0xE4: self = .answer(stream, endsStream: input.readOctet() & 1 == 0)
        case 0xE5:
            let count = Int(input.readOctet()) * 300
            self = .content(stream, count, endsStream: input.readOctet() & 1 == 0)
        case 0xE6: self = .reset(stream)
        case 0xE7: self = .settings(Int(input.readOctet()))
        case 0xE8: self = .enlargeWindow(stream)
        case 0xE9: self = .announceShutdown
        case 0xEA: self = .shutDown
        case 0xF0...: self = .wire(Self.block(kind, stream))
        default:
            let flags = input.readOctet()
            let payload = input.readPiece()
            // The fuzzer can repeat a frame many times.
            let times = kind & 0xC0 == 0xC0 ? 150 : 1
            let type = kind & 0x20 != 0 ? 0x10 : kind & 0x0F
            var wire: [UInt8] = []
            for _ in 0..<times { wire += Self.frame(type, flags, stream, payload) }
            self = .wire(wire)
        }
    }

    private static func block(_ kind: UInt8, _ stream: UInt32) -> [UInt8] {
        frame(1, kind & 1 == 0 ? 4 : 5, stream, blocks[Int(kind >> 1 & 7) % blocks.count])
    }

    private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8]
    {
        [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, UInt8(stream)] + payload
    }
}
