// SPDX-License-Identifier: MIT

import LupineCoding
import LupineHTTP
import Testing

@testable import LupineTransport

/// Which content is decoded, and what one call of the decoder does. `ContentDecodingTests` decodes over sockets.
@Suite struct ContentDecoderTests {
    /// "hello content" in gzip.
    private static let encoded: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 203, 72, 205, 201, 201, 87, 72, 206, 207, 43, 73, 205, 43, 1, 0,
        92, 119,
        101, 99, 13, 0, 0, 0,
    ]

    @Test(arguments: [
        (200, ["gzip"], BodyFraming.length(33), [ContentCoding.gzip]),
        (200, ["deflate, gzip"], .chunked, [.deflate, .gzip]),
        (200, ["deflate", "gzip"], .untilClose, [.deflate, .gzip]),
        // A part of encoded content cannot be decoded.
        (206, ["gzip"], .length(33), []),
        // One unknown coding makes all of them useless.
        (200, ["gzip, unknown"], .length(33), []),
        (200, [], .length(33), []),
        (200, ["gzip"], .none, []),
        (101, ["gzip"], .handover, []),
    ]) func codingsThatAreDecoded(
        status: Int, lines: [String], framing: BodyFraming, expected: [ContentCoding]
    ) throws {
        var fields = Fields()
        for line in lines { try fields.append(.contentEncoding, line) }
        let head = ResponseHead(status: Status(status), fields: fields)
        #expect(ContentDecoder.codings(of: head, framing: framing) == expected)
    }

    /// Each input is also split at every byte.
    @Test func theContentIsDecodedWhereverTheInputIsSplit() {
        for split in 0...Self.encoded.count {
            var decoder = ContentDecoder([.gzip], limit: .standard)
            var text: [UInt8] = []
            for piece in [Self.encoded[..<split], Self.encoded[split...]] {
                let input = Array(piece)
                let result = decoder.decode(input.span) { text.append($0, $0.indices) }
                guard case .inputConsumed = result else {
                    Issue.record("split at \(split): \(result)")
                    return
                }
            }
            #expect(String(decoding: text, as: UTF8.self) == "hello content")
            #expect(decoder.finish() == nil)
        }
    }

    @Test func aCallProducesAtMostTheRoomForIt() {
        var decoder = ContentDecoder([.gzip], limit: .standard)
        var pieces: [String] = []
        var start = 0
        calls: while true {
            let rest = Array(Self.encoded[start...])
            var piece: [UInt8] = []
            let result = decoder.decode(rest.span, room: 5) { piece.append($0, $0.indices) }
            pieces.append(String(decoding: piece, as: UTF8.self))
            switch result {
            case .pieceFull(let consumed), .limitReached(let consumed): start += consumed
            case .inputConsumed, .failed: break calls
            }
        }
        #expect(pieces.allSatisfy { $0.utf8.count <= 5 })
        #expect(pieces.joined() == "hello content")
        let nothing: [UInt8] = []
        guard case .pieceFull(consumed: 0) = decoder.decode(nothing.span, room: 0, { _ in }) else {
            Issue.record("without room, nothing is decoded")
            return
        }
    }

    @Test func theEndIsCheckedUnlessInputIsLeft() {
        let beginning = Array(Self.encoded[..<20])
        var decoder = ContentDecoder([.gzip], limit: .standard)
        _ = decoder.decode(beginning.span) { _ in }
        #expect(decoder.finish() != nil)
        decoder = ContentDecoder([.gzip], limit: .standard)
        _ = decoder.decode(beginning.span) { _ in }
        decoder.pendingInput = Array(Self.encoded[20...])
        #expect(decoder.finish() == nil)
    }
}
