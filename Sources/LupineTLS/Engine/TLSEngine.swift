// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// One secured connection: plaintext on one side, a `TLSWire` on the other, OpenSSL between them.
///
/// It owns no socket, waits for nothing and asks no clock. It belongs to one owner at a time, who calls it when the wire
/// is ready, and it calls nobody but its wire. Whatever OpenSSL writes counts as written; what the wire does not take is
/// kept here (`hasPendingOutput`) until `flush`, and so long nothing more is encrypted.
///
/// A client's handshake stops at the peer's chain. No certificate of its own and no application byte leaves before
/// `answerTrust(.success)`, with TLS 1.2 (RFC 5246) as with TLS 1.3 (RFC 8446).
@safe package final class TLSEngine {
    /// How far a handshake has come.
    package enum Progress {
        /// The connection may be used. A client's last flight goes with the first `write`, or with `settle`, which
        /// the owner calls once he has written, or knows that he will not at once.
        case done
        /// It goes on when the wire is readable, or writable if there is pending output.
        case wouldBlock
        /// It goes on after `answerTrust`.
        case awaitsTrust(PeerTrust)
        /// It goes on after `answerIdentity`.
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

    /// What has become of a server's question who the client is.
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
    /// What the wire has not taken, from `pendingStart` on.
    var pending: [UInt8] = []
    var pendingStart = 0
    /// What is pending is the last flight of a client's handshake, kept so that the first write goes with it: one call and
    /// one segment less for each connection.
    var isCorked = false
    /// A client's handshake has left OpenSSL's buffers behind, and neither reading nor writing has released them since.
    var keepsBuffers = false
    /// The wire can send no more. Reading goes on: an alert that says why may have come.
    var sendingFailed = false
    /// How receiving stopped last.
    var lastReceive = TLSWireOutcome.wouldBlock
    /// Bytes received in the handshake, or since plaintext came last within one call of `read`.
    var bytesWithoutData = 0
    /// Plaintext that has come.
    var plaintextRead = 0
    /// Reading has met the end, in order or not, behind bytes that were handed out first.
    var holdsEnd = false
    /// The length of a server's Diffie-Hellman group that was over the limit.
    var refusedGroup: Int32?
    /// Whether the wire may be asked for more.
    var mayReceive = true
    var newSessions: [TLSSession] = []
    var peerCertificates: [Certificate] = []
    var stapledResponse: [UInt8]?

    /// A connection to a server. `host` is a name, which the server is told, or an IP literal, which it is not
    /// (RFC 6066 §3). `protocols` are offered in place of those of the configuration (RFC 7301).
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

    /// A connection from a client.
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
        // Of all its functions this one returns 0 when it has worked.
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
        // Freed without close_notify, OpenSSL would spoil the session for later connections. A failure has done so already.
        unsafe SSL_set_shutdown(connection, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        unsafe SSL_free(connection)
    }

    /// The engine of a connection, for OpenSSL's callbacks: the one that its BIO reads for.
    static func behind(_ connection: OpaquePointer) -> TLSEngine? {
        unsafe OpenSSLWire.engine(of: SSL_get_rbio(connection))
    }

    /// Nothing was written at once behind the handshake, or it has been: sends the last flight if it still waits, and lets go
    /// of what was kept for that.
    package func settle() throws(TLSError) {
        if keepsBuffers { releaseBuffers() }
        if isCorked { try flush() }
    }

    /// The sessions that have come since this was last called; with TLS 1.3 they come with the first reads.
    package func takeSessions() -> [TLSSession] {
        let taken = newSessions
        if !taken.isEmpty { newSessions = [] }
        return taken
    }

    /// What the handshake has agreed on. Not before it is done.
    package var info: TLSInfo {
        let asked = unsafe SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name)
            .map { unsafe String(cString: $0) }
        return TLSInfo(
            version: version, cipherSuite: cipherSuite,
            cipherSuiteNumber: cipherSuiteNumber,
            isResumed: isResumed, applicationProtocol: applicationProtocol, serverName: asked,
            peerCertificates: peerCertificates)
    }

    /// The version; like the rest of `info`, not before the handshake is done.
    package var version: TLSVersion {
        TLSVersion(rawValue: UInt16(truncatingIfNeeded: unsafe SSL_version(connection))) ?? .v1_2
    }

    /// Whether the peer has asked for another handshake and has heard no. With HTTP/1.1 the connection goes on; what the peer gives it
    /// up with then is about that.
    package var hasRefusedRenegotiation: Bool { unsafe lupine_SSL_refused_renegotiation(connection) == 1 }

    /// The cipher suite, by the name that the RFCs give it.
    package var cipherSuite: String {
        let cipher = unsafe SSL_get_current_cipher(connection)
        return unsafe SSL_CIPHER_standard_name(cipher).map { unsafe String(cString: $0) } ?? ""
    }

    /// The same as its number on the wire.
    package var cipherSuiteNumber: UInt16 {
        unsafe SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(connection))
    }

    /// Whether the handshake took up where an earlier connection began.
    package var isResumed: Bool { unsafe SSL_session_reused(connection) == 1 }

    /// What the server of this handshake has learnt about the client; of a resumed one, nothing new.
    package var identity: PeerEvidence.ClientIdentity {
        switch identityState {
        case .notAsked: .notAsked
        case .asking, .absent: .nobody
        case .sent: ownCertificate.map { .certificate($0.fingerprint) } ?? .nobody
        }
    }

    /// The application protocol (RFC 7301), if one was agreed on.
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
