// SPDX-License-Identifier: MIT

import LupineHTTP
import Testing

/// Tests of valid and invalid frames. Each row is read whole, in two parts at each cut, and octet by octet.
@Suite struct WebSocketReaderTests {
    struct Row: CustomTestStringConvertible {
        let title: String
        var role = WebSocketRole.client
        var limit = WebSocketCodec.defaultMessageLimit
        var allowsCompression = false
        let wire: [UInt8]
        let expected: [String]

        var testDescription: String { title }
    }

    typealias Frames = WebSocketFrames
    static let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    /// The examples of RFC 6455 §5.7, octet by octet.
    static let examples: [Row] = [
        Row(
            title: "an unmasked text message in a single frame",
            wire: [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F],
            expected: ["text 'Hello'"]),
        Row(
            title: "a masked text message in a single frame", role: .server,
            wire: [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58],
            expected: ["text 'Hello'"]),
        Row(
            title: "a fragmented unmasked text message",
            wire: [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F], expected: ["text 'Hello'"]),
        Row(
            title: "an unmasked ping", wire: [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F],
            expected: ["ping 'Hello'"]),
        Row(
            title: "a masked pong", role: .server,
            wire: [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58],
            expected: ["pong 'Hello'"]),
        Row(
            title: "256 octets of binary",
            wire: [0x82, 0x7E, 0x01, 0x00] + [UInt8](repeating: 7, count: 256),
            expected: ["binary of 256"]),
    ]

    static let messages: [Row] = [
        Row(title: "an empty text", wire: Frames.text(""), expected: ["text ''"]),
        Row(title: "an empty binary", wire: Frames.frame(0x82), expected: ["binary ''"]),
        Row(
            title: "an empty masked text", role: .server, wire: Frames.frame(0x81, mask: key),
            expected: ["text ''"]),
        Row(
            title: "empty fragments add nothing",
            wire: Frames.frame(0x01) + Frames.frame(0x00) + Frames.frame(0x00, [0x61]) + Frames.frame(0x80),
            expected: ["text 'a'"]),
        Row(
            title: "two messages in a row", wire: Frames.text("a") + Frames.frame(0x82, [0x62]),
            expected: ["text 'a'", "binary 'b'"]),
        Row(
            title: "[U-8.5] control frames between fragments",
            wire: Frames.text("a", isFinal: false) + Frames.frame(0x89, [0x70]) + Frames.frame(0x00, [0x62])
                + Frames.frame(0x8A) + Frames.frame(0x80, [0x63]),
            expected: ["ping 'p'", "pong ''", "text 'abc'"]),
        Row(
            title: "each fragment has its own mask", role: .server,
            wire: Frames.frame(0x02, [1, 2, 3, 4, 5], mask: key)
                + Frames.frame(0x80, [6, 7, 8], mask: [9, 8, 7, 6]),
            expected: ["binary '\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}'"]),
        Row(
            title: "[U-8.5] a character divided between fragments",
            wire: Frames.frame(0x01, [0xE2, 0x82]) + Frames.frame(0x00) + Frames.frame(0x80, [0xAC]),
            expected: ["text '€'"]),
        Row(
            title: "binary need not be UTF-8", wire: Frames.frame(0x82, [0xFF, 0xC0]),
            expected: ["binary [255, 192]"]),
        Row(
            title: "the longest length of one octet",
            wire: Frames.frame(0x82, [UInt8](repeating: 1, count: 125)),
            expected: ["binary of 125"]),
        Row(
            title: "the shortest length of two octets",
            wire: Frames.frame(0x82, [UInt8](repeating: 1, count: 126)),
            expected: ["binary of 126"]),
        Row(
            title: "the longest control frame",
            wire: Frames.frame(0x89, [UInt8](repeating: 0x70, count: 125)),
            expected: ["ping of 125"]),
        Row(
            title: "a compressed message", allowsCompression: true,
            wire: Frames.frame(0x41, [0xF2, 0x48]) + Frames.frame(0x80, [0xCD]),
            expected: ["compressed text [242, 72, 205]"]),
        Row(
            title: "a message that is not compressed, though it could be", allowsCompression: true,
            wire: Frames.text("a"), expected: ["text 'a'"]),
    ]

    static let closes: [Row] = [
        Row(title: "a close without a code", wire: Frames.frame(0x88), expected: ["close"]),
        Row(
            title: "a close with a reason", wire: Frames.close(1001, Array("bye".utf8)),
            expected: ["close 1001 'bye'"]),
        Row(
            title: "a close in the middle of a message",
            wire: Frames.text("a", isFinal: false) + Frames.close(1000),
            expected: ["close 1000 ''"]),
        Row(
            title: "octets after a close are not read",
            wire: Frames.close(1000) + [0xFF, 0xFF] + Frames.text("a"),
            expected: ["close 1000 ''"]),
        Row(
            title: "the longest reason", wire: Frames.close(3000, [UInt8](repeating: 0x61, count: 123)),
            expected: ["close 3000 of 123"]),
        Row(
            title: "a close of one octet", wire: Frames.frame(0x88, [3]),
            expected: ["\(WebSocketError.closePayloadTooShort)"]),
        Row(
            title: "a reason that is not UTF-8", wire: Frames.close(1000, [0x61, 0xC3, 0x28]),
            expected: ["\(WebSocketError.invalidUTF8(offset: 4))"]),
        Row(
            title: "a reason that ends within a character", wire: Frames.close(1000, [0xE2, 0x82]),
            expected: ["\(WebSocketError.invalidUTF8(offset: 4))"]),
    ]

