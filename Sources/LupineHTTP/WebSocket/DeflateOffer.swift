// SPDX-License-Identifier: MIT

/// A client's offer of compressed messages (RFC 7692 §7.1), and the negotiation on either side.
package struct DeflateOffer: Hashable, Sendable {
    /// The offer's parameter for the client's own window.
    package enum ClientWindow: Hashable, Sendable {
        /// Absent: the server may not limit it.
        case unlimited
        /// Without a value: the server may limit it.
        case limitable
        /// The client's limit; the server may limit it further.
        case limited(bits: Int)
    }

    /// The extension's name.
    static let name = "permessage-deflate"

    /// Asks the server to reset its window after each message.
    package var serverNoContextTakeover: Bool
    /// Announces that the client may reset its window after each message, whether or not the server asks for it.
    package var clientNoContextTakeover: Bool
    /// Asks the server for a window of at most that many bits, 8 to 15.
    package var serverMaxWindowBits: Int?
    /// The client's window.
    package var clientWindow: ClientWindow

    /// Creates an offer. The default is that of browsers: the server may limit the client's window.
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
    package var value: String {
        var value = Self.name
        if serverNoContextTakeover { value += "; server_no_context_takeover" }
        if clientNoContextTakeover { value += "; client_no_context_takeover" }
        if let serverMaxWindowBits { value += "; server_max_window_bits=\(serverMaxWindowBits)" }
        switch clientWindow {
        case .unlimited: break
        case .limitable: value += "; client_max_window_bits"
        case .limited(let bits): value += "; client_max_window_bits=\(bits)"
        }
        return value
    }

    /// Returns the agreement in a server's answer to this offer: an element of `Sec-WebSocket-Extensions` (§7.1).
    func agreement(_ answer: Range<Int>, in bytes: Span<UInt8>) throws(WebSocketError) -> DeflateAgreement {
        let parameters = try DeflateParameters(of: answer, in: bytes)
        let refusal = WebSocketError.invalidExtensionParameter(Excerpt(bytes.extracting(answer)))
        var agreement = DeflateAgreement(
            serverNoContextTakeover: parameters.serverNoContextTakeover,
            clientNoContextTakeover: parameters.clientNoContextTakeover)
        // A server accepts an offer with these parameters by repeating them (§7.1.1.1, §7.1.2.1).
        guard parameters.serverNoContextTakeover || !serverNoContextTakeover else { throw refusal }
        switch parameters.serverWindow {
        case .absent:
            guard serverMaxWindowBits == nil else { throw refusal }
        case .present(let bits):
            guard let bits, bits <= serverMaxWindowBits ?? 15 else { throw refusal }
            agreement.serverMaxWindowBits = bits
        }
        switch (parameters.clientWindow, clientWindow) {
        case (.absent, .limited(let offered)):
            agreement.clientMaxWindowBits = offered
        case (.absent, .limitable), (.absent, .unlimited): break
        case (.present(let bits?), .limitable):
            agreement.clientMaxWindowBits = bits
        case (.present(let bits?), .limited(let offered)):
            guard bits <= offered else { throw refusal }
            agreement.clientMaxWindowBits = bits
        // The server may not limit a window unless that was offered, and must give a value (§7.1.2.2).
        case (.present, .unlimited), (.present(nil), .limitable), (.present(nil), .limited):
            throw refusal
        }
        return agreement
    }

    /// Returns a server's agreement to one of the offers in a request's `Sec-WebSocket-Extensions`: the first that it supports,
    /// or nil (§5). It grants the client's parameters and asks for none itself.
    static func accepted(of offers: Fields) -> DeflateAgreement? {
        var accepted: DeflateAgreement?
        for index in offers.indices(of: .secWebSocketExtensions) where accepted == nil {
            offers.withValue(at: index) { bytes in
                ListSyntax.forEachElement(in: bytes) { element in
                    let name = ListSyntax.valueWithoutParameters(of: element, in: bytes)
                    guard accepted == nil, bytes.equals(lowercased: Self.name, in: name) else { return }
                    accepted = try? agreement(toOffer: element, in: bytes)
                }
            }
        }
        return accepted
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
            // zlib has no raw window of 8 bits, so such an offer is declined.
            guard let bits, bits > 8 else {
                throw .invalidExtensionParameter(Excerpt(bytes.extracting(element)))
            }
            agreement.serverMaxWindowBits = bits
        }
        if case .present(let bits?) = offer.clientWindow { agreement.clientMaxWindowBits = bits }
        return agreement
    }
}

/// The parameters of one element (RFC 7692 §7.1).
private struct DeflateParameters {
    enum Window {
        case absent
        /// The parameter is present; its value is nil if it has none.
        case present(Int?)
    }

    var serverNoContextTakeover = false
    var clientNoContextTakeover = false
    var serverWindow = Window.absent
    var clientWindow = Window.absent

    init(of element: Range<Int>, in bytes: Span<UInt8>) throws(WebSocketError) {
        var names: Set<String> = []
        var isValid = true
        // The closure cannot modify `self`, which is being initialized.
        var found = self
        ListSyntax.forEachParameter(of: element, in: bytes) { name, value in
            let name = name.lowercased()
            if !names.insert(name).inserted { isValid = false }
            switch name {
            case "server_no_context_takeover":
                found.serverNoContextTakeover = true
                if !value.isEmpty { isValid = false }
            case "client_no_context_takeover":
                found.clientNoContextTakeover = true
                if !value.isEmpty { isValid = false }
            case "server_max_window_bits":
                found.serverWindow = .present(Self.bits(value))
                if Self.bits(value) == nil { isValid = false }
            case "client_max_window_bits":
                found.clientWindow = .present(Self.bits(value))
                if !value.isEmpty, Self.bits(value) == nil { isValid = false }
            default:
                isValid = false
            }
        }
        guard isValid else { throw .invalidExtensionParameter(Excerpt(bytes.extracting(element))) }
        self = found
    }

    /// Parses 8 to 15, without leading zeros.
    private static func bits(_ text: String) -> Int? {
        (8...15).first { String($0) == text }
    }
}
