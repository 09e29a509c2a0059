// SPDX-License-Identifier: MIT

/// Everything that can be wrong with a WebSocket: in its handshake, in the peer's frames, or in what we were asked to
/// send (RFC 6455, RFC 7692).
///
/// It stands beside ``HTTPError`` because it speaks of another protocol, in which a fault is answered on the wire: by a
/// close frame, whose code `closeCode` gives. Offsets count from the first octet of the message or close frame.
public enum WebSocketError: Error, Hashable, Sendable {
    // MARK: the server's answer

    /// The answer has another status than 101.
    case notSwitched(status: Int)
    /// The answer's `Upgrade` is not `websocket`; nil when it has none.
    case invalidUpgrade(Excerpt?)
    /// The answer's `Connection` does not say `upgrade`.
    case connectionWithoutUpgrade
    /// The answer's `Sec-WebSocket-Accept` is not the one that belongs to the key: no WebSocket server wrote it.
    case invalidAccept(Excerpt?)
    /// The server chose a subprotocol that was not offered, or several.
    case subprotocolNotOffered(Excerpt)
    /// The server chose an extension that was not offered, or one of them twice.
    case extensionNotOffered(Excerpt)
    /// A parameter of an extension is unknown, repeated, has a value that it may not have, or was not asked for.
    case invalidExtensionParameter(Excerpt)

    // MARK: the client's request

    /// The request is no `GET` in HTTP/1.1.
    case notAnUpgradeRequest
    /// `Sec-WebSocket-Version` is not 13.
    case unsupportedVersion(Excerpt?)
    /// `Sec-WebSocket-Key` is not the base64 of 16 octets.
    case invalidKey(Excerpt?)

    // MARK: the peer's frames

    /// A reserved bit is set that no extension gave a meaning to; the octet holds it.
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
    /// A length is written in more octets than it needs.
    case lengthNotMinimal(UInt64)
    /// A length does not fit 63 bits.
    case lengthOverflow
    /// A continuation came where no message is to be continued.
    case continuationWithoutMessage
    /// A new message began in the middle of a fragmented one.
    case messageInsideMessage
    /// A message is larger than is taken. No octet above the limit was kept.
    case messageTooBig(limit: Int)
    /// Text or a close frame's reason is not UTF-8: the octet at the offset cannot stand there, or the end cannot.
    case invalidUTF8(offset: Int)
    /// A close frame's payload has one octet: too little for a code.
    case closePayloadTooShort
    /// A close frame has a code that may not stand on the wire.
    case invalidCloseCode(UInt16)
    /// A compressed message cannot be decompressed.
    case invalidCompression

    // MARK: our side

    /// A code was to be sent that may not stand on the wire.
    case invalidCloseCodeToSend(UInt16)
    /// A reason was to be sent that is not UTF-8.
    case invalidReasonToSend

    /// Whose mistake it is.
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

    /// The code with which the connection is closed for it (RFC 6455 §7.4.1).
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