    static let violations: [Row] =
        ([0x91, 0xA1, 0xC1, 0xF1, 0x90, 0xC9] as [UInt8]).map { first in
            Row(
                title: "[U-8.5] reserved bits in \(first)", wire: [first],
                expected: ["\(WebSocketError.reservedBits(octet: first))"])
        }
        + ([3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8]).map { opcode in
            Row(
                title: "[U-8.5] the reserved opcode \(opcode)", wire: [0x80 | opcode],
                expected: ["\(WebSocketError.reservedOpcode(opcode))"])
        }
        + ([8, 9, 10] as [UInt8]).flatMap { opcode in
            [
                Row(
                    title: "[U-8.5] the control frame \(opcode) in fragments", wire: [opcode, 0],
                    expected: ["\(WebSocketError.fragmentedControlFrame(opcode: opcode))"]),
                Row(
                    title: "[U-8.5] the control frame \(opcode) with 126 octets",
                    wire: Frames.frame(0x80 | opcode, [UInt8](repeating: 0x61, count: 126)),
                    expected: ["\(WebSocketError.controlFrameTooLong(opcode: opcode))"]),
                Row(
                    title: "the control frame \(opcode) with a length of eight octets",
                    wire: Frames.frame(0x80 | opcode, [0x61], width: .eight),
                    expected: ["\(WebSocketError.controlFrameTooLong(opcode: opcode))"]),
            ]
        }
        + [
            Row(
                title: "[U-8.5] a masked frame of a server",
                wire: Frames.text("a") + Frames.frame(0x81, mask: key),
                expected: ["text 'a'", "\(WebSocketError.maskedFrame)"]),
            Row(
                title: "an unmasked frame of a client", role: .server, wire: Frames.text("a"),
                expected: ["\(WebSocketError.unmaskedFrame)"]),
            Row(
                title: "no octets in a length of two octets", wire: Frames.frame(0x82, width: .two),
                expected: ["\(WebSocketError.lengthNotMinimal(0))"]),
            Row(
                title: "125 octets in a length of two octets",
                wire: Frames.frame(0x82, [UInt8](repeating: 0, count: 125), width: .two),
                expected: ["\(WebSocketError.lengthNotMinimal(125))"]),
            Row(
                title: "65535 octets in a length of eight octets",
                wire: [0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
                expected: ["\(WebSocketError.lengthNotMinimal(65535))"]),
            Row(
                title: "a length of 64 bits", wire: [0x82, 127, 0x80],
                expected: ["\(WebSocketError.lengthOverflow)"]),
            Row(
                title: "the largest length is over the limit",
                wire: [0x82, 127, 0x7F, 255, 255, 255, 255, 255, 255, 255],
                expected: ["\(WebSocketError.messageTooBig(limit: 1 << 20))"]),
            Row(
                title: "a continuation without a message", wire: Frames.frame(0x80, [0x61]),
                expected: ["\(WebSocketError.continuationWithoutMessage)"]),
            Row(
                title: "a continuation after a whole message", wire: Frames.text("a") + Frames.frame(0x00),
                expected: ["text 'a'", "\(WebSocketError.continuationWithoutMessage)"]),
            Row(
                title: "a message in a message", wire: Frames.text("a", isFinal: false) + Frames.frame(0x82),
                expected: ["\(WebSocketError.messageInsideMessage)"]),
            Row(
                title: "compression that was not agreed on", wire: [0xC1],
                expected: ["\(WebSocketError.reservedBits(octet: 0xC1))"]),
            Row(
                title: "the compression bit in a continuation", allowsCompression: true,
                wire: Frames.frame(0x01) + [0xC0],
                expected: ["\(WebSocketError.reservedBits(octet: 0xC0))"]),
            Row(
                title: "a compressed control frame", allowsCompression: true, wire: [0xC9],
                expected: ["\(WebSocketError.reservedBits(octet: 0xC9))"]),
        ]

    /// Text is refused at its first invalid octet, before the remainder of the frame arrives.
    static let invalidText: [Row] = [
        Row(
            title: "[U-8.5] an octet that never occurs in UTF-8", wire: [0x81, 0x05, 0x61, 0xFF],
            expected: ["\(WebSocketError.invalidUTF8(offset: 1))"]),
        Row(
            title: "an overlong form", wire: [0x81, 0x05, 0xE0, 0x9F],
            expected: ["\(WebSocketError.invalidUTF8(offset: 1))"]),
        Row(
            title: "a surrogate", wire: [0x81, 0x05, 0xED, 0xA0],
            expected: ["\(WebSocketError.invalidUTF8(offset: 1))"]),
        Row(
            title: "a code point above U+10FFFF, divided between fragments",
            wire: Frames.frame(0x01, [0x61, 0xF4]) + [0x80, 0x09, 0x90],
            expected: ["\(WebSocketError.invalidUTF8(offset: 2))"]),
        Row(
            title: "a message that ends within a character",
            wire: Frames.frame(0x01, [0x61, 0xF4]) + Frames.frame(0x80, [0x80]),
            expected: ["\(WebSocketError.invalidUTF8(offset: 3))"]),
        Row(
            title: "a masked text that is not UTF-8", role: .server,
            wire: [0x81, 0x85] + key + [0x61 ^ key[0], 0x62 ^ key[1], 0xFE ^ key[2]],
            expected: ["\(WebSocketError.invalidUTF8(offset: 2))"]),
    ]

    static let limits: [Row] = [
        Row(
            title: "as many octets as the limit allows", limit: 5, wire: Frames.text("Hello"),
            expected: ["text 'Hello'"]),
        Row(
            title: "one octet too many, refused before any arrives", limit: 5, wire: [0x81, 0x06],
            expected: ["\(WebSocketError.messageTooBig(limit: 5))"]),
        Row(
            title: "as many octets as the limit allows, in fragments", limit: 5,
            wire: Frames.text("Hel", isFinal: false) + Frames.frame(0x80, [0x6C, 0x6F]),
            expected: ["text 'Hello'"]),
        Row(
            title: "one octet too many, in fragments", limit: 5,
            wire: Frames.text("Hel", isFinal: false) + [0x80, 0x03],
            expected: ["\(WebSocketError.messageTooBig(limit: 5))"]),
        Row(
            title: "the limit applies to each message", limit: 2,
            wire: Frames.text("ab") + Frames.text("cd"), expected: ["text 'ab'", "text 'cd'"]),
        Row(
            title: "a limit of zero allows empty messages", limit: 0,
            wire: Frames.text("") + [0x81, 0x01],
            expected: ["text ''", "\(WebSocketError.messageTooBig(limit: 0))"]),
        Row(
            title: "a negative limit counts as zero", limit: -1, wire: [0x82, 0x01],
            expected: ["\(WebSocketError.messageTooBig(limit: 0))"]),
        Row(
            title: "control frames do not count", limit: 1,
            wire: Frames.frame(0x01, [0x61]) + Frames.frame(0x89, [1, 2, 3]) + Frames.frame(0x80),
            expected: ["ping '\u{1}\u{2}\u{3}'", "text 'a'"]),
    ]

    @Test(arguments: examples + messages + closes + violations + invalidText + limits)
    func framesAreRead(_ row: Row) {
        let codec = WebSocketCodec(
            row.role, messageLimit: row.limit, allowsCompression: row.allowsCompression)
        #expect(WebSocketFrames.logsAtEveryCut(of: row.wire, by: codec) == [row.expected])
    }

    @Test func everyCloseCode() {
        // RFC 6455 §7.4 and IANA's registry: only these codes are allowed in a close frame.
        let registered: Set<UInt16> = [
            1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014,
        ]
        let invalid = (0...UInt16.max).filter { code in
            let isValid = registered.contains(code) || (3000...4999).contains(code)
            let log = WebSocketFrames.log(of: [WebSocketFrames.close(code)], by: WebSocketCodec(.client))
            return log != [isValid ? "close \(code) ''" : "\(WebSocketError.invalidCloseCode(code))"]
        }
        #expect(invalid.isEmpty)
    }

    @Test func lengthsAroundTheLimitsOfEachEncoding() {
        for count in [125, 126, 127, 65535, 65536, 65537] {
            let wire = Frames.frame(0x82, [UInt8](repeating: 9, count: count), mask: Self.key)
            let codec = WebSocketCodec(.server)
            #expect(WebSocketFrames.log(of: [wire], by: codec) == ["binary of \(count)"])
            #expect(WebSocketFrames.log(of: wire.map { [$0] }, by: codec) == ["binary of \(count)"])
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

    @Test func anErrorIsPermanent() throws {
        var codec = WebSocketCodec(.client)
        let invalid: [UInt8] = [0x83]
        let valid = Frames.text("a")
        #expect(throws: WebSocketError.reservedOpcode(3)) { try codec.next(invalid.span).event }
        #expect(throws: WebSocketError.reservedOpcode(3)) { try codec.next(valid.span).event }
    }

    @Test func octetsAfterAnEventAreNotConsumed() throws {
        var codec = WebSocketCodec(.client)
        let wire = Frames.text("a") + Frames.text("b")
        let (event, consumed) = try codec.next(wire.span)
        #expect(event == .message(WebSocketMessage(.text, [0x61])))
        #expect(consumed == 3)
    }
}
