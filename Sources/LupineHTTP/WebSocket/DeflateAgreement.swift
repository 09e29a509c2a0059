// SPDX-License-Identifier: MIT

/// What both ends agreed on for compressed messages (RFC 7692 §7). What it means for the compression itself is for the
/// layer above, which has a compressor.
package struct DeflateAgreement: Hashable, Sendable {
    /// Whether the server forgets its window after each message.
    package var serverNoContextTakeover = false
    /// Whether the client forgets its window after each message.
    package var clientNoContextTakeover = false
    /// The server's window: 2 to the power of 8 to 15 octets.
    package var serverMaxWindowBits = 15
    /// The client's window. zlib cannot keep to 8, so that a client of that size sends its messages as they are, which
    /// it always may.
    package var clientMaxWindowBits = 15

    /// The usual: full windows, kept from message to message.
    package init(
        serverNoContextTakeover: Bool = false, clientNoContextTakeover: Bool = false,
        serverMaxWindowBits: Int = 15, clientMaxWindowBits: Int = 15
    ) {
        self.serverNoContextTakeover = serverNoContextTakeover
        self.clientNoContextTakeover = clientNoContextTakeover
        self.serverMaxWindowBits = serverMaxWindowBits
        self.clientMaxWindowBits = clientMaxWindowBits
    }

    /// As a server says it in `Sec-WebSocket-Extensions`.
    var value: String {
        var value = DeflateOffer.name
        if serverNoContextTakeover { value += "; server_no_context_takeover" }
        if clientNoContextTakeover { value += "; client_no_context_takeover" }
        if serverMaxWindowBits < 15 { value += "; server_max_window_bits=\(serverMaxWindowBits)" }
        if clientMaxWindowBits < 15 { value += "; client_max_window_bits=\(clientMaxWindowBits)" }
        return value
    }
}
