// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

/// Tests of errors: their close code, their fault and their description.
@Suite struct WebSocketErrorTests {
    static let quoted = Excerpt("x")
    static let all: [(WebSocketError, WebSocketCloseCode, HTTPError.Fault)] = [
        (.notSwitched(status: 200), .protocolError, .remote),
        (.invalidUpgrade(nil), .protocolError, .remote),
        (.connectionWithoutUpgrade, .protocolError, .remote),
        (.invalidAccept(quoted), .protocolError, .remote),
        (.subprotocolNotOffered(quoted), .protocolError, .remote),
        (.extensionNotOffered(quoted), .mandatoryExtension, .remote),
        (.invalidExtensionParameter(quoted), .mandatoryExtension, .remote),
        (.notAnUpgradeRequest, .protocolError, .remote),
        (.unsupportedVersion(quoted), .protocolError, .remote),
        (.invalidKey(nil), .protocolError, .remote),
        (.reservedBits(octet: 0xF1), .protocolError, .remote),
        (.reservedOpcode(3), .protocolError, .remote),
        (.fragmentedControlFrame(opcode: 9), .protocolError, .remote),
        (.controlFrameTooLong(opcode: 9), .protocolError, .remote),
        (.maskedFrame, .protocolError, .remote),
        (.unmaskedFrame, .protocolError, .remote),
        (.lengthNotMinimal(7), .protocolError, .remote),
        (.lengthOverflow, .protocolError, .remote),
        (.continuationWithoutMessage, .protocolError, .remote),
        (.messageInsideMessage, .protocolError, .remote),
        (.messageTooBig(limit: 9), .messageTooBig, .remote),
        (.invalidUTF8(offset: 2), .invalidPayload, .remote),
        (.closePayloadTooShort, .protocolError, .remote),
        (.invalidCloseCode(1005), .protocolError, .remote),
        (.invalidCompression, .invalidPayload, .remote),
        (.invalidCloseCodeToSend(1006), .internalError, .local),
        (.invalidReasonToSend, .internalError, .local),
    ]

    @Test(arguments: all.indices) func closeCodesAndFaults(_ index: Int) {
        let (error, code, fault) = Self.all[index]
        #expect(error.closeCode == code)
        #expect(error.fault == fault)
        #expect(error.closeCode.isAllowedInFrames)
    }

    @Test func descriptionsAreUnique() {
        let texts = Self.all.map { "\($0.0)" }
        #expect(Set(texts).count == texts.count)
        #expect(texts.allSatisfy { $0.count > 20 })
        #expect(
            "\(WebSocketError.messageTooBig(limit: 9))"
                == "a message has more than 9 bytes (limit: message bytes)")
        #expect("\(WebSocketError.reservedBits(octet: 0xF1))".hasSuffix("0xf1"))
        #expect("\(WebSocketError.invalidUpgrade(nil))".hasSuffix("and it is missing"))
        #expect("\(WebSocketError.invalidUpgrade(Self.quoted))".hasSuffix("not \"x\""))
    }
}
