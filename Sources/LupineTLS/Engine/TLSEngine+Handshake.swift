// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The handshake. On a client, it stops at two points until the engine's owner answers: when the server's chain has arrived, and
/// when the server requests a client certificate.
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
        // If the owner has called again without a verdict, the question is repeated. In the state `stopped`, OpenSSL stops once
        // more below, and `progress(afterStop:)` repeats the question.
        if trustMachine.needsVerdict && trustMachine.state != .stopped, let trust = readPresentedTrust() {
            return try requestTrust(trust)
        }
        // For a chain that the owner refused in the state `stopped`, OpenSSL itself sends the alert, see `verifyCallback`.
        if case .refused(let failure, from: .flightRead) = trustMachine.state {
            throw refuse(failure, sendingAlert: true)
        }
        // The handshake with the resumed session was complete, so the connection ends with close_notify, not with an error alert.
        if case .refused(let failure, from: .resumed) = trustMachine.state {
            throw refuse(failure, sendingAlert: false)
        }
        OpenSSLErrors.clear()
        let result = unsafe SSL_do_handshake(connection)
        if result == 1 {
            // The pending output is the last flight, which waits for the first write.
            isCorked = !pendingOutput.isEmpty
            return try finishHandshake()
        }
        return try progress(afterStop: unsafe SSL_get_error(connection, result))
    }

    /// Returns what the owner has to do after OpenSSL has stopped with `reason`, one of its `SSL_ERROR_` numbers. Throws if the
    /// handshake has failed.
    private func progress(afterStop reason: Int32) throws(TLSError) -> Progress {
        switch reason {
        case SSL_ERROR_WANT_READ:
            try? flush()
            if hasFailedToSend { throw fail(.wireFailed) }
            if bytesWithoutData > Self.controlByteLimit {
                throw fail(.onlyControlMessages(bytes: bytesWithoutData))
            }
            return .wouldBlock
        // OpenSSL waits for the verification of the chain, for a record that `send` holds back, or for the client certificate.
        case SSL_ERROR_WANT_RETRY_VERIFY, SSL_ERROR_WANT_WRITE, SSL_ERROR_WANT_X509_LOOKUP:
            try? flush()
            if trustMachine.needsVerdict, let trust = readPresentedTrust() { return try requestTrust(trust) }
            // If the owner has nothing to decide, nothing would ever end the wait.
            guard case .waitingForOwner = identityState else { throw fail(.closedInHandshake) }
            return .awaitsIdentity(identityRequest)
        default:
            // The error is read before the flush: if the wire is another TLS connection, a flush clears OpenSSL's error queue.
            let error = stopError(for: reason)
            try? flush()
            throw fail(error)
        }
    }

    /// Checks the handshake that OpenSSL has completed. Returns `done`, or asks the owner about the chain of a resumed session.
    private func finishHandshake() throws(TLSError) -> Progress {
        switch role {
        case .server:
            peerCertificates = presentedChain(isServer: true)
            releaseBuffers()
        case .client:
            // The server has sent no chain, which is permitted only if the handshake has resumed a session.
            if trustMachine.state == .noChain {
                guard unsafe SSL_session_reused(connection) == 1 else {
                    throw fail(.untrusted(.noCertificate))
                }
                // The result is ignored: the advice is always to wait for the verdict, and the next line does that.
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
        // After the handshake, alerts and the peer's handshake messages count towards `messageLimit`.
        unsafe lupine_SSL_count_messages(connection)
        // A client keeps OpenSSL's buffers: it usually writes its request at once, and would have to allocate them again.
        if case .client = role { keepsBuffers = true }
        return .done
    }

    /// Whether the pending `awaitsTrust` is about the chain of an earlier handshake, whose session this handshake resumes.
    package var asksAboutResumption: Bool { trustMachine.state == .resumed }

    /// Answers `awaitsTrust` with the owner's verdict. After a refusal the next `handshake` ends the connection and throws.
    package func answerTrust(_ verdict: Result<Void, TrustFailure>) {
        // The result is ignored: the next `handshake` reads the machine's state, which contains the verdict.
        _ = trustMachine.handle(.verdict(verdict))
    }

    /// Answers `awaitsIdentity` with the client's identity. With nil, the client sends no certificate.
    package func answerIdentity(_ identity: TLSIdentity?) {
        guard case .waitingForOwner = identityState else {
            preconditionFailure("nobody has asked for an identity")
        }
        guard let identity else {
            identityState = .absent
            return
        }
        OpenSSLErrors.clear()
        let chain = OpenSSLChain(identity.intermediates)
        // The last argument, 1, allows replacing an identity that was set before.
        let status = unsafe SSL_use_cert_and_key(
            connection, identity.certificate.handle.pointer, identity.privateKey.handle.pointer, chain.stack,
            1)
        if status == 1 {
            identityState = .sent
            ownCertificate = identity.certificate
        } else {
            // `fail` stores the error, and the next `handshake` throws it.
            _ = fail(.configuration(.identity(OpenSSLContext.firstFailure())))
        }
    }

    // MARK: Called by OpenSSL's callbacks

    /// OpenSSL has received the peer's chain, and asks whether to continue.
    func didReceiveChain() -> TrustMachine.Advice {
        if trustMachine.state == .noChain {
            // The server has not resumed the offered session, so the chain and the stapled response of the session are removed.
            peerCertificates = []
            stapledResponse = nil
        }
        // With TLS 1.3 the stapled response is an extension of the Certificate message (RFC 8446 §4.4.2.1).
        let includesStaple = unsafe SSL_version(connection) >= TLS1_3_VERSION
        return trustMachine.handle(.chain(includesStaple: includesStaple))
    }

    /// What `certificateCallback` has to tell OpenSSL: to continue, to stop until the owner has decided, or to fail.
    enum IdentityAdvice { case proceed, wait, fail }

    /// The server has requested a client certificate. Uses the configuration's identity, or stops to ask the owner.
    func didReceiveIdentityRequest() -> IdentityAdvice {
        guard case .client(let context, _) = role else { return .proceed }
        // With TLS 1.2 the certificate request arrives before the verdict about the server. The client certificate is part of the
        // next flight, so the machine decides as about sending.
        switch trustMachine.handle(.wantsToSend) {
        case .proceed: break
        case .wait: return .wait
        case .refuse: return .fail
        }
        switch identityState {
        case .absent, .sent: return .proceed
        case .waitingForOwner: return .wait
        case .notRequested: break
        }
        if let identity = context.configuration.identity {
            identityState = .sent
            ownCertificate = identity.certificate
            return .proceed
        }
        // An owner that chooses no identity is not asked, and the client sends no certificate.
        identityState = asksForIdentity ? .waitingForOwner : .absent
        return asksForIdentity ? .wait : .proceed
    }

    /// The server has issued a session. Stores it for `takeSessions`.
    func didReceiveSession(_ handle: OpenSSLHandle<SessionObject>) {
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

    /// The most sessions that wait for `takeSessions`.
    private static var newSessionLimit: Int { 4 }

    // MARK: Private

    /// Returns the peer's chain and stapled response, which the owner has to judge; nil on a server. In a full handshake, reads
    /// the chain and the response from OpenSSL first. In a resumed handshake, they are those of the session.
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

    /// Returns `awaitsTrust`, the question to the owner whether the peer is trusted. Throws if reading a certificate's extensions
    /// would cost too much.
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

    /// Moves the stapled response out of OpenSSL, which frees OpenSSL's copy. If OpenSSL has none, returns the response that an
    /// earlier call has moved.
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

    /// Ends the connection because the owner has refused the chain. Returns the error to throw.
    ///
    /// With `sendingAlert`, writes the alert as a plaintext record, because OpenSSL cannot send it: the output of this side was
    /// held back, so that it encrypts nothing yet. Otherwise sends close_notify.
    private func refuse(_ failure: TrustFailure, sendingAlert: Bool) -> TLSError {
        if sendingAlert {
            // The record: type, version (major 3, minor), length (0, 2); then the alert: level 2 (fatal), description.
            let minor = unsafe UInt8(truncatingIfNeeded: SSL_version(connection))
            let alert: [UInt8] = [Self.alertType, 3, minor, 0, 2, 2, failure.alert.rawValue]
            // The result is ignored, because `send` never holds back an alert.
            _ = send(alert.span)
        } else {
            OpenSSLErrors.clear()
            unsafe _ = SSL_shutdown(connection)
        }
        try? flush()
        return fail(.chainRefused(failure))
    }
}
