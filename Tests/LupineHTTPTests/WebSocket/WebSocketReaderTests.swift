// SPDX-License-Identifier: MIT

import LupineHTTP
import Testing

/// Tests of valid and invalid frames. Each row is read whole, in two parts at each cut, and octet by octet.
@Suite struct WebSocketReaderTests {
    struct Row: CustomTestStringConvertible {
        let shows: String
        var role = WebSocketRole.client
        var limit = WebSocketCodec.defaultMessageLimit
        var allowsCompression = false
        let wire: [UInt8]
        let expected: [String]

        var testDescription: String { shows }
    }

    typealias Frames = WebSocketFrames
    static let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    /// The examples of RFC 6455 §5.7, octet by octet.
    static let examples: [Row] = [
        Row(
            shows: "an unmasked text message in a single frame",
            wire: [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F],
            expected: ["text 'Hello'"]),
        Row(
            shows: "a masked text message in a single frame", role: .server,
            wire: [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58],
            expected: ["text 'Hello'"]),
        Row(
            shows: "a fragmented unmasked text message",
            wire: [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F], expected: ["text 'Hello'"]),
        Row(
            shows: "an unmasked ping", wire: [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F],
            expected: ["ping 'Hello'"]),
        Row(
            shows: "a masked pong", role: .server,
            wire: [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58],
            expected: ["pong 'Hello'"]),
        Row(
            shows: "256 octets of binary",
            wire: [0x82, 0x7E, 0x01, 0x00] + [UInt8](repeating: 7, count: 256),
            expected: ["binary of 256"]),
    ]

    static let messages: [Row] = [
        Row(shows: "an empty text", wire: Frames.text(""), expected: ["text ''"]),
        Row(shows: "an empty binary", wire: Frames.frame(0x82), expected: ["binary ''"]),
        Row(
            shows: "an empty masked text", role: .server, wire: Frames.frame(0x81, mask: key),
            expected: ["text ''"]),
        Row(
            shows: "empty fragments count for nothing",
            wire: Frames.frame(0x01) + Frames.frame(0x00) + Frames.frame(0x00, [0x61]) + Frames.frame(0x80),
            expected: ["text 'a'"]),
        Row(
            shows: "two messages in a row", wire: Frames.text("a") + Frames.frame(0x82, [0x62]),
            expected: ["text 'a'", "binary 'b'"]),
        Row(
            shows: "[U-8.5] control frames stand between fragments",
            wire: Frames.text("a", isFinal: false) + Frames.frame(0x89, [0x70]) + Frames.frame(0x00, [0x62])
                + Frames.frame(0x8A) + Frames.frame(0x80, [0x63]),
            expected: ["ping 'p'", "pong ''", "text 'abc'"]),
        Row(
            shows: "fragments have masks of their own", role: .server,
            wire: Frames.frame(0x02, [1, 2, 3, 4, 5], mask: key)
                + Frames.frame(0x80, [6, 7, 8], mask: [9, 8, 7, 6]),
            expected: ["binary '\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}'"]),
        Row(
            shows: "[U-8.5] a character is cut by fragments",
            wire: Frames.frame(0x01, [0xE2, 0x82]) + Frames.frame(0x00) + Frames.frame(0x80, [0xAC]),
            expected: ["text '€'"]),
        Row(
            shows: "binary need not be UTF-8", wire: Frames.frame(0x82, [0xFF, 0xC0]),
            expected: ["binary [255, 192]"]),
        Row(
            shows: "the longest length of one octet",
            wire: Frames.frame(0x82, [UInt8](repeating: 1, count: 125)),
            expected: ["binary of 125"]),
        Row(
            shows: "the shortest length of two octets",
            wire: Frames.frame(0x82, [UInt8](repeating: 1, count: 126)),
            expected: ["binary of 126"]),
        Row(
            shows: "the longest control frame",
            wire: Frames.frame(0x89, [UInt8](repeating: 0x70, count: 125)),
            expected: ["ping of 125"]),
        Row(
            shows: "a compressed message", allowsCompression: true,
            wire: Frames.frame(0x41, [0xF2, 0x48]) + Frames.frame(0x80, [0xCD]),
            expected: ["compressed text [242, 72, 205]"]),
        Row(
            shows: "a message that is not compressed, though it could be", allowsCompression: true,
            wire: Frames.text("a"), expected: ["text 'a'"]),
    ]

