// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

/// Tests of the contents of close frames.
@Suite struct WebSocketCloseFrameTests {
    @Test func onlyCodesAllowedInFramesAreSent() {
        let wrong = (0...UInt16.max).filter { number in
            let code = WebSocketCloseCode(rawValue: number)
            do throws(WebSocketError) {
                let closure = try WebSocketCloseFrame(code)
                let expected = [UInt8(number >> 8), UInt8(number & 255)]
                let read = try WebSocketCloseFrame(received: closure.payload)
                return !code.isAllowedInFrames || closure.payload != expected || read != closure
            } catch {
                return code.isAllowedInFrames || error != .invalidCloseCodeToSend(number)
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test func anEmptyFrameHasNoCode() throws {
        #expect(WebSocketCloseFrame.empty.payload.isEmpty)
        #expect(try WebSocketCloseFrame(received: []) == .empty)
        #expect(WebSocketCloseFrame.empty.answer == .empty)
    }

    @Test(arguments: [
        (123, "", 123), (124, "", 123), (122, "é", 122), (121, "é", 123), (121, "€", 121), (120, "€", 123),
        (119, "😀", 123), (120, "😀", 120), (122, "😀", 122), (123, "😀", 123), (500, "", 123),
    ])
    func reasonsAreCutBetweenCharacters(_ letters: Int, _ last: String, _ kept: Int) throws {
        let reason = Array((String(repeating: "a", count: letters) + last).utf8)
        let closure = try WebSocketCloseFrame(.normal, reason: reason)
        #expect(closure.reason == Array(reason.prefix(kept)), "reasons longer than 123 octets")
        #expect(closure.payload.count <= WebSocketFrameHead.maximumControlPayloadLength)
    }

    @Test(arguments: [[0xFF], [0x61, 0xC3], [UInt8](repeating: 0x61, count: 200) + [0x80]])
    func reasonsAreUTF8(_ reason: [UInt8]) {
        #expect(throws: WebSocketError.invalidReasonToSend) {
            try WebSocketCloseFrame(.normal, reason: reason)
        }
    }

    @Test func theAnswerHasTheCodeAlone() throws {
        let closure = try WebSocketCloseFrame(.goingAway, reason: [0x61])
        #expect(try closure.answer == WebSocketCloseFrame(.goingAway), "the answer has the same code")
    }
}
