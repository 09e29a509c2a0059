// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The handshake, and the two points at which it stops until the owner answers: at the peer's chain, and at the peer's request
/// for a client certificate.
extension TLSEngine {
    /// Advances the handshake as far as possible. Call it again when the wire is ready, and after each answer.
    package func handshake() throws(TLSError) -> Progress {
        switch phase {
        case .handshaking: break
        case .established: return .done
        case .closed: throw .closedInHandshake
        case .failed(let failure): throw failure
        }
        // A send error is ignored here, because the peer may have sent an alert that explains it; `hasFailedToSend` records it.
        if !isCorked { try? flush() }
        // The owner has not answered yet, so the question is repeated. A stopped OpenSSL repeats it itself, see `explainStop`.
        if trustMachine.needsVerdict && trustMachine.state != .stopped, let trust = readPresentedTrust() {
            return try requestTrust(trust)
        }
        // OpenSSL itself sends the alert for a chain that was refused while stopped, see `verifyCallback`.
        if case .refused(let failure, from: .flightRead) = trustMachine.state {
            throw refuse(failure, sendingAlert: true)
        }
        if case .refused(let failure, from: .resumed) = trustMachine.state {
            throw refuse(failure, sendingAlert: false)
        }
        OpenSSLErrors.clear()
        let result = unsafe SSL_do_handshake(connection)
        if result == 1 {
            isCorked = !pendingOutput.isEmpty
            return try finishHandshake()
        }
        return try explainStop(unsafe SSL_get_error(connection, result))
    }

    /// Returns what the owner has to do after OpenSSL has stopped with `reason`, one of its `SSL_ERROR_` numbers, or throws.
    private func explainStop(_ reason: Int32) throws(TLSError) -> Progress {
        switch reason {
        case SSL_ERROR_WANT_READ:
            try? flush()
            if hasFailedToSend { throw fail(.wireFailed) }
            if bytesWithoutData > Self.controlByteLimit {
                throw fail(.onlyControlMessages(bytes: bytesWithoutData))
            }
            return .wouldBlock
        case SSL_ERROR_WANT_RETRY_VERIFY, SSL_ERROR_WANT_WRITE, SSL_ERROR_WANT_X509_LOOKUP:
            try? flush()
            if trustMachine.needsVerdict, let trust = readPresentedTrust() { return try requestTrust(trust) }
            guard case .asking = identityState else { throw fail(.closedInHandshake) }
            return .awaitsIdentity(identityRequest)
        default:
            // Before the flush, because a flush through an outer TLS connection clears OpenSSL's error queue.
            let error = stopError(for: reason)
            try? flush()
            throw fail(error)
        }
    }

    /// Checks the result of the handshake that OpenSSL has completed; returns `done`, or the question about a resumed session.
    private func finishHandshake() throws(TLSError) -> Progress {
        switch role {
        case .server:
            peerCertificates = presentedChain(isServer: true)
            releaseBuffers()
        case .client:
            if trustMachine.state == .noChain {
                guard unsafe SSL_session_reused(connection) == 1 else {
                    throw fail(.untrusted(.noCertificate))
                }
                // The result, to wait for the verdict, is obeyed by the next line.
                _ = trustMachine.handle(.resumedWithoutChain)
                if let trust = readPresentedTrust() { return .awaitsTrust(trust) }
            }
            // The last line of defense: even if OpenSSL reports success, a client's handshake completes only if the owner has
            // accepted the peer.
            guard trustMachine.state == .accepted else {
                throw fail(.untrusted(.refused("the handshake ended without a verdict")))
            }
            if let chosen = applicationProtocol, !offeredProtocols.contains(chosen) {
                throw fail(.protocolNotOffered(chosen))
            }
        }
        if hasFailedToSend { throw fail(.wireFailed) }
        phase = .established
        // From now on alerts and the peer's handshake messages count towards `messageLimit`.
        unsafe lupine_SSL_count_messages(connection)
        // A client usually writes its request at once, and would have to allocate the buffers again.
        if case .client = role { keepsBuffers = true }
        return .done
    }

    /// Whether `awaitsTrust` concerns the chain of an earlier handshake that this one resumes.
    package var asksAboutResumption: Bool { trustMachine.state == .resumed }

    /// Answers `awaitsTrust`. After a refusal the next `handshake` sends the peer an alert and throws.
    package func answerTrust(_ answer: Result<Void, TrustFailure>) {
        _ = trustMachine.handle(.verdict(verdict))
    }

    /// Answers `awaitsIdentity`; nil continues without a certificate.
    package func answerIdentity(_ identity: TLSIdentity?) {
        guard case .asking = identityState else {
            preconditionFailure("nobody has asked for an identity")
        }
        guard let identity else {
            identityState = .absent
            return
        }
        OpenSSLErrors.clear()
        let chain = OpenSSLChain(identity.intermediates)
        let status = unsafe SSL_use_cert_and_key(
            connection, identity.certificate.handle.pointer, identity.privateKey.handle.pointer, chain.stack,
            1)
        if status == 1 {
            identityState = .sent
            ownCertificate = identity.certificate
        } else {
            // The next `handshake` throws this error.
            _ = fail(.configuration(.identity(OpenSSLContext.firstFailure())))
        }
    }

    // MARK: Called by OpenSSL's callbacks

    /// Handles the arrival of the peer's chain.
    func chainReceived() -> TrustMachine.Advice {
        if trustMachine.state == .noChain {
            // The server has not resumed the offered session, whose chain and staple these were.
            peerCertificates = []
            stapledResponse = nil
        }
        // With TLS 1.3 the staple is an extension of the certificate message (RFC 8446 §4.4.2.1).
        let includesStaple = unsafe SSL_version(connection) >= TLS1_3_VERSION
        return trustMachine.handle(.chain(includesStaple: includesStaple))
    }

