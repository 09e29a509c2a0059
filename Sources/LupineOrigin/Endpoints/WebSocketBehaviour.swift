// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineTLS

/// The behaviour of the origin on one web socket, which echoes messages. The query of the request controls it.
///
/// `protocols=a,b` and `deflate=1` set the subprotocols and the compression that the origin accepts. After the handshake the
/// origin sends, if requested, in this order: `ping=text`, `pong=text`, `count=n` text messages that contain their numbers
/// (32,768 at most), one binary message of `size=n` octets, the octets of `raw=hex`, and a close frame with `close=code` and
/// `reason=text` (`close=0`: without a code). Echoes are sent in fragments of `fragment=n` octets, or larger ones if a message
/// would have more than 65,536 of them. After `drop=n` messages the connection is closed without a close frame. With `mute=1` a
/// close frame is not answered.
package struct WebSocketBehaviour: Sendable {
    var subprotocols: [String] = []
    var deflates = false
    /// The payloads of a ping and a pong that are sent first.
    var ping: String?
    var pong: String?
    /// The number of text messages that are sent first.
    var count = 0
    /// The size of a binary message that is sent first.
    var size: Int?
    /// Octets that are sent first, without being framed.
    var raw: [UInt8] = []
    /// The close frame that is sent after the first messages.
    var closure: WebSocketCloseFrame?
    /// The size of the fragments of echoes; nil for one frame per message.
    var fragment: Int?
    /// The number of echoed messages after which the connection is closed without a close frame.
    var drop: Int?
    var ignoresCloseFrame = false
    /// The maximum number of octets of a message.
    static let messageLimit = 64 << 20

    /// Reads the behaviour from the query. Refuses invalid arguments.
    init(_ request: OriginRequest) throws(Refusal) {
        let arguments = request.arguments
        subprotocols = (arguments["protocols"] ?? "").split(separator: ",").map(String.init)
        deflates = arguments["deflate"] == "1"
        ping = try Self.controlPayload(arguments["ping"])
        pong = try Self.controlPayload(arguments["pong"])
        count = min(try request.number(argument: "count") ?? 0, 32_768)
        size = try request.number(argument: "size").map { min($0, Self.messageLimit) }
        if let text = arguments["raw"] {
            guard let octets = Hexadecimal.bytes(text) else { throw .badRequest("not hexadecimal: \(text)") }
            raw = octets
        }
        fragment = try request.number(argument: "fragment").map { max(1, $0) }
        drop = try request.number(argument: "drop")
        ignoresCloseFrame = arguments["mute"] == "1"
        if let code = try request.number(argument: "close") {
            closure = try Self.closure(code, arguments["reason"] ?? "")
        }
    }

    /// Returns `text` as the payload of a control frame. Refuses more than 125 octets (RFC 6455 section 5.5).
    private static func controlPayload(_ text: String?) throws(Refusal) -> String? {
        if let text, text.utf8.count > 125 { throw .badRequest("a control frame has 125 octets at most") }
        return text
    }

    private static func closure(_ code: Int, _ reason: String) throws(Refusal) -> WebSocketCloseFrame {
        if code == 0 { return .empty }
        do throws(WebSocketError) {
            return try WebSocketCloseFrame(
                WebSocketCloseCode(rawValue: UInt16(clamping: code)), reason: Array(reason.utf8))
        } catch {
            throw .badRequest(error.description)
        }
    }
}
