// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Translates OpenSSL's errors to `TLSError`, with the help of the engine's state.
extension TLSEngine {
    /// Marks the connection as failed with `error`, and returns `error` to be thrown.
    func fail(_ error: TLSError) -> TLSError {
        phase = .failed(error)
        return error
    }

    /// Returns the error of an operation of OpenSSL that stopped with `reason`, one of the `SSL_ERROR_` numbers. Empties
    /// OpenSSL's error queue, which contains the details.
    func stopError(for reason: Int32) -> TLSError {
        let failures = OpenSSLErrors.takeFailures()
        if case .refused(let failure, _) = trustMachine.state { return .chainRefused(failure) }
        if let refusedGroupBits {
            return .protocolViolation(
                OpenSSLFailure(
                    library: ERR_LIB_SSL, reason: SSL_R_BAD_DH_VALUE,
                    description: "a Diffie-Hellman group of \(refusedGroupBits) bits, over the limit of "
                        + "\(OpenSSLContext.largestGroupBits)"))
        }
        for failure in failures where failure.library == ERR_LIB_SSL {
            if let alert = failure.receivedAlert { return error(forAlert: alert) }
        }
        // A failure of OpenSSL's SSL library names the violation of the protocol; failures of other libraries are only its causes.
        if let failure = failures.first(where: { $0.library == ERR_LIB_SSL }) ?? failures.first {
            return error(forFailure: failure)
        }
        // ZERO_RETURN: the peer has sent close_notify.
        if reason == SSL_ERROR_ZERO_RETURN && phase == .handshaking { return .closedInHandshake }
        switch lastReceive {
        case .end: return phase == .handshaking ? .closedInHandshake : .truncated
        case .failed: return .wireFailed
        case .bytes, .wouldBlock:
            return .protocolViolation(
                OpenSSLFailure(library: 0, reason: reason, description: "stopped without a reason"))
        }
    }

    /// Returns the error of a connection that the peer has ended with `alert`.
    private func error(forAlert alert: TLSAlert) -> TLSError {
        switch (alert, identityState) {
        case (.handshakeFailure, _) where hasRefusedRenegotiation: return .renegotiation
        case (.certificateRequired, _), (.handshakeFailure, .absent): return .clientCertificateRequired
        case (.badCertificate, .sent), (.unsupportedCertificate, .sent), (.certificateRevoked, .sent),
            (.certificateExpired, .sent), (.certificateUnknown, .sent), (.unknownCA, .sent),
            (.accessDenied, .sent), (.decryptError, .sent), (.handshakeFailure, .sent):
            return .clientCertificateRejected(alert)
        case (.protocolVersion, _) where phase == .handshaking: return .versionNotShared
        case (.handshakeFailure, _) where isBeforeServerHello,
            (.insufficientSecurity, _) where isBeforeServerHello:
            return .cipherNotShared
        case (.noRenegotiation, _): return .renegotiation
        default: return .alert(alert)
        }
    }

    /// Returns the error of a connection that OpenSSL itself has ended with `failure`.
    private func error(forFailure failure: OpenSSLFailure) -> TLSError {
        guard failure.library == ERR_LIB_SSL else { return .protocolViolation(failure) }
        switch failure.reason {
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_NO_PROTOCOLS_AVAILABLE, SSL_R_VERSION_TOO_LOW,
            SSL_R_VERSION_TOO_HIGH:
            return .versionNotShared
        case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_CIPHERS_AVAILABLE, SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS,
            SSL_R_NO_SUITABLE_KEY_SHARE, SSL_R_NO_SUITABLE_GROUPS:
            return .cipherNotShared
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST: return .notTLS
        case SSL_R_WRONG_VERSION_NUMBER where isBeforeServerHello: return .notTLS
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return .clientCertificateRequired
        case SSL_R_NO_RENEGOTIATION: return .renegotiation
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: return .truncated
        default: return .protocolViolation(failure)
        }
    }

    /// Whether the server has not answered the ClientHello with a handshake message yet. An alert in this state refuses the
    /// ClientHello.
    private var isBeforeServerHello: Bool {
        let state = unsafe SSL_get_state(connection)
        return state == TLS_ST_CW_CLNT_HELLO || state == TLS_ST_BEFORE
    }
}

extension OpenSSLFailure {
    /// The alert that OpenSSL received and turned into this failure of its SSL library; nil for other failures.
    fileprivate var receivedAlert: TLSAlert? {
        guard let number = UInt8(exactly: reason - SSL_AD_REASON_OFFSET) else { return nil }
        return TLSAlert(rawValue: number)
    }
}
