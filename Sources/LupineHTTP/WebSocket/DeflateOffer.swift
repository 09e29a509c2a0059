// SPDX-License-Identifier: MIT

/// A client's offer to compress messages (RFC 7692 §7.1), and the negotiation on either side.
package struct DeflateOffer: Hashable, Sendable {
    /// The parameter `client_max_window_bits`, for the size of the client's own compression window.
    package enum ClientWindow: Hashable, Sendable {
        /// The parameter is absent: the server may not limit the window.
        case unlimited
        /// The parameter has no value: the server may limit the window.
        case limitable
        /// The parameter is the client's limit, as an exponent of 2; the server may limit the window further.
        case limited(bits: Int)
    }

    /// The name of the extension.
    static let name = "permessage-deflate"

    /// Whether the client asks the server to reset its compression window after each message.
    package var serverNoContextTakeover: Bool
    /// Whether the client announces that it may reset its own window after each message, even if the server does not ask for it.
    package var clientNoContextTakeover: Bool
    /// The maximum size of the server's window for which the client asks, as an exponent of 2 in 8...15; nil for no limit.
    package var serverMaxWindowBits: Int?
    /// The parameter for the client's window.
    package var clientWindow: ClientWindow

    /// Creates an offer. The default is the offer of browsers: the server may limit the client's window.
    package init(
        serverNoContextTakeover: Bool = false, clientNoContextTakeover: Bool = false,
        serverMaxWindowBits: Int? = nil, clientWindow: ClientWindow = .limitable
    ) {
        self.serverNoContextTakeover = serverNoContextTakeover
        self.clientNoContextTakeover = clientNoContextTakeover
        self.serverMaxWindowBits = serverMaxWindowBits
        self.clientWindow = clientWindow
    }

    /// The element of `Sec-WebSocket-Extensions` in a client's request.
    package var extensionElement: String {
        var element = Self.name
        if serverNoContextTakeover { element += "; server_no_context_takeover" }
        if clientNoContextTakeover { element += "; client_no_context_takeover" }
        if let serverMaxWindowBits { element += "; server_max_window_bits=\(serverMaxWindowBits)" }
        switch clientWindow {
        case .unlimited: break
        case .limitable: element += "; client_max_window_bits"
        case .limited(let bits): element += "; client_max_window_bits=\(bits)"
        }
        return element
    }

    /// Returns the agreement that results from a server's answer to this offer. The answer is the element of
    /// `Sec-WebSocket-Extensions` in the range `answer` of `bytes` (RFC 7692 §7.1). Throws if the answer does not fit the offer.
    func agreement(
        from answer: Range<Int>, in bytes: Span<UInt8>
    ) throws(WebSocketError) -> DeflateAgreement {
        let parameters = try DeflateParameters(of: answer, in: bytes)
        let error = WebSocketError.invalidExtensionParameter(Excerpt(bytes.extracting(answer)))
        var agreement = DeflateAgreement(
            serverNoContextTakeover: parameters.serverNoContextTakeover,
            clientNoContextTakeover: parameters.clientNoContextTakeover)
        // A server that accepts an offer with one of the server's parameters must repeat it (RFC 7692 §7.1.1.1, §7.1.2.1).
        guard parameters.serverNoContextTakeover || !serverNoContextTakeover else { throw error }
        switch parameters.serverWindow {
        case .absent:
            guard serverMaxWindowBits == nil else { throw error }
        case .present(let bits):
            // Without a limit in the offer, the server may choose any size; 15 is the largest.
            guard let bits, bits <= serverMaxWindowBits ?? 15 else { throw error }
            agreement.serverMaxWindowBits = bits
        }
        switch (parameters.clientWindow, clientWindow) {
        // The client keeps to its own limit, even if the answer does not mention it.
        case (.absent, .limited(let offered)):
            agreement.clientMaxWindowBits = offered
        case (.absent, .limitable), (.absent, .unlimited): break
        case (.present(let bits?), .limitable):
            agreement.clientMaxWindowBits = bits
        case (.present(let bits?), .limited(let offered)):
            guard bits <= offered else { throw error }
            agreement.clientMaxWindowBits = bits
        // The server may limit the client's window only if the offer allows it, and the answer must contain a value (RFC 7692
        // §7.1.2.2).
        case (.present, .unlimited), (.present(nil), .limitable), (.present(nil), .limited):
            throw error
        }
        return agreement
    }

    /// Returns the agreement with which a server accepts an offer in the fields of a request. It accepts the first offer in
    /// `Sec-WebSocket-Extensions` that it supports; nil if there is none (RFC 7692 §5). The agreement contains the parameters for
    /// which the client asks, and no others.
    static func agreement(toOffersIn fields: Fields) -> DeflateAgreement? {
        var result: DeflateAgreement?
        for index in fields.indices(of: .secWebSocketExtensions) where result == nil {
            fields.withValue(at: index) { bytes in
                ListSyntax.forEachElement(in: bytes) { element in
                    let name = ListSyntax.valueWithoutParameters(of: element, in: bytes)
                    guard result == nil, bytes.equals(lowercased: Self.name, in: name) else { return }
                    // The server ignores an offer that it does not support.
                    result = try? agreement(toOffer: element, in: bytes)
                }
            }
        }
        return result
    }

    /// Returns a server's agreement to one offer; throws if the server does not support it.
    private static func agreement(
        toOffer element: Range<Int>, in bytes: Span<UInt8>
    ) throws(WebSocketError) -> DeflateAgreement {
        let offer = try DeflateParameters(of: element, in: bytes)
        var agreement = DeflateAgreement(
            serverNoContextTakeover: offer.serverNoContextTakeover,
            clientNoContextTakeover: offer.clientNoContextTakeover)
        if case .present(let bits) = offer.serverWindow {
            // zlib cannot compress with a window of 8 bits, so the server refuses such an offer.
            guard let bits, bits > 8 else {
                throw .invalidExtensionParameter(Excerpt(bytes.extracting(element)))
            }
            agreement.serverMaxWindowBits = bits
        }
        // Without a value in the offer, the client's window has the default size, the largest one.
        if case .present(let bits?) = offer.clientWindow { agreement.clientMaxWindowBits = bits }
        return agreement
    }
}

