// SPDX-License-Identifier: MIT

/// Describes a `WebSocketError` in plain words.
extension WebSocketError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notSwitched(let status):
            "the server answered the WebSocket handshake with \(status), not with 101"
        case .invalidUpgrade(let value):
            "the handshake needs \"Upgrade: websocket\"\(suffix(for: value))"
        case .connectionWithoutUpgrade:
            "the handshake needs \"Connection: Upgrade\""
        case .invalidAccept(let value):
            "Sec-WebSocket-Accept does not belong to the key that was sent\(suffix(for: value))"
        case .subprotocolNotOffered(let value):
            "the server chose a subprotocol that was not offered: \(value)"
        case .extensionNotOffered(let value):
            "the server chose an extension that was not offered: \(value)"
        case .invalidExtensionParameter(let value):
            "a parameter of a WebSocket extension is not one that can be agreed to: \(value)"
        case .notAnUpgradeRequest:
            "a WebSocket handshake is a GET in HTTP/1.1"
        case .unsupportedVersion(let value):
            "only version 13 of the WebSocket protocol is spoken\(suffix(for: value))"
        case .invalidKey(let value):
            "Sec-WebSocket-Key is not the base64 of 16 bytes\(suffix(for: value))"
        case .reservedBits(let octet):
            "a frame has reserved bits set: its first byte is 0x\(String(octet, radix: 16))"
        case .reservedOpcode(let opcode):
            "a frame has the reserved opcode \(opcode)"
        case .fragmentedControlFrame(let opcode):
            "a control frame (opcode \(opcode)) is fragmented"
        case .controlFrameTooLong(let opcode):
            "a control frame (opcode \(opcode)) has more than 125 bytes"
        case .maskedFrame:
            "the server masked a frame"
        case .unmaskedFrame:
            "the client did not mask a frame"
        case .lengthNotMinimal(let length):
            "a frame's length (\(length)) is written in more bytes than it needs"
        case .lengthOverflow:
            "a frame's length does not fit 63 bits"
        case .continuationWithoutMessage:
            "a continuation frame came, and there is no message to continue"
        case .messageInsideMessage:
            "a message began before the fragmented one before it had ended"
        case .messageTooBig(let limit):
            "a message has more than \(limit) bytes (limit: message bytes)"
        case .invalidUTF8(let offset):
            "text is not UTF-8 at offset \(offset)"
        case .closePayloadTooShort:
            "a close frame has a payload of one byte"
        case .invalidCloseCode(let code):
            "a close frame has the code \(code), which none may have"
        case .invalidCompression:
            "a compressed message cannot be decompressed"
        case .invalidCloseCodeToSend(let code):
            "the close code \(code) cannot be sent"
        case .invalidReasonToSend:
            "a close reason cannot be sent that is not UTF-8"
        }
    }

    /// Returns the end of a description: the received value in place of the required one, or that it is missing.
    private func suffix(for value: Excerpt?) -> String {
        value.map { ", not \($0)" } ?? ", and it is missing"
    }
}
