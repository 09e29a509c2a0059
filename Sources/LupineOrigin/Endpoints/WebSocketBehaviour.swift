// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineTLS

/// How the origin behaves on one web socket: it echoes messages, and the query controls how it begins and ends.
///
/// `protocols=a,b` and `deflate=1` set the subprotocols and the compression that it accepts. At the beginning it sends, if
/// requested, in this order: `ping=text`, `pong=text`, `count=n` text messages that contain their numbers (32,768 at most), one
/// binary message of `size=n` octets, the octets of `raw=hex`, and a close frame with `close=code` and `reason=text` (`close=0`:
/// without a code). Echoes are sent in fragments of `fragment=n` octets, or larger ones if a message would have more than
/// 65,536 of them. After `drop=n` messages the connection is closed without a close frame. With `mute=1` a close frame is not
/// answered.
package struct WebSocketBehaviour: Sendable {
    var subprotocols: [String] = []
    var deflates = false
    var ping: String?
    var pong: String?
    var count = 0
    var size: Int?
    var raw: [UInt8] = []
    var closure: WebSocketClosure?
    var fragment: Int?
    var drop: Int?
    var ignoresCloseFrame = false
    /// The maximum number of octets of a message.
    static let messageLimit = 64 << 20

    /// Reads the behaviour from the query. Refuses invalid arguments.
    init(_ request: OriginRequest) throws(Refusal) {
        let arguments = request.arguments
        subprotocols = (arguments["protocols"] ?? "").split(separator: ",").map(String.init)
        deflates = arguments["deflate"] == "1"
        ping = try Self.control(arguments["ping"])
        pong = try Self.control(arguments["pong"])
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

    /// Returns the text of a control frame. Refuses more than 125 octets (RFC 6455 section 5.5).
    private static func control(_ text: String?) throws(Refusal) -> String? {
        if let text, text.utf8.count > 125 { throw .badRequest("a control frame has 125 octets at most") }
        return text
    }

    private static func closure(_ code: Int, _ reason: String) throws(Refusal) -> WebSocketClosure {
        if code == 0 { return .empty }
        do throws(WebSocketError) {
            return try WebSocketClosure(
                WebSocketCloseCode(rawValue: UInt16(clamping: code)), reason: Array(reason.utf8))
        } catch {
            throw .badRequest(error.description)
        }
    }
}
