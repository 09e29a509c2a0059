// SPDX-License-Identifier: MIT

/// Why a WebSocket connection is closed, as the close frame says it (RFC 6455 §7.4).
package struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// What the connection was for is done.
    package static let normal = WebSocketCloseCode(rawValue: 1000)
    /// The peer leaves: a server goes down, a page is left.
    package static let goingAway = WebSocketCloseCode(rawValue: 1001)
    /// The protocol was broken.
    package static let protocolError = WebSocketCloseCode(rawValue: 1002)
    /// A kind of data came that the peer cannot take.
    package static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
    /// Data came that is not what its kind says, such as text that is not UTF-8.
    package static let invalidPayload = WebSocketCloseCode(rawValue: 1007)
    /// A message was refused for a reason that has no code of its own.
    package static let policyViolation = WebSocketCloseCode(rawValue: 1008)
    /// A message was larger than the peer takes.
    package static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
    /// The server did not agree to an extension that the client needs.
    package static let mandatoryExtension = WebSocketCloseCode(rawValue: 1010)
    /// The server cannot go on.
    package static let internalError = WebSocketCloseCode(rawValue: 1011)

    /// Whether a close frame may carry the code (§7.4.1, §7.4.2, and IANA's registry for 1012 to 1014).
    ///
    /// 1005, 1006 and 1015 stand for what no frame said: that there was no code, no close frame, no TLS. 1004 and all
    /// others below 3000 are reserved.
    package var mayStandOnTheWire: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
