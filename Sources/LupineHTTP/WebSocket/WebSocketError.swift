// SPDX-License-Identifier: MIT

/// The errors of a WebSocket: of its handshake, of the peer's frames, or of a frame to be sent (RFC 6455, RFC 7692).
///
/// Errors of WebSocket are not cases of ``HTTPError``, because an endpoint answers them with a close frame. Offsets count from
/// the first octet of the message, or of the payload of the close frame.
public enum WebSocketError: Error, Hashable, Sendable {
    // MARK: Errors in the server's response

    /// The status of the response is not 101, or, over HTTP/2, not 2xx.
    case notSwitched(status: Int)
    /// `Upgrade` in the request or the response is not `websocket`; nil if it is absent.
    case invalidUpgrade(Excerpt?)
    /// `Connection` in the request or the response does not contain `upgrade`.
    case connectionWithoutUpgrade
    /// `Sec-WebSocket-Accept` in the response does not match the key, or is absent (nil): the response is not that of a WebSocket
    /// server.
    case invalidAccept(Excerpt?)
    /// The server chose a subprotocol that the client did not offer, or several.
    case subprotocolNotOffered(Excerpt)
    /// The server chose an extension that the client did not offer, or the same one twice.
    case extensionNotOffered(Excerpt)
    /// A parameter of an extension is unknown or repeated, has an invalid value, or does not fit the client's offer.
    case invalidExtensionParameter(Excerpt)

    // MARK: Errors in the client's request

    /// The request is not a `GET` in HTTP/1.1.
    case notAnUpgradeRequest
    /// `Sec-WebSocket-Version` is not 13; nil if it is absent.
    case unsupportedVersion(Excerpt?)
    /// `Sec-WebSocket-Key` is not the base64 of 16 octets, or occurs more than once; nil if it is absent.
    case invalidKey(Excerpt?)

    // MARK: Errors in the peer's frames

    /// A reserved bit is set that no negotiated extension defines. `octet` is the first octet of the frame, which contains the
    /// bit.
    case reservedBits(octet: UInt8)
    /// A frame has an opcode that is reserved.
    case reservedOpcode(UInt8)
    /// A control frame is fragmented: it is not marked as the last fragment.
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
    /// The text of a message or the reason of a close frame is not UTF-8. The octet at the offset is invalid, or the text ends
    /// there within a character.
    case invalidUTF8(offset: Int)
    /// A close frame's payload is one octet, too short for a code.
    case closePayloadTooShort
    /// A close frame has a code that is not allowed in a frame.
    case invalidCloseCode(UInt16)
    /// A compressed message cannot be decompressed.
    case invalidCompression

    // MARK: Errors in the frame to be sent

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

    /// The code of the close frame with which an endpoint answers the error (RFC 6455 §7.4.1).
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
