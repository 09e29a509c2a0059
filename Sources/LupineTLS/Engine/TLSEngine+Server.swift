// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Functions for servers, mostly for those that the tests start. They inspect the client, even after a failed handshake, and use
/// features of the protocol that a test wants its client to meet.
extension TLSEngine {
    /// The server name that the client has requested (SNI, RFC 6066 §3); nil if none. Available once its first message has
    /// arrived, even if the handshake failed.
    package var requestedServerName: String? {
        unsafe SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name).map { unsafe String(cString: $0) }
    }

    /// The client's verified certificates, its own first.
    package var clientCertificates: [Certificate] {
        guard let leaf = unsafe SSL_get0_peer_certificate(connection) else { return [] }
        var chain = [unsafe Certificate(OpenSSLHandle(sharing: leaf))]
        guard let stack = unsafe SSL_get_peer_cert_chain(connection) else { return chain }
        for index in 0..<(unsafe lupine_sk_X509_num(stack)) {
            guard let certificate = unsafe lupine_sk_X509_value(stack, index) else { continue }
            chain.append(unsafe Certificate(OpenSSLHandle(sharing: certificate)))
        }
        return chain
    }

    /// Sends close_notify and continues reading; nothing may be written afterwards. Output that the wire does not accept at once
    /// stays pending. Unlike `closeWriting`, it does not send a last flight that waits for the first write.
    package func closeForWriting() {
        guard phase == .established else { return }
        // The error queue is cleared after the call too: `SSL_shutdown` may leave an error that concerns no later operation.
        OpenSSLErrors.clear()
        unsafe _ = SSL_shutdown(connection)
        OpenSSLErrors.clear()
    }

    /// Allows renegotiation on this connection, and requests one (RFC 5246 §7.4.1): a server sends HelloRequest, a client
    /// ClientHello. TLS 1.2 only.
    package func requestRenegotiation() throws(TLSError) {
        unsafe _ = SSL_clear_options(connection, lupine_SSL_OP_NO_RENEGOTIATION())
        OpenSSLErrors.clear()
        guard unsafe SSL_renegotiate(connection) == 1 else { throw fail(stopError(for: SSL_ERROR_SSL)) }
        try sendQueuedMessage()
    }

    /// Updates this side's sending keys (KeyUpdate, RFC 8446 §4.6.3). With `both`, requests that the peer updates its keys too.
    /// TLS 1.3 only.
    package func updateKeys(both: Bool) throws(TLSError) {
        OpenSSLErrors.clear()
        let updateType = both ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED
        guard unsafe SSL_key_update(connection, updateType) == 1 else {
            throw fail(stopError(for: SSL_ERROR_SSL))
        }
        try sendQueuedMessage()
    }

    /// Sends the handshake message that OpenSSL has queued.
    private func sendQueuedMessage() throws(TLSError) {
        OpenSSLErrors.clear()
        let result = unsafe SSL_do_handshake(connection)
        if result == 1 { return }
        let reason = unsafe SSL_get_error(connection, result)
        // OpenSSL has sent the message, and waits for the peer's reply.
        guard reason != SSL_ERROR_WANT_READ else { return }
        throw fail(stopError(for: reason))
    }
}
