// SPDX-License-Identifier: MIT

/// What a handshake led to.
package struct WebSocketAgreement: Hashable, Sendable {
    /// The subprotocol that the server chose, if any.
    package var subprotocol: String?
    /// How messages may be compressed; nil when they may not.
    package var deflate: DeflateAgreement?

    /// No subprotocol and no compression, unless given.
    package init(subprotocol: String? = nil, deflate: DeflateAgreement? = nil) {
        self.subprotocol = subprotocol
        self.deflate = deflate
    }
}

/// A client's side of the opening handshake (RFC 6455 §4.1): what makes a request one, and whether the answer is the
/// one that belongs to it. The exchange itself is `ClientCodec`'s, or a stream's of HTTP/2 (RFC 8441 §5); `WebSocketCodec`
/// takes over behind the answer.
package struct WebSocketHandshake: Sendable {
    private let key: WebSocketKey
    private let deflate: DeflateOffer?
    private var offered: [String] = []

    /// A handshake of its own: keys are used once.
    package init(_ key: WebSocketKey, deflate: DeflateOffer? = nil) {
        self.key = key
        self.deflate = deflate
    }

    /// Gives the request's fields what the handshake needs. Subprotocols are offered by the caller, as
    /// `Sec-WebSocket-Protocol`, which stays as it is; extensions only by `deflate`, since no other could be spoken.
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

    /// Checks the server's answer, in the order of RFC 6455 §4.1. Tokens of `Upgrade` and `Connection` are read in any mix
    /// of cases, the subprotocol is not. Over HTTP/2 the stream that CONNECT has opened stands for the switch, and nothing
    /// proves what the protocol's name has said already (RFC 8441 §5).
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

    private func requireSwitch(_ head: ResponseHead) throws(WebSocketError) {
        let fields = head.fields
        guard head.status.code == 101 else { throw .notSwitched(status: Int(head.status.code)) }
        guard fields.isOnly("websocket", of: .upgrade) else {
            throw .invalidUpgrade(fields.excerpt(of: .upgrade))
        }
        guard fields.lists("upgrade", in: .connection) else { throw .connectionWithoutUpgrade }
        guard fields.values(of: .secWebSocketAccept) == [key.accept] else {
            throw .invalidAccept(fields.excerpt(of: .secWebSocketAccept))
        }
    }

    private func agreedDeflate(_ fields: Fields) throws(WebSocketError) -> DeflateAgreement? {
        var agreement: DeflateAgreement?
        var failure: WebSocketError?
        for index in fields.indices(of: .secWebSocketExtensions) {
            fields.withValue(at: index) { bytes in
                ListSyntax.forEachElement(in: bytes) { element in
                    guard failure == nil else { return }
                    let name = ListSyntax.principal(of: element, in: bytes)
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
    /// The elements of a field that is a list, over all its lines.
    func elements(of name: FieldName) -> [String] {
        var elements: [String] = []
        for index in indices(of: name) {
            withValue(at: index) { bytes in
                ListSyntax.forEachElement(in: bytes) { elements.append(bytes.text($0)) }
            }
        }
        return elements
    }

    /// Whether a list names `token`, given in small letters.
    func lists(_ token: String, in name: FieldName) -> Bool {
        indices(of: name).contains { withValue(at: $0) { ListSyntax.contains(token, in: $0) } }
    }

    /// Whether the field is there once, and is `token`, given in small letters.
    func isOnly(_ token: String, of name: FieldName) -> Bool {
        let places = indices(of: name)
        guard places.count == 1 else { return false }
        return withValue(at: places[0]) { $0.equals(lowercased: token, in: 0..<$0.count) }
    }

    /// What an error quotes of a field: its first value.
    func excerpt(of name: FieldName) -> Excerpt? { withFirstValue(of: name) { Excerpt($0) } }
}
