// SPDX-License-Identifier: MIT

/// The result of a handshake.
package struct WebSocketAgreement: Hashable, Sendable {
    /// The subprotocol that the server chose, if any.
    package var subprotocol: String?
    /// The parameters of message compression; nil without compression.
    package var deflate: DeflateAgreement?

    /// No subprotocol and no compression, unless given.
    package init(subprotocol: String? = nil, deflate: DeflateAgreement? = nil) {
        self.subprotocol = subprotocol
        self.deflate = deflate
    }
}

/// A client's side of the opening handshake (RFC 6455 §4.1): adds the fields to the request and checks the response.
/// `ClientCodec`, or an HTTP/2 stream (RFC 8441 §5), carries the exchange; after the response, `WebSocketCodec` takes over.
package struct WebSocketClientHandshake: Sendable {
    private let key: WebSocketKey
    private let deflate: DeflateOffer?
    /// The subprotocols that `prepare` has found in the request.
    private var offered: [String] = []

    /// Creates a handshake with a new key.
    package init(_ key: WebSocketKey, deflate: DeflateOffer? = nil) {
        self.key = key
        self.deflate = deflate
    }

    /// Sets the fields that the handshake needs. Leaves `Sec-WebSocket-Protocol` unchanged, with which the caller offers
    /// subprotocols. Replaces `Sec-WebSocket-Extensions`, because only `deflate` is supported.
    package mutating func prepare(_ fields: inout Fields) throws(HTTPError) {
        try fields.set(.upgrade, "websocket")
        try fields.set(.connection, "Upgrade")
        try fields.set(.secWebSocketVersion, "13")
        try fields.set(.secWebSocketKey, key.text)
        if let deflate {
            try fields.set(.secWebSocketExtensions, deflate.value)
        } else {
            fields.remove(.secWebSocketExtensions)
        }
        offered = fields.elements(of: .secWebSocketProtocol)
    }

    /// Checks the server's response, in the order of RFC 6455 §4.1, and returns the agreement. Tokens of `Upgrade` and
    /// `Connection` are compared case-insensitively, the subprotocol case-sensitively. Over HTTP/2, a 2xx response to the
    /// extended CONNECT replaces 101 (Switching Protocols), and there is no key to check (RFC 8441 §5).
    package func agreement(_ head: ResponseHead) throws(WebSocketError) -> WebSocketAgreement {
        let fields = head.fields
        if head.version == .http2 {
            guard head.status.kind == .successful else { throw .notSwitched(status: Int(head.status.code)) }
        } else {
            try requireSwitch(head)
        }
        var agreement = WebSocketAgreement()
        let chosen = fields.values(of: .secWebSocketProtocol)
        if let subprotocol = chosen.first {
            guard chosen.count == 1, offered.contains(subprotocol) else {
                throw .subprotocolNotOffered(Excerpt(chosen.joined(separator: ", ")))
            }
            agreement.subprotocol = subprotocol
        }
        agreement.deflate = try agreedDeflate(fields)
        return agreement
    }

    /// Checks the 101 (Switching Protocols) response of HTTP/1.1.
    private func requireSwitch(_ head: ResponseHead) throws(WebSocketError) {
        let fields = head.fields
        guard head.status.code == 101 else { throw .notSwitched(status: Int(head.status.code)) }
        guard fields.hasSingleValue("websocket", of: .upgrade) else {
            throw .invalidUpgrade(fields.excerpt(of: .upgrade))
        }
        guard fields.containsElement("upgrade", in: .connection) else { throw .connectionWithoutUpgrade }
        guard fields.values(of: .secWebSocketAccept) == [key.accept] else {
            throw .invalidAccept(fields.excerpt(of: .secWebSocketAccept))
        }
    }

    /// Returns the parameters of compression that the server chose; nil if it chose none. Throws for other extensions.
    private func agreedDeflate(_ fields: Fields) throws(WebSocketError) -> DeflateAgreement? {
        var agreement: DeflateAgreement?
        var failure: WebSocketError?
        for index in fields.indices(of: .secWebSocketExtensions) {
            fields.withValue(at: index) { bytes in
                ListSyntax.forEachElement(in: bytes) { element in
                    guard failure == nil else { return }
                    let name = ListSyntax.valueWithoutParameters(of: element, in: bytes)
                    guard let deflate, agreement == nil, bytes.equals(lowercased: DeflateOffer.name, in: name)
                    else {
                        failure = .extensionNotOffered(Excerpt(bytes.extracting(element)))
                        return
                    }
                    do throws(WebSocketError) {
                        agreement = try deflate.agreement(element, in: bytes)
                    } catch {
                        failure = error
                    }
                }
            }
        }
        if let failure { throw failure }
        return agreement
    }
}

extension Fields {
    /// Returns the elements of a list field, over all its lines.
    func elements(of name: FieldName) -> [String] {
        var elements: [String] = []
        for index in indices(of: name) {
            withValue(at: index) { bytes in
                ListSyntax.forEachElement(in: bytes) { elements.append(bytes.text($0)) }
            }
        }
        return elements
    }

    /// Whether a list field contains `token`, which is in lower case, compared case-insensitively.
    func containsElement(_ token: String, in name: FieldName) -> Bool {
        indices(of: name).contains { withValue(at: $0) { ListSyntax.contains(token, in: $0) } }
    }

    /// Whether the field occurs once, with the value `token`, which is in lower case, compared case-insensitively.
    func hasSingleValue(_ token: String, of name: FieldName) -> Bool {
        let positions = indices(of: name)
        guard positions.count == 1 else { return false }
        return withValue(at: positions[0]) { $0.equals(lowercased: token, in: 0..<$0.count) }
    }

    /// Returns the first value of a field, for an error.
    func excerpt(of name: FieldName) -> Excerpt? { withFirstValue(of: name) { Excerpt($0) } }
}
