// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// One TLS connection: plaintext on one side, a `TLSWire` on the other, OpenSSL in between.
///
/// It owns no socket, never waits and reads no clock. It belongs to one owner at a time, who calls it when the wire is ready. The
/// engine calls only its wire. It stores the output that the wire does not accept (`hasPendingOutput`), and encrypts nothing more
/// until `flush` has sent that output.
///
/// A client's handshake stops when the peer's chain has arrived. The client sends neither its own certificate nor any application
/// byte before the owner has accepted the peer with `answerTrust`. That applies to TLS 1.2 (RFC 5246) and TLS 1.3 (RFC 8446).
@safe package final class TLSEngine {
    /// The progress of a handshake, and what the owner has to do next.
    package enum Progress {
        /// The handshake is complete. A client's last flight (its last handshake messages) may still be pending: the first
        /// `write` sends it with its data. If the owner has nothing to write immediately, it calls `sendLastFlight`.
        case done
        /// Call `handshake` again when the wire is readable, or writable if output is pending.
        case wouldBlock
        /// Evaluate the peer, pass the verdict to `answerTrust`, and call `handshake` again.
        case awaitsTrust(PeerTrust)
        /// Choose a client certificate, pass it to `answerIdentity`, and call `handshake` again.
        case awaitsIdentity(TLSIdentityRequest)
    }

    /// The side of the connection, with the context that it shares with other connections.
    enum Role {
        case client(TLSClientContext, host: String)
        case server(TLSServerContext)
    }

    /// The state of the connection. An arrow in the comments lists the phases that may follow.
    enum Phase: Hashable {
        case handshaking  // -> established, failed
        case established  // -> closed, failed
        case closed
        case failed(TLSError)
    }

    /// On a client, the state of the server's request for a client certificate.
    enum IdentityState {
        case notRequested  // -> waitingForOwner, absent, sent; the server has not requested a certificate
        case waitingForOwner  // -> absent, sent; the owner has to choose an identity
        case absent  // the client sends no certificate
        case sent  // the client sends, or has sent, `ownCertificate`
    }

    /// Whether the handshake stops to ask the owner for an identity if the server requests one and the configuration has none.
    /// Set it before the handshake.
    package var asksForIdentity = false

    let role: Role
    /// The application protocols that a client offers.
    let offeredProtocols: [String]
    /// The source and destination of the ciphertext.
    let wire: any TLSWire
    /// The `SSL` object of OpenSSL, which the engine owns.
    let connection: OpaquePointer
    var phase = Phase.handshaking
    /// Decides when a client's handshake has to wait for the verdict about the peer.
    var trustMachine = TrustMachine()
    var identityState = IdentityState.notRequested
    /// The certificate that the client sends, or has sent.
    var ownCertificate: Certificate?
    /// Output that the wire has not accepted yet, or that waits to be sent together with later output. The wire has already
    /// accepted the bytes before `pendingOutputStart`.
    var pendingOutput: [UInt8] = []
    var pendingOutputStart = 0
    /// Whether `pendingOutput` is the last flight of a client's handshake. The engine sends it together with the first write,
    /// like a socket with TCP_CORK. This saves one system call and one segment per connection.
    var isCorked = false
    /// Whether OpenSSL's buffers are still allocated after a client's handshake, for the first write.
    var keepsBuffers = false
    /// Whether sending to the wire has failed. Reading continues, because an alert that explains the failure may have arrived.
    var hasFailedToSend = false
    /// The result of the last receive from the wire.
    var lastReceive = TLSWireOutcome.wouldBlock
    /// The number of bytes received in the handshake, or within one call of `read` since the last plaintext.
    var bytesWithoutData = 0
    /// The number of plaintext bytes read so far.
    var plaintextBytesRead = 0
    /// Whether the last `read` returned bytes, and found the end of the stream or an error after them.
    var hasPendingEnd = false
    /// The length in bits of a server's Diffie-Hellman group that exceeded the limit; nil if none did.
    var refusedGroupBits: Int32?
    /// Whether OpenSSL may receive from the wire. False during a `read` that has plaintext already, if the wire is drained.
    var mayReceive = true
    /// The sessions received since the last `takeSessions`.
    var newSessions: [TLSSession] = []
    /// The peer's chain, or that of the session that the client offers to resume.
    var peerCertificates: [Certificate] = []
    /// The OCSP response that was stapled to `peerCertificates`.
    var stapledResponse: [UInt8]?

    /// Creates a connection to a server.
    ///
    /// - Parameters:
    ///   - context: The configuration's context.
    ///   - host: A name, which the handshake sends to the server (SNI), or an IP literal, which it does not (RFC 6066 §3).
    ///   - protocols: The application protocols to offer (RFC 7301); nil for those of the configuration.
    ///   - session: A session to resume; nil for a full handshake.
    ///   - wire: The source and destination of the ciphertext.
    package init(
        client context: TLSClientContext, host: String, offering protocols: [String]? = nil,
        resuming session: TLSSession?, over wire: any TLSWire
    ) throws(TLSError) {
        let name = try ServerName(host)
        OpenSSLErrors.clear()
        guard let connection = unsafe SSL_new(context.handle.pointer) else {
            throw OpenSSLContext.rejectedSetting()
        }
        role = .client(context, host: name.host)
        offeredProtocols = protocols ?? context.configuration.applicationProtocols
        self.wire = wire
        unsafe self.connection = connection
        try attach()
        unsafe SSL_set_connect_state(connection)
        // Without `protocols`, the connection offers those that the context has set.
        if let protocols { try offer(protocols) }
        if let indication = name.indication {
            guard unsafe lupine_SSL_set_tlsext_host_name(connection, indication) == 1 else {
                throw .configuration(.host(host))
            }
        }
        if let session {
            // The result is ignored: if OpenSSL refuses the session, the handshake is a full one.
            unsafe _ = SSL_set_session(connection, session.handle.pointer)
            peerCertificates = session.certificates
            stapledResponse = session.stapledResponse
        }
    }

    /// Creates the server's side of a connection with a client.
    package init(server context: TLSServerContext, over wire: any TLSWire) throws(TLSError) {
        OpenSSLErrors.clear()
        guard let connection = unsafe SSL_new(context.initialContext.pointer) else {
            throw OpenSSLContext.rejectedSetting()
        }
        role = .server(context)
        offeredProtocols = []
        self.wire = wire
        unsafe self.connection = connection
        try attach()
        unsafe SSL_set_accept_state(connection)
    }

    /// Offers these application protocols (RFC 7301).
    private func offer(_ protocols: [String]) throws(TLSError) {
        let encoded = try OpenSSLContext.encoded(protocols: protocols)
        OpenSSLErrors.clear()
        // Unlike other functions of OpenSSL, this one returns 0 on success.
        let status = unsafe encoded.withUnsafeBufferPointer { bytes in
            unsafe SSL_set_alpn_protos(connection, bytes.baseAddress, UInt32(bytes.count))
        }
        guard status == 0 else { throw OpenSSLContext.rejectedSetting() }
    }

    /// Connects the `SSL` object with the wire through a BIO, and makes OpenSSL refuse Certificate messages that cost too much to
    /// parse.
    private func attach() throws(TLSError) {
        guard unsafe OpenSSLWire.attach(self, to: connection) else { throw OpenSSLContext.rejectedSetting() }
        unsafe lupine_SSL_guard_certificates(connection)
    }

    deinit {
        // Without these flags, freeing a connection that has not exchanged close_notify would invalidate its session for later
        // connections. If the connection has failed, OpenSSL has already invalidated the session.
        unsafe SSL_set_shutdown(connection, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        unsafe SSL_free(connection)
    }

    /// Returns the engine of an `SSL` object, for OpenSSL's callbacks. The object's BIO points to the engine.
    static func engine(of connection: OpaquePointer) -> TLSEngine? {
        unsafe OpenSSLWire.engine(of: SSL_get_rbio(connection))
    }

    /// Sends the last flight of the handshake if it is still pending, and frees the buffers that OpenSSL keeps for the first
    /// write. The owner calls it after its first write, or after the handshake if it has nothing to write.
    package func sendLastFlight() throws(TLSError) {
        if keepsBuffers { releaseBuffers() }
        if isCorked { try flush() }
    }

    /// Returns the sessions received since the last call, and removes them. With TLS 1.3 they arrive with the first reads.
    package func takeSessions() -> [TLSSession] {
        let sessions = newSessions
        // The check avoids an assignment in the common case without sessions.
        if !sessions.isEmpty { newSessions = [] }
        return sessions
    }

    /// The result of the handshake. Valid once it is done.
    package var info: TLSInfo {
        let serverName = unsafe SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name)
            .map { unsafe String(cString: $0) }
        return TLSInfo(
            version: version, cipherSuite: cipherSuite,
            cipherSuiteNumber: cipherSuiteNumber,
            isResumed: isResumed, applicationProtocol: applicationProtocol, serverName: serverName,
            peerCertificates: peerCertificates)
    }

    /// The version; like `info`, valid once the handshake is done.
    package var version: TLSVersion {
        // OpenSSL negotiates only versions within the configured limits, which are `TLSVersion`s, so the default is not used.
        TLSVersion(rawValue: UInt16(truncatingIfNeeded: unsafe SSL_version(connection))) ?? .v1_2
    }

    /// Whether the peer has requested a renegotiation, which OpenSSL has refused. The connection continues. `stopError(for:)`
    /// attributes a later handshake_failure alert to the refusal.
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

    /// The client identity that the server has received in this handshake; `notAsked` if the handshake resumed a session.
    package var identity: PeerEvidence.ClientIdentity {
        switch identityState {
        case .notRequested: .notAsked
        case .waitingForOwner, .absent: .noCertificate
        case .sent: ownCertificate.map { .certificate($0.fingerprint) } ?? .noCertificate
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

    /// The key log of a client's configuration.
    var keyLog: OpenSSLKeyLog? {
        switch role {
        case .client(let context, _): context.keyLog
        case .server: nil
        }
    }
}
