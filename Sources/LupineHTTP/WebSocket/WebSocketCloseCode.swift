// SPDX-License-Identifier: MIT

/// The reason code of a close frame (RFC 6455 §7.4).
package struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The connection has fulfilled its purpose.
    package static let normal = WebSocketCloseCode(rawValue: 1000)
    /// The peer goes away: a server shuts down, a page is left.
    package static let goingAway = WebSocketCloseCode(rawValue: 1001)
    /// The peer violated the protocol.
    package static let protocolError = WebSocketCloseCode(rawValue: 1002)
    /// A type of data arrived that the peer does not accept.
    package static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
    /// Data arrived that does not match its type, such as text that is not UTF-8.
    package static let invalidPayload = WebSocketCloseCode(rawValue: 1007)
    /// A message was refused for a reason that has no other code.
    package static let policyViolation = WebSocketCloseCode(rawValue: 1008)
    /// A message was larger than the peer accepts.
    package static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
    /// The server did not agree to an extension that the client requires.
    package static let mandatoryExtension = WebSocketCloseCode(rawValue: 1010)
    /// The server met an unexpected condition.
    package static let internalError = WebSocketCloseCode(rawValue: 1011)

    /// Whether a close frame may contain the code (§7.4.1, §7.4.2, and IANA's registry for 1012 to 1014).
    ///
    /// 1005 (no code was received), 1006 (no close frame was received) and 1015 (TLS failed) are only for APIs. 1004 and all
    /// others below 3000 are reserved.
    package var isAllowedInFrames: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
