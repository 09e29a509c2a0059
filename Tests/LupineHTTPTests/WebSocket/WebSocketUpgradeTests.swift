// SPDX-License-Identifier: MIT

import LupineHTTP
import Testing

/// Tests a whole conversation, from the HTTP request to the close, with the codecs of both ends connected directly.
@Suite struct WebSocketUpgradeTests {
    @Test func handshakeEchoAndClose() throws {
        // The request.
        var fields = Fields()
        try fields.append(.secWebSocketProtocol, "echo")
        var handshake = WebSocketClientHandshake(WebSocketKey(17, 4), deflate: DeflateOffer())
        try handshake.prepare(&fields)
        let authority = try Authority(host: "a", port: 80)
        let request = RequestHead(method: .get, target: .origin("/"), authority: authority, fields: fields)
        var clientHTTP = ClientCodec()
        var toServer: [UInt8] = []
        try clientHTTP.send(request, body: .none, into: &toServer)

        var serverHTTP = ServerCodec()
        let (event, consumed) = try serverHTTP.next(toServer.span)
        guard case .head(let receivedRequest, _, _) = event else {
            Issue.record("no request: \(event)")
            return
        }
        #expect(consumed == toServer.count)
        let acceptance = try WebSocketServerHandshake(
            receivedRequest, subprotocols: ["echo"], allowsCompression: true)
        var toClient: [UInt8] = []
        try serverHTTP.send(acceptance.response, body: .none, into: &toClient)

        // The response, directly followed by a first frame.
        var server = WebSocketCodec(.server, allowsCompression: acceptance.agreement.deflate != nil)
        let welcome = Array("welcome".utf8)
        server.send(.text, welcome.span, mask: nil, into: &toClient)
        let answer = try clientHTTP.next(toClient.span)
        guard case .head(let head, let framing, _) = answer.event else {
            Issue.record("no answer: \(answer.event)")
            return
        }
        #expect(framing == .handover)
        let agreement = try handshake.agreement(head)
        #expect(agreement == WebSocketAgreement(subprotocol: "echo", deflate: DeflateAgreement()))
        let remainder = toClient[answer.consumed...]
        guard case .handover = try clientHTTP.next(remainder.span).event else {
            Issue.record("HTTP was not handed over")
            return
        }

        var client = WebSocketCodec(.client, allowsCompression: agreement.deflate != nil)
        #expect(try client.next(remainder.span).event == .message(WebSocketMessage(.text, welcome)))

        // An echo in both directions, then the closing handshake.
        toServer = []
        client.send(.binary, welcome.span, mask: WebSocketMask(key: 99), into: &toServer)
        let echoRequest = try server.next(toServer.span).event
        guard case .message(let message) = echoRequest else {
            Issue.record("no message: \(echoRequest)")
            return
        }
        toClient = []
        server.send(message.kind, message.octets.span, mask: nil, into: &toClient)
        #expect(try client.next(toClient.span).event == .message(WebSocketMessage(.binary, welcome)))

        let closure = try WebSocketCloseFrame(.normal, reason: Array("done".utf8))
        toServer = []
        #expect(client.close(.close(closure), mask: WebSocketMask(key: 7), into: &toServer).timer == .start)
        guard case .close(let received) = try server.next(toServer.span).event else {
            Issue.record("no close")
            return
        }
        toClient = []
        let actions = server.close(.received(received), mask: nil, into: &toClient)
        #expect(actions.outcome == .peerClosed(closure))
        #expect(actions.connection == .closeWhenSent)
        guard case .close(let reply) = try client.next(toClient.span).event else {
            Issue.record("no answer to the close")
            return
        }
        let ended = client.close(.received(reply), mask: nil, into: &toServer)
        #expect(ended.outcome == .locallyClosed(closure, answer: try WebSocketCloseFrame(.normal)))
        #expect(client.close(.ended, mask: nil, into: &toServer).timer == .cancel)
        #expect(client.closingState == .closed)
    }
}
