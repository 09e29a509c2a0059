// SPDX-License-Identifier: MIT

/// A server's side of the opening handshake (RFC 6455 §4.2): the response that accepts a request, and the agreement.
///
/// In HTTP/1.1 the request is a GET and the response is 101 (Switching Protocols). In HTTP/2 the request is an extended CONNECT,
/// the response is 200, and there is no key (RFC 8441 §5).
package struct WebSocketServerHandshake: Sendable {
    /// The response to send.
    package let response: ResponseHead
    /// The parameters for the codec.
    package let agreement: WebSocketAgreement

    /// Accepts a request. Throws if it is no valid handshake; `refusal(_:)` returns the response for the error.
    ///
    /// - Parameters:
    ///   - request: The head of the client's request.
    ///   - subprotocols: The subprotocols that the server supports. Of those that the client offers, it chooses the first one
    ///     that it supports.
    ///   - allowsCompression: Whether the server accepts an offer of permessage-deflate.
    package init(
        _ request: RequestHead, subprotocols: [String] = [], allowsCompression: Bool = false
    ) throws(WebSocketError) {
        let fields = request.fields
        // The caller has checked that the pseudo-header field `:protocol` of the extended CONNECT is `websocket`.
        let isExtendedConnect = request.version == .http2
        if !isExtendedConnect { try Self.requireHandshake(request) }
        guard fields.hasSingleValue("13", of: .secWebSocketVersion) else {
            throw .unsupportedVersion(fields.excerpt(of: .secWebSocketVersion))
        }
        let agreement = WebSocketAgreement(
            subprotocol: fields.elements(of: .secWebSocketProtocol).first { subprotocols.contains($0) },
            deflate: allowsCompression ? DeflateOffer.agreement(toOffersIn: fields) : nil)
        self.agreement = agreement
        let key = isExtendedConnect ? nil : try Self.key(in: fields)
        do throws(HTTPError) {
            response = ResponseHead(
                status: Status(isExtendedConnect ? 200 : 101),
                fields: try Self.responseFields(key, agreement))
        } catch {
            // Impossible: the values are constants, or elements of received fields, which the parser has validated.
            preconditionFailure("an answer that cannot be written: \(error)")
        }
    }

    /// Throws unless an HTTP/1.1 request is a GET that asks for an upgrade to WebSocket.
    private static func requireHandshake(_ request: RequestHead) throws(WebSocketError) {
        let fields = request.fields
        guard request.method == .get, request.version == .http11 else { throw .notAnUpgradeRequest }
        guard fields.containsElement("websocket", in: .upgrade) else {
            throw .invalidUpgrade(fields.excerpt(of: .upgrade))
        }
        guard fields.containsElement("upgrade", in: .connection) else { throw .connectionWithoutUpgrade }
    }

    /// Returns the key in the fields of a request. Throws unless there is exactly one, and it is valid.
    private static func key(in fields: Fields) throws(WebSocketError) -> WebSocketKey {
        let positions = fields.indices(of: .secWebSocketKey)
        guard positions.count == 1,
            let key = fields.withValue(at: positions[0], { WebSocketKey(received: $0) })
        else {
            throw .invalidKey(fields.excerpt(of: .secWebSocketKey))
        }
        return key
    }

    /// Returns the response to a request that is no valid handshake: 426 (Upgrade Required) with the supported version if the
    /// client asks for another version, otherwise 400 (Bad Request).
    package static func refusal(_ error: WebSocketError) -> ResponseHead {
        guard case .unsupportedVersion = error else { return ResponseHead(status: Status(400)) }
        var head = ResponseHead(status: Status(426))
        do throws(HTTPError) {
            try head.fields.append(.upgrade, "websocket")
            try head.fields.append(.connection, "Upgrade")
            try head.fields.append(.secWebSocketVersion, "13")
        } catch {
            // Impossible: the values are constants.
            preconditionFailure("an answer that cannot be written: \(error)")
        }
        return head
    }

    /// Returns the fields of the response; `key` is nil for an extended CONNECT.
    private static func responseFields(
        _ key: WebSocketKey?, _ agreement: WebSocketAgreement
    ) throws(HTTPError) -> Fields {
        var fields = Fields()
        if let key {
            try fields.append(.upgrade, "websocket")
            try fields.append(.connection, "Upgrade")
            try fields.append(.secWebSocketAccept, key.accept)
        }
        if let subprotocol = agreement.subprotocol { try fields.append(.secWebSocketProtocol, subprotocol) }
        if let deflate = agreement.deflate {
            try fields.append(.secWebSocketExtensions, deflate.extensionElement)
        }
        return fields
    }
}
