// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTestKit
import Testing

/// Tests of the octets that a codec writes, and of the events that the other end's codec reads from them.
@Suite struct WebSocketCodecTests {
    static let hello = Array("Hello".utf8)
    static let mask = WebSocketMask(key: 0x37FA_213D)

    @Test func theExamplesOfTheRFC() {
        // RFC 6455 §5.7.
        var client = WebSocketCodec(.client)
        var server = WebSocketCodec(.server)
        var output: [UInt8] = []
        server.send(.text, Self.hello.span, mask: nil, into: &output)
        #expect(output == [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        output = []
        client.send(.text, Self.hello.span, mask: Self.mask, into: &output)
        #expect(output == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        output = []
        let halves = (Self.hello[..<3], Self.hello[3...])
        server.send(.text, halves.0.span, isFinal: false, mask: nil, into: &output)
        server.send(.text, halves.1.span, mask: nil, into: &output)
        #expect(output == [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F])
        output = []
        server.sendPing(Self.hello.span, mask: nil, into: &output)
        #expect(output == [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        output = []
        client.sendPong(Self.hello.span, mask: Self.mask, into: &output)
        #expect(output == [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        for (count, head) in [
            (256, [0x82, 0x7E, 0x01, 0x00]), (65536, [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])] {
            output = []
            let payload = [UInt8](repeating: 3, count: count)
            server.send(.binary, payload.span, mask: nil, into: &output)
            #expect(output == head + payload)
        }
    }

    @Test func framesAreAppended() {
        var client = WebSocketCodec(.client)
        var output: [UInt8] = [1, 2, 3]
        client.send(.text, Self.hello.span, mask: Self.mask, into: &output)
        client.send(.binary, Self.hello.span, mask: WebSocketMask(key: 0), into: &output)
        let expected: [UInt8] =
            [1, 2, 3, 0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
            + [0x82, 0x85, 0, 0, 0, 0] + Self.hello
        #expect(output == expected)
    }

    @Test(arguments: 0...80) func everyLengthIsMaskedAtEveryOffset(_ count: Int) throws {
        var random = SeededRandom(seed: UInt64(count))
        let payload = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let key = UInt32(truncatingIfNeeded: random.next())
        let octets = (0..<4).map { UInt8(truncatingIfNeeded: key >> (24 - $0 * 8)) }
        var output: [UInt8] = []
        for offset in 0...9 {
            output = [UInt8](repeating: 0xEE, count: offset)
            var client = WebSocketCodec(.client)
            client.send(.binary, payload.span, mask: WebSocketMask(key: key), into: &output)
            #expect(
                output == [UInt8](repeating: 0xEE, count: offset)
                    + WebSocketFrames.frame(0x82, payload, mask: octets))
        }
        let frame = WebSocketFrames.frame(0x82, payload, mask: octets)
        let expected = WebSocketFrames.log(
            of: [WebSocketFrames.frame(0x82, payload)], by: WebSocketCodec(.client))
        #expect(WebSocketFrames.logsAtEveryCut(of: frame, by: WebSocketCodec(.server)) == [expected])
    }

    @Test func closeIsTheLastFrame() throws {
        var client = WebSocketCodec(.client)
        var output: [UInt8] = []
        let closure = try WebSocketCloseFrame(.normal, reason: Array("done".utf8))
        client.send(.text, Self.hello.span, isFinal: false, mask: Self.mask, into: &output)
        output = []
        #expect(client.maySend)
        #expect(client.close(.close(closure), mask: WebSocketMask(key: 0), into: &output).frame == closure)
        #expect(output == [0x88, 0x86, 0, 0, 0, 0, 0x03, 0xE8] + Array("done".utf8))
        #expect(!client.maySend)
        output = []
        // Messages before the peer's close frame are still read; those after it are not.
        let wire = WebSocketFrames.text("late") + WebSocketFrames.close(1000) + WebSocketFrames.text("later")
        #expect(WebSocketFrames.logsAtEveryCut(of: wire, by: client) == [["text 'late'", "close 1000 ''"]])
        let actions = client.close(
            .received(try WebSocketCloseFrame(.normal)), mask: Self.mask, into: &output)
        #expect(actions.outcome == .locallyClosed(closure, answer: try WebSocketCloseFrame(.normal)))
        #expect(output.isEmpty)
    }

    @Test func nothingIsReadAfterTheEnd() throws {
        var client = WebSocketCodec(.client)
        var output: [UInt8] = []
        _ = client.close(.close(.empty), mask: Self.mask, into: &output)
        _ = client.close(.timedOut, mask: Self.mask, into: &output)
        #expect(client.closingState == .closed)
        #expect(WebSocketFrames.log(of: [WebSocketFrames.close(1000), [0xFF]], by: client).isEmpty)
    }

    @Test(arguments: [WebSocketRole.client, .server])
    func aPeerThatClosesIsAnswered(_ role: WebSocketRole) throws {
        var codec = WebSocketCodec(role)
        var output: [UInt8] = []
        let mask = role == .client ? WebSocketMask(key: 0) : nil
        let actions = codec.close(
            .received(try WebSocketCloseFrame(.goingAway, reason: [0x61])), mask: mask, into: &output)
        #expect(actions.outcome == .peerClosed(try WebSocketCloseFrame(.goingAway, reason: [0x61])))
        let expected: [UInt8] = role == .client ? [0x88, 0x82, 0, 0, 0, 0, 3, 0xE9] : [0x88, 2, 3, 0xE9]
        #expect(output == expected, "the same code")
    }

    @Test func anErrorIsAnsweredOnceAndFurtherInputDropped() {
        var codec = WebSocketCodec(.server)
        var output: [UInt8] = []
        let wire = WebSocketFrames.text("unmasked")
        #expect(throws: WebSocketError.unmaskedFrame) { try codec.next(wire.span).event }
        #expect(
            codec.close(.failed(.unmaskedFrame), mask: nil, into: &output).outcome == .failed(.unmaskedFrame))
        #expect(output == [0x88, 2, 0x03, 0xEA])
        #expect(WebSocketFrames.log(of: [wire, WebSocketFrames.close(1000)], by: codec).isEmpty)
        #expect(codec.close(.failed(.unmaskedFrame), mask: nil, into: &output) == WebSocketClosing.Actions())
        #expect(output.count == 4)
    }

    @Test func anErrorOfTheCallerEndsReading() {
        var codec = WebSocketCodec(.client, allowsCompression: true)
        var output: [UInt8] = []
        _ = codec.close(.failed(.invalidCompression), mask: WebSocketMask(key: 0), into: &output)
        #expect(output == [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xEF])
        let wire = WebSocketFrames.text("a") + WebSocketFrames.close(1000)
        #expect(WebSocketFrames.logsAtEveryCut(of: wire, by: codec) == [[]])
    }

    @Test func noPongIsSentAfterTheCloseFrame() {
        var codec = WebSocketCodec(.server)
        var output: [UInt8] = []
        _ = codec.close(.close(.empty), mask: nil, into: &output)
        codec.sendPong(Self.hello.span, mask: nil, into: &output)
        #expect(output == [0x88, 0])
    }
}
