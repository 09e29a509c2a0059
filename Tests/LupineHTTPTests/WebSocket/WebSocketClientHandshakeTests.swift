// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

/// Tests of the opening handshake at the client: the request, and the responses that are accepted.
@Suite struct WebSocketClientHandshakeTests {
    /// RFC 6455 §1.3: the octets of the key are those of "the sample nonce".
    static let key = WebSocketKey(0x7468_6520_7361_6D70, 0x6C65_206E_6F6E_6365)
    static let validFields: [(String, String)] = [
        ("Upgrade", "websocket"), ("Connection", "Upgrade"),
        ("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
    ]

    static func fields(_ pairs: [(String, String)]) throws -> Fields {
        var fields = Fields()
        for (name, value) in pairs { try fields.append(FieldName(name), value) }
        return fields
    }

    struct Row: CustomTestStringConvertible {
        let title: String
        var status = 101
        var offered: String?
        var deflate: DeflateOffer?
        var answer = validFields
        let expected: Result<WebSocketAgreement, WebSocketError>

        var testDescription: String { title }
    }

    static func without(_ name: String, _ replacements: [(String, String)] = []) -> [(String, String)] {
        validFields.filter { $0.0 != name } + replacements
    }

    static let rows: [Row] = [
        Row(title: "[U-8.2] the example of the RFC", expected: .success(WebSocketAgreement())),
        Row(
            title: "names and tokens in any mix of cases",
            answer: [
                ("upgrade", "WebSocket"), ("CONNECTION", "keep-alive, UPGRADE"),
                ("sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
            ], expected: .success(WebSocketAgreement())),
        Row(title: "another status", status: 200, expected: .failure(.notSwitched(status: 200))),
        Row(
            title: "a refusal", status: 403, answer: [], expected: .failure(.notSwitched(status: 403))
        ),
        Row(title: "no Upgrade", answer: without("Upgrade"), expected: .failure(.invalidUpgrade(nil))),
        Row(
            title: "another protocol", answer: without("Upgrade", [("Upgrade", "h2c")]),
            expected: .failure(.invalidUpgrade(Excerpt("h2c")))),
        Row(
            title: "two protocols", answer: without("Upgrade", [("Upgrade", "websocket, h2c")]),
            expected: .failure(.invalidUpgrade(Excerpt("websocket, h2c")))),
        Row(
            title: "no Connection", answer: without("Connection"),
            expected: .failure(.connectionWithoutUpgrade)),
        Row(
            title: "a Connection for something else",
            answer: without("Connection", [("Connection", "close, upgraded")]),
            expected: .failure(.connectionWithoutUpgrade)),
        Row(
            title: "no Accept", answer: without("Sec-WebSocket-Accept"),
            expected: .failure(.invalidAccept(nil))),
        Row(
            title: "[U-8.2] the Accept of another key",
            answer: without(
                "Sec-WebSocket-Accept", [("Sec-WebSocket-Accept", "HSmrc0sMlYUkAGmm5OPpG2HaGWk=")]),
            expected: .failure(.invalidAccept(Excerpt("HSmrc0sMlYUkAGmm5OPpG2HaGWk=")))),
        Row(
            title: "an Accept in lowercase",
            answer: without(
                "Sec-WebSocket-Accept", [("Sec-WebSocket-Accept", "s3pplmbitxaq9kygzzhzrbk+xoo=")]),
            expected: .failure(.invalidAccept(Excerpt("s3pplmbitxaq9kygzzhzrbk+xoo=")))),
        Row(
            title: "two Accepts",
            answer: validFields + [("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")],
            expected: .failure(.invalidAccept(Excerpt("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")))),
        Row(
            title: "[U-8.2] one of the subprotocols offered", offered: "chat, superchat",
            answer: validFields + [("Sec-WebSocket-Protocol", "superchat")],
            expected: .success(WebSocketAgreement(subprotocol: "superchat"))),
        Row(
            title: "[U-8.2] none of the subprotocols offered", offered: "chat, superchat",
            expected: .success(WebSocketAgreement())),
        Row(
            title: "[U-8.2] a subprotocol that was not offered", offered: "chat, superchat",
            answer: validFields + [("Sec-WebSocket-Protocol", "soap")],
            expected: .failure(.subprotocolNotOffered(Excerpt("soap")))),
        Row(
            title: "a subprotocol where none was offered",
            answer: validFields + [("Sec-WebSocket-Protocol", "chat")],
            expected: .failure(.subprotocolNotOffered(Excerpt("chat")))),
        Row(
            title: "a subprotocol in another case", offered: "chat",
            answer: validFields + [("Sec-WebSocket-Protocol", "Chat")],
            expected: .failure(.subprotocolNotOffered(Excerpt("Chat")))),
        Row(
            title: "several subprotocols", offered: "chat, superchat",
            answer: validFields + [
                ("Sec-WebSocket-Protocol", "chat"), ("Sec-WebSocket-Protocol", "superchat"),
            ],
            expected: .failure(.subprotocolNotOffered(Excerpt("chat, superchat")))),
        Row(
            title: "an extension where none was offered",
            answer: validFields + [("Sec-WebSocket-Extensions", "permessage-deflate")],
            expected: .failure(.extensionNotOffered(Excerpt("permessage-deflate")))),
        Row(
            title: "another extension than the one offered", deflate: DeflateOffer(),
            answer: validFields + [("Sec-WebSocket-Extensions", "x-webkit-deflate-frame")],
            expected: .failure(.extensionNotOffered(Excerpt("x-webkit-deflate-frame")))),
        Row(
            title: "the extension offered, twice", deflate: DeflateOffer(),
            answer: validFields + [
                ("Sec-WebSocket-Extensions", "permessage-deflate, permessage-deflate;a=1")
            ],
            expected: .failure(.extensionNotOffered(Excerpt("permessage-deflate;a=1")))),
        Row(
            title: "the extension that was offered", deflate: DeflateOffer(),
            answer: validFields + [("Sec-WebSocket-Extensions", "permessage-deflate")],
            expected: .success(WebSocketAgreement(deflate: DeflateAgreement()))),
        Row(
            title: "an extension that is offered and not accepted", deflate: DeflateOffer(),
            expected: .success(WebSocketAgreement())),
        Row(
            title: "an empty list of extensions", answer: validFields + [("Sec-WebSocket-Extensions", " , ")],
            expected: .success(WebSocketAgreement())),
    ]

    @Test(arguments: rows) func responsesAreAcceptedOrRefused(_ row: Row) throws {
        var handshake = WebSocketClientHandshake(Self.key, deflate: row.deflate)
        var request = Fields()
        if let offered = row.offered { try request.append(.secWebSocketProtocol, offered) }
        try handshake.prepare(&request)
        let head = ResponseHead(status: Status(row.status), fields: try Self.fields(row.answer))
        let result = Result { () throws(WebSocketError) in try handshake.agreement(head) }
        #expect(result == row.expected)
    }

    @Test func requestFields() throws {
        var handshake = WebSocketClientHandshake(Self.key)
        var fields = try Self.fields([
            ("Origin", "http://example.com"), ("Sec-WebSocket-Protocol", "chat, superchat"),
            ("Connection", "close"), ("Sec-WebSocket-Extensions", "foo"), ("Sec-WebSocket-Key", "mine"),
        ])
        try handshake.prepare(&fields)
        let expected = try Self.fields([
            ("Origin", "http://example.com"), ("Sec-WebSocket-Protocol", "chat, superchat"),
            ("Connection", "Upgrade"), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
        ])
        #expect(
            Self.lines(fields) == Self.lines(expected), "the caller's extensions are not offered")
    }

    @Test func compressionIsOfferedIfConfigured() throws {
        var handshake = WebSocketClientHandshake(Self.key, deflate: DeflateOffer())
        var fields = Fields()
        try handshake.prepare(&fields)
        #expect(fields.values(of: .secWebSocketExtensions) == ["permessage-deflate; client_max_window_bits"])
    }

    @Test func clientAndServerAgree() throws {
        var handshake = WebSocketClientHandshake(WebSocketKey(1, .max), deflate: DeflateOffer())
        var fields = try Self.fields([("Host", "a"), ("Sec-WebSocket-Protocol", "a, b")])
        try handshake.prepare(&fields)
        let request = RequestHead(method: .get, target: .origin("/"), fields: fields)
        let acceptance = try WebSocketServerHandshake(
            request, subprotocols: ["c", "b"], allowsCompression: true)
        let expected = WebSocketAgreement(subprotocol: "b", deflate: DeflateAgreement())
        #expect(acceptance.agreement == expected)
        #expect(try handshake.agreement(acceptance.response) == expected)
    }

    static func lines(_ fields: Fields) -> Set<String> {
        Set((0..<fields.count).map { "\(fields.name(at: $0)): \(fields.value(at: $0))" })
    }
}