    static let closes: [Row] = [
        Row(shows: "a close without a code", wire: Frames.frame(0x88), expected: ["close"]),
        Row(
            shows: "a close with a reason", wire: Frames.close(1001, Array("bye".utf8)),
            expected: ["close 1001 'bye'"]),
        Row(
            shows: "a close in the middle of a message",
            wire: Frames.text("a", isFinal: false) + Frames.close(1000),
            expected: ["close 1000 ''"]),
        Row(
            shows: "what comes behind a close is not read",
            wire: Frames.close(1000) + [0xFF, 0xFF] + Frames.text("a"),
            expected: ["close 1000 ''"]),
        Row(
            shows: "the longest reason", wire: Frames.close(3000, [UInt8](repeating: 0x61, count: 123)),
            expected: ["close 3000 of 123"]),
        Row(
            shows: "a close of one octet", wire: Frames.frame(0x88, [3]),
            expected: ["\(WebSocketError.closePayloadTooShort)"]),
        Row(
            shows: "a reason that is not UTF-8", wire: Frames.close(1000, [0x61, 0xC3, 0x28]),
            expected: ["\(WebSocketError.invalidUTF8(offset: 4))"]),
        Row(
            shows: "a reason that ends in mid-character", wire: Frames.close(1000, [0xE2, 0x82]),
            expected: ["\(WebSocketError.invalidUTF8(offset: 4))"]),
    ]

