// SPDX-License-Identifier: MIT

/// The status code of a close frame (RFC 6455 §7.4).
package struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The purpose of the connection is fulfilled.
    package static let normal = WebSocketCloseCode(rawValue: 1000)
    /// The sender goes away: a server shuts down, or a user leaves a web page.
    package static let goingAway = WebSocketCloseCode(rawValue: 1001)
    /// The sender's peer violated the protocol.
    package static let protocolError = WebSocketCloseCode(rawValue: 1002)
    /// The sender received a type of data that it does not accept.
    package static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
    /// The sender received data that does not match its type, such as text that is not UTF-8.
    package static let invalidPayload = WebSocketCloseCode(rawValue: 1007)
    /// The sender refused a message for a reason that has no other code.
    package static let policyViolation = WebSocketCloseCode(rawValue: 1008)
    /// The sender received a message that is larger than it accepts.
    package static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
    /// The client requires an extension to which the server did not agree.
    package static let mandatoryExtension = WebSocketCloseCode(rawValue: 1010)
    /// The server met an unexpected condition, which prevents it from continuing.
    package static let internalError = WebSocketCloseCode(rawValue: 1011)

    /// Whether a close frame may contain the code (§7.4.1, §7.4.2, and IANA's registry for 1012 to 1014).
    ///
    /// An API reports 1005 for a close frame without a code, 1006 for a connection without a close frame, and 1015 for a TLS
    /// failure: none of these is sent. 1004 and all other codes below 3000 are reserved.
    package var isAllowedInFrames: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
