// SPDX-License-Identifier: MIT

/// The negotiated parameters of compressed messages (RFC 7692 §7). The compressor that applies them is in LupineCoding.
package struct DeflateAgreement: Hashable, Sendable {
    /// Whether the server resets its window after each message.
    package var serverNoContextTakeover = false
    /// Whether the client resets its window after each message.
    package var clientNoContextTakeover = false
    /// The server's window: 2 to the power of 8 to 15 octets.
    package var serverMaxWindowBits = 15
    /// The client's window. zlib does not support 8, so a client with that size sends its messages uncompressed, which is always
    /// allowed.
    package var clientMaxWindowBits = 15

    /// Creates an agreement. The default is a full window for each side, which is kept from message to message.
    package init(
        serverNoContextTakeover: Bool = false, clientNoContextTakeover: Bool = false,
        serverMaxWindowBits: Int = 15, clientMaxWindowBits: Int = 15
    ) {
        self.serverNoContextTakeover = serverNoContextTakeover
        self.clientNoContextTakeover = clientNoContextTakeover
        self.serverMaxWindowBits = serverMaxWindowBits
        self.clientMaxWindowBits = clientMaxWindowBits
    }

    /// The element of `Sec-WebSocket-Extensions` in a server's answer.
    var value: String {
        var value = DeflateOffer.name
        if serverNoContextTakeover { value += "; server_no_context_takeover" }
        if clientNoContextTakeover { value += "; client_no_context_takeover" }
        if serverMaxWindowBits < 15 { value += "; server_max_window_bits=\(serverMaxWindowBits)" }
        if clientMaxWindowBits < 15 { value += "; client_max_window_bits=\(clientMaxWindowBits)" }
        return value
    }
}
