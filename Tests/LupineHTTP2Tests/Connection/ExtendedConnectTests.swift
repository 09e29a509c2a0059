// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// Tests of WebSockets on HTTP/2 streams (RFC 8441), at both ends.
@Suite struct ExtendedConnectTests {
    typealias Wire = WireFrames

    static let fields = [
        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", "/chat"),
        (":authority", "a"),
    ]

    /// A server that has sent SETTINGS_ENABLE_CONNECT_PROTOCOL.
    static let server: MachineSession = {
        var settings = HTTP2Settings()
        settings.enableConnectProtocol = true
        return MachineSession.opened(.server, settings: settings)
    }()

    /// A client that has requested a WebSocket on stream 1.
    static let client: MachineSession = {
        var session = MachineSession.opened(.client)
        _ = try? session.machine.open(session.list(fields), method: .connect, endsStream: false)
        _ = session.sent()
        return session
    }()

    static func without(_ name: String) -> [(String, String)] { fields.filter { $0.0 != name } }

    static let rows: [MachineRow] = [
        MachineRow(
            "[H-8.12, H-13.1] a client's content and its end", server,
            Wire.headers(1, fields) + Wire.data(1, "Hel") + Wire.data(1, "lo") + Wire.data(1, end: true),
            "request 1 CONNECT /chat", "content 1 'Hello'", "end 1"),
        MachineRow(
            "[H-13.5] a client's reset", server, Wire.headers(1, fields) + Wire.data(1, "x") + Wire.reset(1),
            "request 1 CONNECT /chat", "content 1 'x'", "reset 1 CANCEL"),
        MachineRow(
            "[H-8.11] trailers after the content", server,
            Wire.headers(1, fields) + Wire.headers(1, [("a", "b")], end: true), "request 1 CONNECT /chat",
            "failed 1 PROTOCOL_ERROR: \(MessageError.misplacedHeaders)", "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-8.12] a protocol that was not allowed", MachineSession.opened(.server),
            Wire.headers(1, fields),
            "failed 1 PROTOCOL_ERROR: \(MessageError.unexpectedPseudoField(Excerpt(":protocol")))",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-8.12] no scheme", server, Wire.headers(1, without(":scheme")),
            "failed 1 PROTOCOL_ERROR: \(MessageError.missingPseudoField(":scheme"))",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-8.12] no path", server, Wire.headers(1, without(":path")),
            "failed 1 PROTOCOL_ERROR: \(MessageError.missingPseudoField(":path"))",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-8.12] no authority", server, Wire.headers(1, without(":authority")),
            "failed 1 PROTOCOL_ERROR: \(MessageError.missingPseudoField(":authority"))",
            "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-13.2, H-13.5] a server's content and its end", client,
            Wire.response(1) + Wire.data(1, "Hi") + Wire.data(1, end: true), "response 1 200",
            "content 1 'Hi'", "end 1"),
        MachineRow(
            "[H-13.2] another 2xx status, whose content length is ignored", client,
            Wire.response(1, 204, [("content-length", "1")]) + Wire.data(1, "Hi", end: true),
            "response 1 204", "content 1 'Hi'", "end 1"),
        MachineRow(
            "[H-8.16] 101", client, Wire.response(1, 101),
            "failed 1 PROTOCOL_ERROR: \(MessageError.switchingProtocols)", "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "[H-8.11] a server's trailers after its content", client,
            Wire.response(1) + Wire.headers(1, [("a", "b")], end: true), "response 1 200",
            "failed 1 PROTOCOL_ERROR: \(MessageError.misplacedHeaders)", "sent RST_STREAM 1 PROTOCOL_ERROR"),
        MachineRow(
            "a refusal is an ordinary response", client,
            Wire.response(1, 403, [("content-length", "2")]) + Wire.data(1, "no", end: true),
            "response 1 403", "content 1 'no'", "end 1"),
        MachineRow("[H-13.5] a refused stream", client, Wire.reset(1, 7), "reset 1 REFUSED_STREAM"),
    ]

    @Test(arguments: rows) func events(_ row: MachineRow) { row.check() }

    @Test("[H-13.1, H-13.2] a handshake's head is sent as an extended CONNECT") func request() throws {
        var fields = Fields()
        for (name, value) in [
            ("Host", "a.example"), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
            ("Sec-WebSocket-Key", "x"), ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Protocol", "chat"),
        ] { try fields.append(FieldName(name), value) }
        let head = RequestHead(method: .get, target: .origin("/chat?a"), fields: fields)
        let list = try MessageEncoder.webSocket(head, scheme: "https")
        #expect(
            Lists.lines(list) == [
                ":method: CONNECT", ":protocol: websocket", ":scheme: https", ":authority: a.example",
                ":path: /chat?a", "sec-websocket-version: 13", "sec-websocket-protocol: chat",
            ])
        let request = try MessageDecoder.request(list, allowsProtocol: true)
        #expect(request.protocol == "websocket" && request.head.method == .connect)
        var asterisk = head
        asterisk.target = .asterisk
        asterisk.method = .options
        #expect(throws: HTTPError.invalidTarget(Excerpt("*"))) {
            try MessageEncoder.webSocket(asterisk, scheme: "https")
        }
    }
}