    /// The answer to OpenSSL's certificate callback.
    enum IdentityAdvice { case proceed, wait, fail }

    /// Handles the server's request for a client certificate: uses the configuration's identity, or stops to ask the owner.
    func identityRequested() -> IdentityAdvice {
        guard case .client(let context, _) = role else { return .proceed }
        // With TLS 1.2 the certificate request arrives before the verdict about the server.
        switch trustMachine.handle(.wantsToSend) {
        case .proceed: break
        case .wait: return .wait
        case .refuse: return .fail
        }
        switch identityState {
        case .absent, .sent: return .proceed
        case .asking: return .wait
        case .notAsked: break
        }
        if let identity = context.configuration.identity {
            identityState = .sent
            ownCertificate = identity.certificate
            return .proceed
        }
        identityState = asksForIdentity ? .asking : .absent
        return asksForIdentity ? .wait : .proceed
    }

    /// Stores a session that the server has issued, for `takeSessions`.
    func sessionReceived(_ handle: OpenSSLHandle<SessionObject>) {
        guard case .client = role else { return }
        // A server may send any number of tickets, so the engine keeps only the last ones. The array is moved out and back for
        // the reason given at `appendToPendingOutput`.
        var sessions = newSessions
        newSessions = []
        if sessions.count == Self.newSessionLimit { sessions.removeFirst() }
        sessions.append(
            TLSSession(handle, certificates: peerCertificates, stapledResponse: stapledResponse))
        newSessions = sessions
    }

    private static var newSessionLimit: Int { 4 }

    // MARK: Private

    /// Returns the peer's chain and staple, which the owner has to judge; nil on a server. Unless the handshake is resumed, first
    /// reads the chain from OpenSSL, and moves the staple out of it.
    private func readPresentedTrust() -> PeerTrust? {
        guard case .client(let context, let host) = role else { return nil }
        if trustMachine.state != .resumed {
            peerCertificates = presentedChain(isServer: false)
            stapledResponse = takeStaple()
        }
        return PeerTrust(
            certificates: peerCertificates, stapledResponse: stapledResponse, host: host,
            store: context.store,
            intermediates: context.configuration.intermediates)
    }

    /// Returns the request to judge the peer, or throws if reading its chain would cost too much.
    private func requestTrust(_ trust: PeerTrust) throws(TLSError) -> Progress {
        if let certificate = trust.certificates.first(where: { $0.isCostlyToRead }) {
            throw fail(
                .untrusted(
                    .invalidChain(
                        subject: certificate.subject.description,
                        code: Int(X509_V_ERR_UNSUPPORTED_EXTENSION_FEATURE),
                        reason: "too many of its distribution points are named relative to its issuer")))
        }
        return .awaitsTrust(trust)
    }

    /// Returns the peer's certificates, leaf first. OpenSSL's list contains the leaf only on clients.
    private func presentedChain(isServer: Bool) -> [Certificate] {
        var chain: [Certificate] = []
        if isServer, let leaf = unsafe SSL_get0_peer_certificate(connection) {
            chain.append(unsafe Certificate(OpenSSLHandle(sharing: leaf)))
        }
        guard let stack = unsafe SSL_get_peer_cert_chain(connection) else { return chain }
        for index in 0..<(unsafe lupine_sk_X509_num(stack)) {
            guard let certificate = unsafe lupine_sk_X509_value(stack, index) else { continue }
            chain.append(unsafe Certificate(OpenSSLHandle(sharing: certificate)))
        }
        return chain
    }

    /// Moves the stapled response out of OpenSSL; returns the one moved earlier if OpenSSL has none.
    private func takeStaple() -> [UInt8]? {
        var bytes: UnsafePointer<UInt8>?
        let count = unsafe lupine_SSL_get_tlsext_status_ocsp_resp(connection, &bytes)
        guard count > 0, let bytes = unsafe bytes else { return stapledResponse }
        let staple = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
        unsafe _ = lupine_SSL_set_tlsext_status_ocsp_resp(connection, nil, 0)
        return staple
    }

    /// The server's request for a client certificate, with the issuers that it accepts.
    private var identityRequest: TLSIdentityRequest {
        var issuers: [[UInt8]] = []
        if let names = unsafe SSL_get0_peer_CA_list(connection) {
            for index in 0..<(unsafe lupine_sk_X509_NAME_num(names)) {
                var bytes: UnsafePointer<UInt8>?
                var count = 0
                guard let name = unsafe lupine_sk_X509_NAME_value(names, index),
                    unsafe X509_NAME_get0_der(name, &bytes, &count) == 1
                else { continue }
                issuers.append(unsafe Array(UnsafeBufferPointer(start: bytes, count: count)))
            }
        }
        return TLSIdentityRequest(acceptableIssuers: issuers)
    }

    /// Ends the connection because the owner has refused the chain. With `sendingAlert`, writes the alert as a plaintext record,
    /// because OpenSSL cannot send it: this side has encrypted nothing yet, since its output was held back.
    private func refuse(_ failure: TrustFailure, sendingAlert: Bool) -> TLSError {
        if sendingAlert {
            // The record: type, version (major 3), length 2; then the level 2, which means fatal, and the alert's description.
            let minor = unsafe UInt8(truncatingIfNeeded: SSL_version(connection))
            let alert: [UInt8] = [Self.alertType, 3, minor, 0, 2, 2, failure.alert.rawValue]
            // An alert is never held back.
            _ = send(alert.span)
        } else {
            OpenSSLErrors.clear()
            unsafe _ = SSL_shutdown(connection)
        }
        try? flush()
        return fail(.chainRefused(failure))
    }
}
