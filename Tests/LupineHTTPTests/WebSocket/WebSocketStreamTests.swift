// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

/// Tests of the opening handshake on an HTTP/2 stream (RFC 8441 §5), at both ends.
@Suite struct WebSocketStreamTests {
    private func agreement(
        _ status: Int, _ answer: [(String, String)] = [], deflate: DeflateOffer? = nil
    ) throws -> Result<WebSocketAgreement, WebSocketError> {
        var handshake = WebSocketClientHandshake(WebSocketClientHandshakeTests.key, deflate: deflate)
        var requestFields = Fields()
        try requestFields.append(.secWebSocketProtocol, "chat")
        try handshake.prepare(&requestFields)
        let head = ResponseHead(
            version: .http2, status: Status(status), fields: try WebSocketClientHandshakeTests.fields(answer))
        return Result { () throws(WebSocketError) in try handshake.agreement(head) }
    }

    @Test(
        "[H-13.2] a 2xx response without a key opens a WebSocket, if it accepts nothing that was not offered"
    ) func responses() throws {
        #expect(try agreement(200) == .success(WebSocketAgreement()))
        #expect(try agreement(299) == .success(WebSocketAgreement()))
        for status in [101, 199, 300, 404] {
            #expect(try agreement(status) == .failure(.notSwitched(status: status)))
        }
        #expect(
            try agreement(200, [("sec-websocket-protocol", "chat")])
                == .success(WebSocketAgreement(subprotocol: "chat")))
        #expect(
            try agreement(200, [("sec-websocket-protocol", "soap")])
                == .failure(.subprotocolNotOffered(Excerpt("soap"))))
        #expect(
            try agreement(200, [("sec-websocket-extensions", "permessage-deflate")])
                == .failure(.extensionNotOffered(Excerpt("permessage-deflate"))))
        #expect(
            try agreement(200, [("sec-websocket-extensions", "permessage-deflate")], deflate: DeflateOffer())
                == .success(WebSocketAgreement(deflate: DeflateAgreement())))
    }

    @Test("[H-13.2] a server answers with 200, and neither requires a key nor sends Sec-WebSocket-Accept")
    func acceptance()
        throws
    {
        let request = try WebSocketServerHandshakeTests.request(
            [("sec-websocket-version", "13"), ("sec-websocket-protocol", "chat")], method: .connect,
            version: .http2)
        let acceptance = try WebSocketServerHandshake(request, subprotocols: ["chat"])
        #expect(acceptance.response.status.code == 200 && acceptance.response.fields.count == 1)
        #expect(acceptance.agreement == WebSocketAgreement(subprotocol: "chat"))
        let old = try WebSocketServerHandshakeTests.request([], method: .connect, version: .http2)
        #expect(throws: WebSocketError.unsupportedVersion(nil)) {
            try WebSocketServerHandshake(old).agreement
        }
    }
}
