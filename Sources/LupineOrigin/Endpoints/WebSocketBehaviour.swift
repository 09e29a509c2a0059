// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineTLS

/// The behaviour of the origin on one web socket, which echoes messages. The query of the request controls the behaviour.
///
/// `protocols=a,b` and `deflate=1` set the subprotocols and the compression that the origin accepts. After the handshake the
/// origin sends, if requested, in this order:
///
/// 1. a ping with the payload of `ping=text`,
/// 2. a pong with the payload of `pong=text`,
/// 3. `count=n` text messages that contain their numbers (32,768 at most),
/// 4. one binary message of `size=n` octets,
/// 5. the octets of `raw=hex`, without framing,
/// 6. a close frame with the code of `close=code` and the text of `reason=text` (`close=0`: without a code).
///
/// Messages are sent in fragments of `fragment=n` octets. The fragments are larger if a message would otherwise have more than
/// 65,536 of them. After `drop=n` messages the origin closes the connection without a close frame. With `mute=1` the origin does
/// not answer a close frame.
package struct WebSocketBehaviour: Sendable {
    /// The subprotocols that the origin accepts.
    var subprotocols: [String] = []
    /// Whether the origin accepts compression (permessage-deflate, RFC 7692).
    var acceptsCompression = false
    /// The payload of a ping that the origin sends after the handshake; nil for no ping.
    var ping: String?
    /// The payload of a pong that the origin sends after the handshake; nil for no pong.
    var pong: String?
    /// The number of text messages that the origin sends after the handshake.
    var messageCount = 0
    /// The size in octets of a binary message that the origin sends after the handshake; nil for no message.
    var binarySize: Int?
    /// Octets that the origin sends after the handshake without framing.
    var rawOctets: [UInt8] = []
    /// The close frame that the origin sends after these messages and octets; nil for none.
    var closeFrame: WebSocketCloseFrame?
    /// The size in octets of the fragments of sent messages; nil for one frame per message.
    var fragmentSize: Int?
    /// The number of echoed messages after which the origin closes the connection without a close frame; nil for no limit.
    var dropCount: Int?
    /// Whether the origin does not answer a close frame.
    var ignoresCloseFrame = false
    /// The maximum number of octets of a message.
    static let messageLimit = 64 << 20

    /// Reads the behaviour from the query. Refuses invalid arguments.
    init(_ request: OriginRequest) throws(Refusal) {
        let arguments = request.arguments
        subprotocols = (arguments["protocols"] ?? "").split(separator: ",").map(String.init)
        acceptsCompression = arguments["deflate"] == "1"
        ping = try Self.controlPayload(arguments["ping"])
        pong = try Self.controlPayload(arguments["pong"])
        messageCount = min(try request.number(argument: "count") ?? 0, 32_768)
        binarySize = try request.number(argument: "size").map { min($0, Self.messageLimit) }
        if let text = arguments["raw"] {
            guard let octets = Hexadecimal.bytes(text) else { throw .badRequest("not hexadecimal: \(text)") }
            rawOctets = octets
        }
        fragmentSize = try request.number(argument: "fragment").map { max(1, $0) }
        dropCount = try request.number(argument: "drop")
        ignoresCloseFrame = arguments["mute"] == "1"
        if let code = try request.number(argument: "close") {
            closeFrame = try Self.closeFrame(code, arguments["reason"] ?? "")
        }
    }

    /// Returns `text` as the payload of a control frame. Refuses more than 125 octets (RFC 6455 section 5.5).
    private static func controlPayload(_ text: String?) throws(Refusal) -> String? {
        if let text, text.utf8.count > 125 { throw .badRequest("a control frame has 125 octets at most") }
        return text
    }

    /// Returns a close frame; for the code 0, one without code and reason. Refuses an illegal code or reason.
    private static func closeFrame(_ code: Int, _ reason: String) throws(Refusal) -> WebSocketCloseFrame {
        if code == 0 { return .empty }
        do throws(WebSocketError) {
            return try WebSocketCloseFrame(
                WebSocketCloseCode(rawValue: UInt16(clamping: code)), reason: Array(reason.utf8))
        } catch {
            throw .badRequest(error.description)
        }
    }
}
