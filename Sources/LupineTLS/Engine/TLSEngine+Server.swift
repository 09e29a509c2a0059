// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// What only a server needs, the origin of the tests: to look at clients that never came in, and to do what clients have to put up
/// with, or a client of the tests does to a server.
extension TLSEngine {
    /// The name that the client has asked for, as soon as its first message has come; of a handshake that failed, too.
    package var askedServerName: String? {
        unsafe SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name).map { unsafe String(cString: $0) }
    }

    /// What the client has shown of itself and was accepted for, its own certificate first.
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

    /// Sends a close_notify and goes on reading: nothing may be written any more. What the wire does not take is pending.
    package func closeForWriting() {
        guard phase == .established else { return }
        OpenSSLErrors.clear()
        unsafe _ = SSL_shutdown(connection)
        OpenSSLErrors.clear()
    }

    /// Asks the peer for another handshake (HelloRequest of a server, ClientHello of a client, RFC 5246 §7.4.1), and would make
    /// it; TLS 1.2 only.
    package func requestRenegotiation() throws(TLSError) {
        unsafe _ = SSL_clear_options(connection, lupine_SSL_OP_NO_RENEGOTIATION())
        OpenSSLErrors.clear()
        guard unsafe SSL_renegotiate(connection) == 1 else { throw fail(failure(for: SSL_ERROR_SSL)) }
        try say()
    }

    /// Changes the keys that this side writes with (KeyUpdate, RFC 8446 §4.6.3), and asks the peer for the same if `both`;
    /// TLS 1.3 only.
    package func updateKeys(both: Bool) throws(TLSError) {
        OpenSSLErrors.clear()
        let kind = both ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED
        guard unsafe SSL_key_update(connection, kind) == 1 else { throw fail(failure(for: SSL_ERROR_SSL)) }
        try say()
    }

    /// Sends the message that was put in line.
    private func say() throws(TLSError) {
        OpenSSLErrors.clear()
        let result = unsafe SSL_do_handshake(connection)
        if result == 1 { return }
        let reason = unsafe SSL_get_error(connection, result)
        guard reason != SSL_ERROR_WANT_READ else { return }
        throw fail(failure(for: reason))
    }
}
