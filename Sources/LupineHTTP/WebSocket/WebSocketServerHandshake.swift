// SPDX-License-Identifier: MIT

/// A server's side of the opening handshake (RFC 6455 §4.2): the 101 response to a request, and the agreement. An extended
/// CONNECT is answered with 200, without a key on either side (RFC 8441 §5).
package struct WebSocketServerHandshake: Sendable {
    /// The response to send.
    package let response: ResponseHead
    /// The parameters for the codec.
    package let agreement: WebSocketAgreement

    /// Accepts a request, or throws the error for which `refusal(_:)` returns the response.
    ///
    /// - Parameters:
    ///   - request: The client's head.
    ///   - subprotocols: The server's subprotocols; the first of the client's that is among them is chosen.
    ///   - allowsCompression: Whether an offer of permessage-deflate is accepted.
    package init(
        _ request: RequestHead, subprotocols: [String] = [], allowsCompression: Bool = false
    ) throws(WebSocketError) {
        let requested = request.fields
        // In HTTP/2 the protocol's name is the pseudo-header field `:protocol`, which the caller has checked.
        let isExtendedConnect = request.version == .http2
        if !isExtendedConnect { try Self.requireHandshake(request) }
        guard requested.hasSingleValue("13", of: .secWebSocketVersion) else {
            throw .unsupportedVersion(requested.excerpt(of: .secWebSocketVersion))
        }
        let agreement = WebSocketAgreement(
            subprotocol: requested.elements(of: .secWebSocketProtocol).first { subprotocols.contains($0) },
            deflate: allowsCompression ? DeflateOffer.accepted(of: requested) : nil)
        self.agreement = agreement
        let key = isExtendedConnect ? nil : try Self.key(requested)
        do throws(HTTPError) {
            response = ResponseHead(
                status: Status(isExtendedConnect ? 200 : 101), fields: try Self.fields(key, agreement))
        } catch {
            // The values are constants, or elements of received fields, which have been validated.
            preconditionFailure("an answer that cannot be written: \(error)")
        }
    }

    /// Checks for the parts of an HTTP/1.1 request that make it a handshake.
    private static func requireHandshake(_ request: RequestHead) throws(WebSocketError) {
        let requested = request.fields
        guard request.method == .get, request.version == .http11 else { throw .notAnUpgradeRequest }
        guard requested.containsElement("websocket", in: .upgrade) else {
            throw .invalidUpgrade(requested.excerpt(of: .upgrade))
        }
        guard requested.containsElement("upgrade", in: .connection) else { throw .connectionWithoutUpgrade }
    }

    /// Returns the key of the request; throws unless there is exactly one, which is valid.
    private static func key(_ requested: Fields) throws(WebSocketError) -> WebSocketKey {
        let keys = requested.indices(of: .secWebSocketKey)
        guard keys.count == 1,
            let key = requested.withValue(at: keys[0], { WebSocketKey(received: $0) })
        else {
            throw .invalidKey(requested.excerpt(of: .secWebSocketKey))
        }
        return key
    }

    /// Returns the response to a rejected request: 426 with the supported version, or 400.
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

    /// The fields of the response; `key` is nil for an extended CONNECT.
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
