// SPDX-License-Identifier: MIT

/// The result of an opening handshake: what client and server have agreed on.
package struct WebSocketAgreement: Hashable, Sendable {
    /// The subprotocol that the server chose, if any.
    package var subprotocol: String?
    /// The parameters of message compression; nil without compression.
    package var deflate: DeflateAgreement?

    /// Creates an agreement; by default there is neither a subprotocol nor compression.
    package init(subprotocol: String? = nil, deflate: DeflateAgreement? = nil) {
        self.subprotocol = subprotocol
        self.deflate = deflate
    }
}

/// A client's side of the opening handshake (RFC 6455 §4.1): it adds fields to the request and checks the response.
///
/// `ClientCodec`, or an HTTP/2 stream (RFC 8441 §5), carries the exchange; after the response, `WebSocketCodec` takes over.
package struct WebSocketClientHandshake: Sendable {
    private let key: WebSocketKey
    private let deflate: DeflateOffer?
    /// The subprotocols that the request offers; `prepare` sets them.
    private var offeredSubprotocols: [String] = []

    /// Creates a handshake. Each handshake needs a new, random key. `deflate` is the offer of compression, or nil for none.
    package init(_ key: WebSocketKey, deflate: DeflateOffer? = nil) {
        self.key = key
        self.deflate = deflate
    }

    /// Sets the fields of the request that the handshake needs. Leaves `Sec-WebSocket-Protocol` unchanged, with which the caller
    /// offers subprotocols. Replaces `Sec-WebSocket-Extensions` by the offer of compression, because Lupine supports no other
    /// extension.
    package mutating func prepare(_ fields: inout Fields) throws(HTTPError) {
        try fields.set(.upgrade, "websocket")
        try fields.set(.connection, "Upgrade")
        try fields.set(.secWebSocketVersion, "13")
        try fields.set(.secWebSocketKey, key.text)
        if let deflate {
            try fields.set(.secWebSocketExtensions, deflate.extensionElement)
        } else {
            fields.remove(.secWebSocketExtensions)
        }
        offeredSubprotocols = fields.elements(of: .secWebSocketProtocol)
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
        let chosenSubprotocols = fields.values(of: .secWebSocketProtocol)
        if let subprotocol = chosenSubprotocols.first {
            guard chosenSubprotocols.count == 1, offeredSubprotocols.contains(subprotocol) else {
                throw .subprotocolNotOffered(Excerpt(chosenSubprotocols.joined(separator: ", ")))
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

    /// Returns the parameters of compression that the server chose, or nil if it chose none. Throws if the server chose
    /// compression that the client did not offer, or another extension.
    private func agreedDeflate(_ fields: Fields) throws(WebSocketError) -> DeflateAgreement? {
        var agreement: DeflateAgreement?
        // The first error. The closures below cannot throw.
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
                        agreement = try deflate.agreement(from: element, in: bytes)
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

    /// Whether a list field contains `token`, compared case-insensitively. The caller passes `token` in lower case.
    func containsElement(_ token: String, in name: FieldName) -> Bool {
        indices(of: name).contains { withValue(at: $0) { ListSyntax.contains(token, in: $0) } }
    }

    /// Whether the field occurs exactly once and its value is `token`, compared case-insensitively. The caller passes `token` in
    /// lower case.
    func hasSingleValue(_ token: String, of name: FieldName) -> Bool {
        let positions = indices(of: name)
        guard positions.count == 1 else { return false }
        return withValue(at: positions[0]) { $0.equals(lowercased: token, in: 0..<$0.count) }
    }

    /// Returns the beginning of a field's first value, for an error; nil if the field is absent.
    func excerpt(of name: FieldName) -> Excerpt? { withFirstValue(of: name) { Excerpt($0) } }
}
