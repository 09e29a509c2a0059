// SPDX-License-Identifier: MIT

/// The parameters of message compression that client and server have agreed on (RFC 7692 §7). The compressor that applies them is
/// in the module LupineCoding.
package struct DeflateAgreement: Hashable, Sendable {
    /// Whether the server resets its compression window, the data to which compressed data may refer, after each message.
    package var serverNoContextTakeover = false
    /// Whether the client resets its compression window after each message.
    package var clientNoContextTakeover = false
    /// The size of the server's window, as an exponent: 8 to 15 for 2^8 to 2^15 octets.
    package var serverMaxWindowBits = 15
    /// The size of the client's window, as an exponent. zlib does not support 8: with that size a client sends its messages
    /// uncompressed, which is always allowed.
    package var clientMaxWindowBits = 15

    /// Creates an agreement. By default each side has the largest window, and does not reset it between messages.
    package init(
        serverNoContextTakeover: Bool = false, clientNoContextTakeover: Bool = false,
        serverMaxWindowBits: Int = 15, clientMaxWindowBits: Int = 15
    ) {
        self.serverNoContextTakeover = serverNoContextTakeover
        self.clientNoContextTakeover = clientNoContextTakeover
        self.serverMaxWindowBits = serverMaxWindowBits
        self.clientMaxWindowBits = clientMaxWindowBits
    }

    /// The element of `Sec-WebSocket-Extensions` in a server's response.
    var extensionElement: String {
        var element = DeflateOffer.name
        if serverNoContextTakeover { element += "; server_no_context_takeover" }
        if clientNoContextTakeover { element += "; client_no_context_takeover" }
        // 15 bits are the default.
        if serverMaxWindowBits < 15 { element += "; server_max_window_bits=\(serverMaxWindowBits)" }
        if clientMaxWindowBits < 15 { element += "; client_max_window_bits=\(clientMaxWindowBits)" }
        return element
    }
}
