// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// One TLS connection: plaintext on one side, a `TLSWire` on the other, OpenSSL in between.
///
/// It owns no socket, never waits and reads no clock. It belongs to one owner at a time, who calls it when the wire is ready, and
/// it calls only its wire. OpenSSL's writes always succeed; output that the wire does not accept is kept here
/// (`hasPendingOutput`) until `flush`, and until then nothing more is encrypted.
///
/// A client's handshake stops at the peer's chain. Neither its own certificate nor any application byte is sent before
/// `answerTrust(.success)`, with TLS 1.2 (RFC 5246) as with TLS 1.3 (RFC 8446).
@safe package final class TLSEngine {
    /// The progress of a handshake.
    package enum Progress {
        /// The connection may be used. A client's last flight is sent with the first `write`, or by `sendLastFlight`, which the owner
        /// calls after writing, or when it has nothing to write immediately.
        case done
        /// Call again when the wire is readable, or writable if output is pending.
        case wouldBlock
        /// Call again after `answerTrust`.
        case awaitsTrust(PeerTrust)
        /// Call again after `answerIdentity`.
        case awaitsIdentity(TLSIdentityRequest)
    }

    enum Role {
        case client(TLSClientContext, host: String)
        case server(TLSServerContext)
    }

    enum Phase: Hashable {
        case handshaking  // -> established, failed
        case established  // -> closed, failed
        case closed
        case failed(TLSError)
    }

    /// The state of a server's request for a client certificate.
    enum IdentityState {
        case notAsked  // -> asking, absent, sent
        case asking  // -> absent, sent
        case absent
        case sent
    }

    /// Whether the owner is asked for an identity that the configuration does not have. Set it before the handshake.
    package var asksForIdentity = false

    let role: Role
    /// The application protocols that a client offers.
    let offeredProtocols: [String]
    let wire: any TLSWire
    let connection: OpaquePointer
    var phase = Phase.handshaking
    var gate = TrustGate()
    var identityState = IdentityState.notAsked
    /// The certificate that the client sends, or has sent.
    var ownCertificate: Certificate?
    /// Output that the wire has not accepted, starting at `pendingStart`.
    var pending: [UInt8] = []
    var pendingStart = 0
    /// Whether `pending` is the last flight of a client's handshake, kept to be sent with the first write: this saves one call
    /// and one segment per connection.
    var isCorked = false
    /// Whether a client's handshake has left OpenSSL's buffers allocated, and neither reading nor writing has freed them since.
    var keepsBuffers = false
    /// Whether sending has failed. Reading continues: an alert that explains it may have arrived.
    var sendingFailed = false
    /// The result of the last receive.
    var lastReceive = TLSWireOutcome.wouldBlock
    /// The bytes received in the handshake, or since the last plaintext within one call of `read`.
    var bytesWithoutData = 0
    /// The plaintext bytes read so far.
    var plaintextRead = 0
    /// Whether reading has reached the end, orderly or not, after bytes that were returned first.
    var hasPendingEnd = false
    /// The length of a server's Diffie-Hellman group, if it exceeded the limit.
    var refusedGroup: Int32?
    /// Whether the wire may be read from.
    var mayReceive = true
    var newSessions: [TLSSession] = []
    var peerCertificates: [Certificate] = []
    var stapledResponse: [UInt8]?

    /// Creates a connection to a server. `host` is a name, which is sent to the server (SNI), or an IP literal, which is not (RFC
    /// 6066 §3). `protocols` are offered in place of the configuration's (RFC 7301).
    package init(
        client context: TLSClientContext, host: String, offering protocols: [String]? = nil,
        resuming session: TLSSession?, over wire: any TLSWire
    ) throws(TLSError) {
        let name = try ServerName(host)
        OpenSSLErrors.clear()
        guard let connection = unsafe SSL_new(context.handle.pointer) else { throw OpenSSLContext.refused() }
        role = .client(context, host: name.host)
        offeredProtocols = protocols ?? context.configuration.applicationProtocols
        self.wire = wire
        unsafe self.connection = connection
        try attach()
        unsafe SSL_set_connect_state(connection)
        if let protocols { try offer(protocols) }
        if let asked = name.indication {
            guard unsafe lupine_SSL_set_tlsext_host_name(connection, asked) == 1 else {
                throw .configuration(.host(host))
            }
        }
        if let session {
            unsafe _ = SSL_set_session(connection, session.handle.pointer)
            peerCertificates = session.certificates
            stapledResponse = session.stapledResponse
        }
    }

    /// Creates a connection from a client.
    package init(server context: TLSServerContext, over wire: any TLSWire) throws(TLSError) {
        OpenSSLErrors.clear()
        guard let connection = unsafe SSL_new(context.first.pointer) else { throw OpenSSLContext.refused() }
        role = .server(context)
        offeredProtocols = []
        self.wire = wire
        unsafe self.connection = connection
        try attach()
        unsafe SSL_set_accept_state(connection)
    }

    private func offer(_ protocols: [String]) throws(TLSError) {
        let encoded = try OpenSSLContext.encoded(protocols: protocols)
        OpenSSLErrors.clear()
        // Unlike other functions of OpenSSL, this one returns 0 on success.
        let status = unsafe encoded.withUnsafeBufferPointer { bytes in
            unsafe SSL_set_alpn_protos(connection, bytes.baseAddress, UInt32(bytes.count))
        }
        guard status == 0 else { throw OpenSSLContext.refused() }
    }

    private func attach() throws(TLSError) {
        guard unsafe OpenSSLWire.attach(self, to: connection) else { throw OpenSSLContext.refused() }
        unsafe lupine_SSL_guard_certificates(connection)
    }

    deinit {
        // Without these flags, freeing before close_notify would invalidate the session for later connections. A failure has done
        // so already.
        unsafe SSL_set_shutdown(connection, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        unsafe SSL_free(connection)
    }

    /// The engine of a connection, for OpenSSL's callbacks; found through its BIO.
    static func engine(of connection: OpaquePointer) -> TLSEngine? {
        unsafe OpenSSLWire.engine(of: SSL_get_rbio(connection))
    }

    /// Called when nothing is written right after the handshake, or once it has been written: sends the last flight if it still
    /// waits, and frees the buffers that were kept for the write.
    package func sendLastFlight() throws(TLSError) {
        if keepsBuffers { releaseBuffers() }
        if isCorked { try flush() }
    }

    /// Returns the sessions received since the last call; with TLS 1.3 they arrive with the first reads.
    package func takeSessions() -> [TLSSession] {
        let taken = newSessions
        if !taken.isEmpty { newSessions = [] }
        return taken
    }

    /// The result of the handshake. Valid once it is done.
    package var info: TLSInfo {
        let asked = unsafe SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name)
            .map { unsafe String(cString: $0) }
        return TLSInfo(
            version: version, cipherSuite: cipherSuite,
            cipherSuiteNumber: cipherSuiteNumber,
            isResumed: isResumed, applicationProtocol: applicationProtocol, serverName: asked,
            peerCertificates: peerCertificates)
    }

    /// The version; like `info`, valid once the handshake is done.
    package var version: TLSVersion {
        TLSVersion(rawValue: UInt16(truncatingIfNeeded: unsafe SSL_version(connection))) ?? .v1_2
    }

    /// Whether the peer has requested a renegotiation and was refused. With HTTP/1.1 the connection continues; a later
    /// handshake_failure alert is then attributed to the refusal.
    package var hasRefusedRenegotiation: Bool { unsafe lupine_SSL_refused_renegotiation(connection) == 1 }

    /// The cipher suite, by its name in the RFCs.
    package var cipherSuite: String {
        let cipher = unsafe SSL_get_current_cipher(connection)
        return unsafe SSL_CIPHER_standard_name(cipher).map { unsafe String(cString: $0) } ?? ""
    }

    /// The cipher suite, by its number on the wire.
    package var cipherSuiteNumber: UInt16 {
        unsafe SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(connection))
    }

    /// Whether the handshake resumed a session.
    package var isResumed: Bool { unsafe SSL_session_reused(connection) == 1 }

    /// The client identity that the server of this handshake has received; in a resumed handshake, nothing new.
    package var identity: PeerEvidence.ClientIdentity {
        switch identityState {
        case .notAsked: .notAsked
        case .asking, .absent: .nobody
        case .sent: ownCertificate.map { .certificate($0.fingerprint) } ?? .nobody
        }
    }

    /// The negotiated application protocol (RFC 7301); nil for none.
    package var applicationProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(connection, &bytes, &length)
        guard length > 0, let bytes = unsafe bytes else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: Int(length)), as: UTF8.self)
    }

    var keyLog: OpenSSLKeyLog? {
        switch role {
        case .client(let context, _): context.keyLog
        case .server: nil
        }
    }
}