    static let violations: [Row] =
        ([0x91, 0xA1, 0xC1, 0xF1, 0x90, 0xC9] as [UInt8]).map { first in
            Row(
                shows: "[U-8.5] reserved bits in \(first)", wire: [first],
                expected: ["\(WebSocketError.reservedBits(octet: first))"])
        }
        + ([3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8]).map { opcode in
            Row(
                shows: "[U-8.5] the reserved opcode \(opcode)", wire: [0x80 | opcode],
                expected: ["\(WebSocketError.reservedOpcode(opcode))"])
        }
        + ([8, 9, 10] as [UInt8]).flatMap { opcode in
            [
                Row(
                    shows: "[U-8.5] the control frame \(opcode) in fragments", wire: [opcode, 0],
                    expected: ["\(WebSocketError.fragmentedControlFrame(opcode: opcode))"]),
                Row(
                    shows: "[U-8.5] the control frame \(opcode) with 126 octets",
                    wire: Frames.frame(0x80 | opcode, [UInt8](repeating: 0x61, count: 126)),
                    expected: ["\(WebSocketError.controlFrameTooLong(opcode: opcode))"]),
                Row(
                    shows: "the control frame \(opcode) with a length of eight octets",
                    wire: Frames.frame(0x80 | opcode, [0x61], width: .eight),
                    expected: ["\(WebSocketError.controlFrameTooLong(opcode: opcode))"]),
            ]
        }
        + [
            Row(
                shows: "[U-8.5] a masked frame of a server",
                wire: Frames.text("a") + Frames.frame(0x81, mask: key),
                expected: ["text 'a'", "\(WebSocketError.maskedFrame)"]),
            Row(
                shows: "an unmasked frame of a client", role: .server, wire: Frames.text("a"),
                expected: ["\(WebSocketError.unmaskedFrame)"]),
            Row(
                shows: "125 octets in a length of two", wire: Frames.frame(0x82, width: .two) + [],
                expected: ["\(WebSocketError.lengthNotMinimal(0))"]),
            Row(
                shows: "125 octets in a length of two octets",
                wire: Frames.frame(0x82, [UInt8](repeating: 0, count: 125), width: .two),
                expected: ["\(WebSocketError.lengthNotMinimal(125))"]),
            Row(
                shows: "65535 octets in a length of eight", wire: [0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
                expected: ["\(WebSocketError.lengthNotMinimal(65535))"]),
            Row(
                shows: "a length of 64 bits", wire: [0x82, 127, 0x80],
                expected: ["\(WebSocketError.lengthOverflow)"]),
            Row(
                shows: "the largest length is over the limit",
                wire: [0x82, 127, 0x7F, 255, 255, 255, 255, 255, 255, 255],
                expected: ["\(WebSocketError.messageTooBig(limit: 1 << 20))"]),
            Row(
                shows: "a continuation of nothing", wire: Frames.frame(0x80, [0x61]),
                expected: ["\(WebSocketError.continuationWithoutMessage)"]),
            Row(
                shows: "a continuation behind a whole message", wire: Frames.text("a") + Frames.frame(0x00),
                expected: ["text 'a'", "\(WebSocketError.continuationWithoutMessage)"]),
            Row(
                shows: "a message in a message", wire: Frames.text("a", isFinal: false) + Frames.frame(0x82),
                expected: ["\(WebSocketError.messageInsideMessage)"]),
            Row(
                shows: "compression that was not agreed on", wire: [0xC1],
                expected: ["\(WebSocketError.reservedBits(octet: 0xC1))"]),
            Row(
                shows: "compression said with a continuation", allowsCompression: true,
                wire: Frames.frame(0x01) + [0xC0],
                expected: ["\(WebSocketError.reservedBits(octet: 0xC0))"]),
            Row(
                shows: "a compressed control frame", allowsCompression: true, wire: [0xC9],
                expected: ["\(WebSocketError.reservedBits(octet: 0xC9))"]),
        ]

    /// Text is refused at its first invalid octet: the rest of the frame has not arrived yet.
    static let brokenText: [Row] = [
        Row(
            shows: "[U-8.5] an octet that no text has", wire: [0x81, 0x05, 0x61, 0xFF],
            expected: ["\(WebSocketError.invalidUTF8(offset: 1))"]),
        Row(
            shows: "an overlong form", wire: [0x81, 0x05, 0xE0, 0x9F],
            expected: ["\(WebSocketError.invalidUTF8(offset: 1))"]),
        Row(
            shows: "a surrogate", wire: [0x81, 0x05, 0xED, 0xA0],
            expected: ["\(WebSocketError.invalidUTF8(offset: 1))"]),
        Row(
            shows: "beyond the last character, in another fragment",
            wire: Frames.frame(0x01, [0x61, 0xF4]) + [0x80, 0x09, 0x90],
            expected: ["\(WebSocketError.invalidUTF8(offset: 2))"]),
        Row(
            shows: "an end in mid-character",
            wire: Frames.frame(0x01, [0x61, 0xF4]) + Frames.frame(0x80, [0x80]),
            expected: ["\(WebSocketError.invalidUTF8(offset: 3))"]),
        Row(
            shows: "a masked broken text", role: .server,
            wire: [0x81, 0x85] + key + [0x61 ^ key[0], 0x62 ^ key[1], 0xFE ^ key[2]],
            expected: ["\(WebSocketError.invalidUTF8(offset: 2))"]),
    ]

    static let limits: [Row] = [
        Row(
            shows: "as many octets as are taken", limit: 5, wire: Frames.text("Hello"),
            expected: ["text 'Hello'"]),
        Row(
            shows: "one octet too many, before any came", limit: 5, wire: [0x81, 0x06],
            expected: ["\(WebSocketError.messageTooBig(limit: 5))"]),
        Row(
            shows: "as many octets as are taken, in fragments", limit: 5,
            wire: Frames.text("Hel", isFinal: false) + Frames.frame(0x80, [0x6C, 0x6F]),
            expected: ["text 'Hello'"]),
        Row(
            shows: "one octet too many, in fragments", limit: 5,
            wire: Frames.text("Hel", isFinal: false) + [0x80, 0x03],
            expected: ["\(WebSocketError.messageTooBig(limit: 5))"]),
        Row(
            shows: "each message is measured by itself", limit: 2,
            wire: Frames.text("ab") + Frames.text("cd"), expected: ["text 'ab'", "text 'cd'"]),
        Row(
            shows: "nothing is little enough for nothing", limit: 0,
            wire: Frames.text("") + [0x81, 0x01],
            expected: ["text ''", "\(WebSocketError.messageTooBig(limit: 0))"]),
        Row(
            shows: "a limit below nothing is nothing", limit: -1, wire: [0x82, 0x01],
            expected: ["\(WebSocketError.messageTooBig(limit: 0))"]),
        Row(
            shows: "control frames do not count", limit: 1,
            wire: Frames.frame(0x01, [0x61]) + Frames.frame(0x89, [1, 2, 3]) + Frames.frame(0x80),
            expected: ["ping '\u{1}\u{2}\u{3}'", "text 'a'"]),
    ]

    @Test(arguments: examples + messages + closes + violations + brokenText + limits)
    func reads(_ row: Row) {
        let codec = WebSocketCodec(
            row.role, messageLimit: row.limit, allowsCompression: row.allowsCompression)
        #expect(WebSocketFrames.saidAtEveryCut(of: row.wire, by: codec) == [row.expected])
    }

    @Test func everyCloseCode() {
        // RFC 6455 §7.4 and IANA's registry: only these codes are allowed in a close frame.
        let registered: Set<UInt16> = [
            1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014,
        ]
        let wrong = (0...UInt16.max).filter { code in
            let isValid = registered.contains(code) || (3000...4999).contains(code)
            let said = WebSocketFrames.said(of: [WebSocketFrames.close(code)], by: WebSocketCodec(.client))
            return said != [isValid ? "close \(code) ''" : "\(WebSocketError.invalidCloseCode(code))"]
        }
        #expect(wrong.isEmpty)
    }

    @Test func lengthsAroundTheWidths() {
        for count in [125, 126, 127, 65535, 65536, 65537] {
            let wire = Frames.frame(0x82, [UInt8](repeating: 9, count: count), mask: Self.key)
            let codec = WebSocketCodec(.server)
            #expect(WebSocketFrames.said(of: [wire], by: codec) == ["binary of \(count)"])
            #expect(WebSocketFrames.said(of: wire.map { [$0] }, by: codec) == ["binary of \(count)"])
        }
    }

    @Test func theLimitMayChangeBetweenFrames() throws {
        var codec = WebSocketCodec(.client, messageLimit: 4)
        let first = Frames.frame(0x01, [0x61, 0x62, 0x63])
        #expect(try codec.next(first.span).event == .needMore)
        codec.messageLimit = 2
        let second = Frames.frame(0x80)
        #expect(throws: WebSocketError.messageTooBig(limit: 2)) { try codec.next(second.span).event }
    }

    @Test func anErrorIsThrownAgain() throws {
        var codec = WebSocketCodec(.client)
        let wrong: [UInt8] = [0x83]
        let right = Frames.text("a")
        #expect(throws: WebSocketError.reservedOpcode(3)) { try codec.next(wrong.span).event }
        #expect(throws: WebSocketError.reservedOpcode(3)) { try codec.next(right.span).event }
    }

    @Test func whatLiesBehindAnEventIsLeft() throws {
        var codec = WebSocketCodec(.client)
        let wire = Frames.text("a") + Frames.text("b")
        let (event, consumed) = try codec.next(wire.span)
        #expect(event == .message(WebSocketMessage(.text, [0x61])))
        #expect(consumed == 3)
    }
}
