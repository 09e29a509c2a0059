// SPDX-License-Identifier: MIT

/// What a client offers for compressed messages (RFC 7692 §7.1), and what either end makes of the other's word.
package struct DeflateOffer: Hashable, Sendable {
    /// What the offer says of the client's own window.
    package enum ClientWindow: Hashable, Sendable {
        /// Nothing: the server may not limit it.
        case unlimited
        /// That the server may limit it.
        case limitable
        /// That it is no larger than this, and that the server may limit it further.
        case limited(bits: Int)
    }

    /// The extension's name.
    static let name = "permessage-deflate"

    /// Asks the server to forget its window after each message.
    package var serverNoContextTakeover: Bool
    /// Says that the client may forget its window after each message, whether or not the server asks.
    package var clientNoContextTakeover: Bool
    /// Asks the server for a window of at most that many bits, 8 to 15.
    package var serverMaxWindowBits: Int?
    /// The client's window.
    package var clientWindow: ClientWindow

    /// What browsers offer: only that the server may limit the client's window.
    package init(
        serverNoContextTakeover: Bool = false, clientNoContextTakeover: Bool = false,
        serverMaxWindowBits: Int? = nil, clientWindow: ClientWindow = .limitable
    ) {
        self.serverNoContextTakeover = serverNoContextTakeover
        self.clientNoContextTakeover = clientNoContextTakeover
        self.serverMaxWindowBits = serverMaxWindowBits
        self.clientWindow = clientWindow
    }

    /// As a client says it in `Sec-WebSocket-Extensions`.
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

    /// What a server's answer to this offer agrees on: an element of `Sec-WebSocket-Extensions` (§7.1).
    func agreement(_ answer: Range<Int>, in bytes: Span<UInt8>) throws(WebSocketError) -> DeflateAgreement {
        let parameters = try DeflateParameters(of: answer, in: bytes)
        let refusal = WebSocketError.invalidExtensionParameter(Excerpt(bytes.extracting(answer)))
        var agreement = DeflateAgreement(
            serverNoContextTakeover: parameters.serverNoContextTakeover,
            clientNoContextTakeover: parameters.clientNoContextTakeover)
        // A server takes an offer with these by saying them too (§7.1.1.1, §7.1.2.1).
        guard parameters.serverNoContextTakeover || !serverNoContextTakeover else { throw refusal }
        switch parameters.serverWindow {
        case .absent:
            guard serverMaxWindowBits == nil else { throw refusal }
        case .present(let bits):
            guard let bits, bits <= serverMaxWindowBits ?? 15 else { throw refusal }
            agreement.serverMaxWindowBits = bits
        }
        switch (parameters.clientWindow, clientWindow) {
        case (.absent, .limited(let own)):
            agreement.clientMaxWindowBits = own
        case (.absent, .limitable), (.absent, .unlimited): break
        case (.present(let bits?), .limitable):
            agreement.clientMaxWindowBits = bits
        case (.present(let bits?), .limited(let own)):
            guard bits <= own else { throw refusal }
            agreement.clientMaxWindowBits = bits
        // It may not limit what was not offered, and must say to what (§7.1.2.2).
        case (.present, .unlimited), (.present(nil), .limitable), (.present(nil), .limited):
            throw refusal
        }
        return agreement
    }

    /// What a server agrees to of the offers in a request's `Sec-WebSocket-Extensions`: the first that it can keep to, or
    /// nil (§5). It grants what is asked and asks for nothing itself.
    static func accepted(of offers: Fields) -> DeflateAgreement? {
        var accepted: DeflateAgreement?
        for index in offers.indices(of: .secWebSocketExtensions) where accepted == nil {
            offers.withValue(at: index) { bytes in
                ListSyntax.forEachElement(in: bytes) { element in
                    let name = ListSyntax.principal(of: element, in: bytes)
                    guard accepted == nil, bytes.equals(lowercased: Self.name, in: name) else { return }
                    accepted = try? agreement(toOffer: element, in: bytes)
                }
            }
        }
        return accepted
    }

    private static func agreement(
        toOffer element: Range<Int>, in bytes: Span<UInt8>
    ) throws(WebSocketError) -> DeflateAgreement {
        let offer = try DeflateParameters(of: element, in: bytes)
        var agreement = DeflateAgreement(
            serverNoContextTakeover: offer.serverNoContextTakeover,
            clientNoContextTakeover: offer.clientNoContextTakeover)
        if case .present(let bits) = offer.serverWindow {
            // zlib has no raw window of 8 bits: such an offer is declined.
            guard let bits, bits > 8 else {
                throw .invalidExtensionParameter(Excerpt(bytes.extracting(element)))
            }
            agreement.serverMaxWindowBits = bits
        }
        if case .present(let bits?) = offer.clientWindow { agreement.clientMaxWindowBits = bits }
        return agreement
    }
}

/// The parameters of one element, as they stand there (RFC 7692 §7.1).
private struct DeflateParameters {
    enum Window {
        case absent
        /// nil: without a value.
        case present(Int?)
    }

    var serverNoContextTakeover = false
    var clientNoContextTakeover = false
    var serverWindow = Window.absent
    var clientWindow = Window.absent

    init(of element: Range<Int>, in bytes: Span<UInt8>) throws(WebSocketError) {
        var names: Set<String> = []
        var isValid = true
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

    /// 8 to 15, without leading zeros.
    private static func bits(_ text: String) -> Int? {
        (8...15).first { String($0) == text }
    }
}
