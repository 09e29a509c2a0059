// SPDX-License-Identifier: MIT

/// The errors of a WebSocket: of its handshake, of the peer's frames, or of a frame to be sent (RFC 6455, RFC 7692).
///
/// Separate from ``HTTPError``, because an endpoint answers an error of this protocol with a close frame, whose code is
/// `closeCode`. Offsets count from the first octet of the message or close frame.
public enum WebSocketError: Error, Hashable, Sendable {
    // MARK: The server's response

    /// The status of the response is not 101.
    case notSwitched(status: Int)
    /// `Upgrade` in the response is not `websocket`; nil if it is absent.
    case invalidUpgrade(Excerpt?)
    /// `Connection` in the response does not contain `upgrade`.
    case connectionWithoutUpgrade
    /// `Sec-WebSocket-Accept` in the response does not match the key: the response is not that of a WebSocket server.
    case invalidAccept(Excerpt?)
    /// The server chose a subprotocol that was not offered, or several.
    case subprotocolNotOffered(Excerpt)
    /// The server chose an extension that was not offered, or one of them twice.
    case extensionNotOffered(Excerpt)
    /// A parameter of an extension is unknown, repeated, has an invalid value, or was not offered.
    case invalidExtensionParameter(Excerpt)

    // MARK: The client's request

    /// The request is not a `GET` in HTTP/1.1.
    case notAnUpgradeRequest
    /// `Sec-WebSocket-Version` is not 13.
    case unsupportedVersion(Excerpt?)
    /// `Sec-WebSocket-Key` is not the base64 of 16 octets.
    case invalidKey(Excerpt?)

    // MARK: The peer's frames

    /// A reserved bit is set that no negotiated extension defines; `octet` is the first one of the frame, which contains the bit.
    case reservedBits(octet: UInt8)
    /// A frame has an opcode that is reserved.
    case reservedOpcode(UInt8)
    /// A control frame is not the last fragment.
    case fragmentedControlFrame(opcode: UInt8)
    /// A control frame has more than 125 octets of payload.
    case controlFrameTooLong(opcode: UInt8)
    /// A server masked a frame.
    case maskedFrame
    /// A client did not mask a frame.
    case unmaskedFrame
    /// A length is encoded in more octets than necessary.
    case lengthNotMinimal(UInt64)
    /// A length does not fit in 63 bits.
    case lengthOverflow
    /// A continuation frame arrived outside of a fragmented message.
    case continuationWithoutMessage
    /// A new message began within a fragmented one.
    case messageInsideMessage
    /// A message is larger than the limit. No octet above the limit was stored.
    case messageTooBig(limit: Int)
    /// Text or a close frame's reason is not UTF-8: the octet at the offset, or the end, is invalid there.
    case invalidUTF8(offset: Int)
    /// A close frame's payload is one octet, too short for a code.
    case closePayloadTooShort
    /// A close frame has a code that is not allowed in a frame.
    case invalidCloseCode(UInt16)
    /// A compressed message cannot be decompressed.
    case invalidCompression

    // MARK: The frame to be sent

    /// The code of a close frame to be sent is not allowed in a frame.
    case invalidCloseCodeToSend(UInt16)
    /// The reason of a close frame to be sent is not UTF-8.
    case invalidReasonToSend

    /// The side that is at fault.
    public var fault: HTTPError.Fault {
        switch self {
        case .invalidCloseCodeToSend, .invalidReasonToSend:
            .local
        case .notSwitched, .invalidUpgrade, .connectionWithoutUpgrade, .invalidAccept, .subprotocolNotOffered,
            .extensionNotOffered, .invalidExtensionParameter, .notAnUpgradeRequest, .unsupportedVersion,
            .invalidKey, .reservedBits, .reservedOpcode, .fragmentedControlFrame, .controlFrameTooLong,
            .maskedFrame, .unmaskedFrame, .lengthNotMinimal, .lengthOverflow, .continuationWithoutMessage,
            .messageInsideMessage, .messageTooBig, .invalidUTF8, .closePayloadTooShort, .invalidCloseCode,
            .invalidCompression:
            .remote
        }
    }

    /// The code of the close frame that answers the error (RFC 6455 §7.4.1).
    package var closeCode: WebSocketCloseCode {
        switch self {
        case .messageTooBig: .messageTooBig
        case .invalidUTF8, .invalidCompression: .invalidPayload
        case .extensionNotOffered, .invalidExtensionParameter: .mandatoryExtension
        case .invalidCloseCodeToSend, .invalidReasonToSend: .internalError
        case .notSwitched, .invalidUpgrade, .connectionWithoutUpgrade, .invalidAccept, .subprotocolNotOffered,
            .notAnUpgradeRequest, .unsupportedVersion, .invalidKey, .reservedBits, .reservedOpcode,
            .fragmentedControlFrame, .controlFrameTooLong, .maskedFrame, .unmaskedFrame, .lengthNotMinimal,
            .lengthOverflow, .continuationWithoutMessage, .messageInsideMessage, .closePayloadTooShort,
            .invalidCloseCode:
            .protocolError
        }
    }
}
