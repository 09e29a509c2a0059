// SPDX-License-Identifier: MIT

/// A server's side of the opening handshake (RFC 6455 §4.2): the 101 that answers a request, and what was agreed on with
/// it. An extended CONNECT is answered with 200, and neither asks for a key nor gets one (RFC 8441 §5).
package struct WebSocketAcceptance: Sendable {
    /// What to answer.
    package let response: ResponseHead
    /// What the codec behind it speaks.
    package let agreement: WebSocketAgreement

    /// Accepts a request, or throws what is wrong with it, for `refusal(_:)` to answer.
    ///
    /// - Parameters:
    ///   - request: The head that the client has sent.
    ///   - subprotocols: What the server speaks; of the client's wishes the first that is among them is chosen.
    ///   - allowsCompression: Whether an offer of permessage-deflate is taken up.
    package init(
        _ request: RequestHead, subprotocols: [String] = [], allowsCompression: Bool = false
    ) throws(WebSocketError) {
        let asked = request.fields
        // The protocol's name is in the request's pseudo-fields, and is whoever's who has read them.
        let isSwitched = request.version == .http2
        if !isSwitched { try Self.requireWish(request) }
        guard asked.isOnly("13", of: .secWebSocketVersion) else {
            throw .unsupportedVersion(asked.excerpt(of: .secWebSocketVersion))
        }
        let agreement = WebSocketAgreement(
            subprotocol: asked.elements(of: .secWebSocketProtocol).first { subprotocols.contains($0) },
            deflate: allowsCompression ? DeflateOffer.accepted(of: asked) : nil)
        self.agreement = agreement
        let key = isSwitched ? nil : try Self.key(asked)
        do throws(HTTPError) {
            response = ResponseHead(
                status: Status(isSwitched ? 200 : 101), fields: try Self.fields(key, agreement))
        } catch {
            // Elements of a received field can be sent, and all else is ours.
            preconditionFailure("an answer that cannot be written: \(error)")
        }
    }

    /// What says in HTTP/1.1 that a request is a handshake.
    private static func requireWish(_ request: RequestHead) throws(WebSocketError) {
        let asked = request.fields
        guard request.method == .get, request.version == .http11 else { throw .notAnUpgradeRequest }
        guard asked.lists("websocket", in: .upgrade) else {
            throw .invalidUpgrade(asked.excerpt(of: .upgrade))
        }
        guard asked.lists("upgrade", in: .connection) else { throw .connectionWithoutUpgrade }
    }

    private static func key(_ asked: Fields) throws(WebSocketError) -> WebSocketKey {
        let keys = asked.indices(of: .secWebSocketKey)
        guard keys.count == 1, let key = asked.withValue(at: keys[0], { WebSocketKey(received: $0) }) else {
            throw .invalidKey(asked.excerpt(of: .secWebSocketKey))
        }
        return key
    }

    /// What to answer instead: 426 with the version that is spoken, or 400.
    package static func refusal(_ error: WebSocketError) -> ResponseHead {
        guard case .unsupportedVersion = error else { return ResponseHead(status: Status(400)) }
        var head = ResponseHead(status: Status(426))
        do throws(HTTPError) {
            try head.fields.append(.upgrade, "websocket")
            try head.fields.append(.connection, "Upgrade")
            try head.fields.append(.secWebSocketVersion, "13")
        } catch {
            preconditionFailure("an answer that cannot be written: \(error)")
        }
        return head
    }

    private static func fields(_ key: WebSocketKey?, _ agreement: WebSocketAgreement) throws(HTTPError)
        -> Fields
    {
        var fields = Fields()
        if let key {
            try fields.append(.upgrade, "websocket")
            try fields.append(.connection, "Upgrade")
            try fields.append(.secWebSocketAccept, key.accept)
        }
        if let subprotocol = agreement.subprotocol { try fields.append(.secWebSocketProtocol, subprotocol) }
        if let deflate = agreement.deflate { try fields.append(.secWebSocketExtensions, deflate.value) }
        return fields
    }
}
