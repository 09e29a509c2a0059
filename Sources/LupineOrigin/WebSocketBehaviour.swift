// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// How the origin behaves on one web socket: it echoes, and begins or ends as the query asks.
///
/// `protocols=a,b` and `deflate=1` say what is agreed to. At the beginning it sends what is asked for, in this order:
/// `ping=text`, `pong=text`, `count=n` messages of text with their numbers (32,768 at most), one binary message of
/// `size=n` octets, `raw=hex` as it is, and a close frame with `close=code` and `reason=text` (`close=0`: without a code).
/// Echoes come in fragments of `fragment=n` octets, and of more where a message would be over 65,536 of them. After
/// `drop=n` messages the connection ends without a word. With `mute=1` a close frame is not answered.
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
    var isMute = false
    /// Most octets of a message that is echoed.
    static let messageLimit = 64 << 20

    /// What the query asks for.
    init(_ request: OriginRequest) throws(Refusal) {
        let arguments = request.arguments
        subprotocols = (arguments["protocols"] ?? "").split(separator: ",").map(String.init)
        deflates = arguments["deflate"] == "1"
        ping = try Self.control(arguments["ping"])
        pong = try Self.control(arguments["pong"])
        count = min(try request.number(argument: "count") ?? 0, 32_768)
        size = try request.number(argument: "size").map { min($0, Self.messageLimit) }
        if let text = arguments["raw"] {
            guard let octets = Hexadecimal.octets(text) else { throw .badRequest("not hexadecimal: \(text)") }
            raw = octets
        }
        fragment = try request.number(argument: "fragment").map { max(1, $0) }
        drop = try request.number(argument: "drop")
        isMute = arguments["mute"] == "1"
        if let code = try request.number(argument: "close") {
            closure = try Self.closure(code, arguments["reason"] ?? "")
        }
    }

    /// The text of a control frame, which is short (RFC 6455 section 5.5).
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
