// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

/// Tests of the opening handshake at the server.
@Suite struct WebSocketServerHandshakeTests {
    static let validFields: [(String, String)] = [
        ("Host", "server.example.com"), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "13"),
    ]

    static func request(
        _ pairs: [(String, String)] = validFields, method: Method = .get, version: HTTPVersion = .http11
    ) throws -> RequestHead {
        var fields = Fields()
        for (name, value) in pairs { try fields.append(FieldName(name), value) }
        return RequestHead(method: method, target: .origin("/chat"), version: version, fields: fields)
    }

    static func replacing(_ name: String, _ values: String...) -> [(String, String)] {
        validFields.filter { $0.0 != name } + values.map { (name, $0) }
    }

    @Test func theExampleOfTheRFC() throws {
        let request = try Self.request(Self.validFields + [("Sec-WebSocket-Protocol", "chat, superchat")])
        let acceptance = try WebSocketServerHandshake(request, subprotocols: ["chat"])
        let response = acceptance.response
        #expect(response.status.code == 101)
        #expect(response.fields[.upgrade] == "websocket")
        #expect(response.fields[.connection] == "Upgrade")
        #expect(response.fields[.secWebSocketAccept] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(response.fields[.secWebSocketProtocol] == "chat")
        #expect(response.fields.count == 4)
        #expect(acceptance.agreement == WebSocketAgreement(subprotocol: "chat"))
    }

    @Test(
        arguments: [
            (["superchat", "chat"], "chat"), (["soap", "superchat"], "superchat"), (["soap"], nil), ([], nil),
        ] as [([String], String?)])
    func theClientsFirstSupportedSubprotocolIsChosen(_ supported: [String], _ chosen: String?) throws {
        let request = try Self.request(Self.replacing("Sec-WebSocket-Protocol", "chat", "superchat, other"))
        #expect(
            try WebSocketServerHandshake(request, subprotocols: supported).agreement.subprotocol == chosen)
    }

    @Test func fieldsMayListOtherValues() throws {
        let request = try Self.request(
            Self.replacing("Connection", "keep-alive, Upgrade").filter { $0.0 != "Upgrade" }
                + [("Upgrade", "h2c, WebSocket")])
        #expect(try WebSocketServerHandshake(request).response.status.code == 101)
    }

    static let refused: [(String, [(String, String)], WebSocketError, Int)] = [
        ("no Upgrade", replacing("Upgrade"), .invalidUpgrade(nil), 400),
        ("another Upgrade", replacing("Upgrade", "h2c"), .invalidUpgrade(quoted("h2c")), 400),
        ("no Connection", replacing("Connection"), .connectionWithoutUpgrade, 400),
        ("no key", replacing("Sec-WebSocket-Key"), .invalidKey(nil), 400),
        ("a short key", replacing("Sec-WebSocket-Key", "YQ=="), .invalidKey(quoted("YQ==")), 400),
        (
            "two keys",
            replacing("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ=="),
            .invalidKey(quoted("dGhlIHNhbXBsZSBub25jZQ==")), 400
        ),
        ("no version", replacing("Sec-WebSocket-Version"), .unsupportedVersion(nil), 426),
        ("an old version", replacing("Sec-WebSocket-Version", "8"), .unsupportedVersion(quoted("8")), 426),
    ]

    static func quoted(_ text: String) -> Excerpt { Excerpt(text) }

    @Test(arguments: refused.indices) func isRefused(_ index: Int) throws {
        let (title, pairs, error, status) = Self.refused[index]
        let request = try Self.request(pairs)
        #expect(throws: error, "\(title)") { try WebSocketServerHandshake(request).agreement }
        let refusal = WebSocketServerHandshake.refusal(error)
        #expect(refusal.status.code == UInt16(status))
        #expect(refusal.fields[.secWebSocketVersion] == (status == 426 ? "13" : nil))
    }

    @Test func onlyGetInHTTP11IsAccepted() throws {
        for request in [try Self.request(method: .post), try Self.request(version: .http10)] {
            #expect(throws: WebSocketError.notAnUpgradeRequest) {
                try WebSocketServerHandshake(request).agreement
            }
        }
    }

    @Test(
        arguments: [
            ("permessage-deflate", DeflateAgreement(), "permessage-deflate"),
            ("permessage-deflate; client_max_window_bits", DeflateAgreement(), "permessage-deflate"),
            (
                "permessage-deflate; client_max_window_bits=9", DeflateAgreement(clientMaxWindowBits: 9),
                "permessage-deflate; client_max_window_bits=9"
            ),
            (
                "PERMESSAGE-DEFLATE; server_max_window_bits=10; server_no_context_takeover",
                DeflateAgreement(serverNoContextTakeover: true, serverMaxWindowBits: 10),
                "permessage-deflate; server_no_context_takeover; server_max_window_bits=10"
            ),
            (
                "permessage-deflate; client_no_context_takeover",
                DeflateAgreement(clientNoContextTakeover: true),
                "permessage-deflate; client_no_context_takeover"
            ),
            (
                "foo, permessage-deflate; server_max_window_bits=8, permessage-deflate; server_max_window_bits=\"9\"",
                DeflateAgreement(serverMaxWindowBits: 9), "permessage-deflate; server_max_window_bits=9"
            ),
            ("permessage-deflate; server_max_window_bits", nil, nil),
            ("permessage-deflate; unknown", nil, nil),
            ("permessage-deflate; server_max_window_bits=16", nil, nil),
            ("permessage-deflate; server_max_window_bits=09", nil, nil),
            ("permessage-deflate; client_max_window_bits=7", nil, nil),
            ("permessage-deflate; client_no_context_takeover=1", nil, nil),
            ("permessage-deflate; client_no_context_takeover; client_no_context_takeover", nil, nil),
            ("foo", nil, nil), ("", nil, nil),
        ] as [(String, DeflateAgreement?, String?)])
    func offersOfCompression(_ offer: String, _ agreed: DeflateAgreement?, _ answer: String?) throws {
        let request = try Self.request(Self.validFields + [("Sec-WebSocket-Extensions", offer)])
        let acceptance = try WebSocketServerHandshake(request, allowsCompression: true)
        #expect(acceptance.agreement.deflate == agreed)
        #expect(acceptance.response.fields[.secWebSocketExtensions] == answer)
        #expect(try WebSocketServerHandshake(request).agreement.deflate == nil)
    }
}