/// The parameters of one element of `Sec-WebSocket-Extensions` (RFC 7692 §7.1).
private struct DeflateParameters {
    /// The parameter for the size of a window.
    enum Window {
        case absent
        /// The parameter is present. The number is its value, an exponent of 2; nil if the parameter has no value.
        case present(Int?)
    }

    var serverNoContextTakeover = false
    var clientNoContextTakeover = false
    var serverWindow = Window.absent
    var clientWindow = Window.absent

    /// Parses the parameters of an element. Throws if one is unknown or repeated, or has an invalid value.
    init(of element: Range<Int>, in bytes: Span<UInt8>) throws(WebSocketError) {
        var names: Set<String> = []
        var isValid = true
        // The closure cannot modify `self`, which is being initialized.
        var parameters = self
        ListSyntax.forEachParameter(of: element, in: bytes) { name, value in
            let name = name.lowercased()
            let isRepeated = !names.insert(name).inserted
            if isRepeated { isValid = false }
            switch name {
            case "server_no_context_takeover":
                parameters.serverNoContextTakeover = true
                if !value.isEmpty { isValid = false }
            case "client_no_context_takeover":
                parameters.clientNoContextTakeover = true
                if !value.isEmpty { isValid = false }
            case "server_max_window_bits":
                parameters.serverWindow = .present(Self.bits(value))
                if Self.bits(value) == nil { isValid = false }
            case "client_max_window_bits":
                parameters.clientWindow = .present(Self.bits(value))
                if !value.isEmpty, Self.bits(value) == nil { isValid = false }
            default:
                isValid = false
            }
        }
        guard isValid else { throw .invalidExtensionParameter(Excerpt(bytes.extracting(element))) }
        self = parameters
    }

    /// Returns the number 8 to 15 that a text is, without leading zeros; nil for any other text.
    private static func bits(_ text: String) -> Int? {
        (8...15).first { String($0) == text }
    }
}
