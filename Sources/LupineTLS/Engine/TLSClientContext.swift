// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The OpenSSL context, roots and key log that the connections of one client configuration share. May be used on any thread.
///
/// It makes no trust decision: each engine stops when the peer's chain has arrived, and the engine's owner decides.
package final class TLSClientContext: Sendable {
    /// The configuration that it was created from.
    package let configuration: TLSConfiguration
    /// The roots, which are read on demand.
    package let store: TrustStore
    /// The `SSL_CTX` with the configuration's settings.
    let handle: OpenSSLHandle<ContextObject>
    /// The file for the secrets of the connections, if the configuration has one.
    let keyLog: OpenSSLKeyLog?

    /// Creates a context for the configuration. Opens the key log, but does not read the roots.
    package init(_ configuration: TLSConfiguration) throws(TLSError) {
        self.configuration = configuration
        store = TrustStore(configuration.roots)
        keyLog = try configuration.keyLogPath.map { path throws(TLSError) in try OpenSSLKeyLog(path: path) }
        handle = try OpenSSLContext.make(
            isServer: false,
            settings: OpenSSLContext.SharedSettings(
                minimumVersion: configuration.minimumVersion, maximumVersion: configuration.maximumVersion,
                cipherList: configuration.cipherList, cipherSuites: configuration.cipherSuites,
                groups: configuration.groups))
        let pointer = unsafe handle.pointer
        let protocols = try OpenSSLContext.encoded(protocols: configuration.applicationProtocols)
        if !protocols.isEmpty {
            OpenSSLErrors.clear()
            // Unlike other functions of OpenSSL, this one returns 0 on success.
            let status = unsafe protocols.withUnsafeBufferPointer { bytes in
                unsafe SSL_CTX_set_alpn_protos(pointer, bytes.baseAddress, UInt32(bytes.count))
            }
            guard status == 0 else { throw OpenSSLContext.rejectedSetting() }
        }
        if let identity = configuration.identity { try OpenSSLContext.setIdentity(identity, in: handle) }
        // `verifyCallback` replaces OpenSSL's verification of the peer's chain, and lets the engine's owner decide.
        unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        unsafe SSL_CTX_set_cert_verify_callback(pointer, verifyCallback, nil)
        unsafe SSL_CTX_set_cert_cb(pointer, certificateCallback, nil)
        // Requests a stapled OCSP response from every server.
        unsafe _ = lupine_SSL_CTX_set_tlsext_status_type(pointer, Int32(TLSEXT_STATUSTYPE_ocsp))
        if configuration.resumesSessions {
            // OpenSSL passes new sessions to the callback and stores none. The engine's owner stores them, because it knows the
            // evaluator and the roots under which each may be resumed.
            unsafe _ = lupine_SSL_CTX_set_session_cache_mode(
                pointer, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
            unsafe SSL_CTX_sess_set_new_cb(pointer, newSessionCallback)
        } else {
            unsafe _ = lupine_SSL_CTX_set_session_cache_mode(pointer, Int(SSL_SESS_CACHE_OFF))
            unsafe _ = SSL_CTX_set_options(pointer, lupine_SSL_OP_NO_TICKET())
        }
        if keyLog != nil { unsafe SSL_CTX_set_keylog_callback(pointer, keyLogCallback) }
    }
}

extension TLSClientContext {
    /// Reads the roots unless they have been read. Blocks: never call it on an event loop's thread.
    package func loadRoots() throws(TLSError) {
        do throws(TrustRootsError) { try store.load() } catch {
            throw TLSError.chainRefused(.rootsUnusable(error))
        }
    }
}

extension TLSError {
    /// The error for a refused chain. If the roots could not be read, it is a configuration error and says nothing about the
    /// peer.
    static func chainRefused(_ failure: TrustFailure) -> TLSError {
        guard case .rootsUnusable(let error) = failure else { return .untrusted(failure) }
        return .configuration(.roots(error.description))
    }
}

/// OpenSSL's callback that replaces its own verification of the chain. Returns 1 to accept the chain or to wait, 0 to refuse it.
private func verifyCallback(_ chain: OpaquePointer?, _ unused: UnsafeMutableRawPointer?) -> Int32 {
    let index = SSL_get_ex_data_X509_STORE_CTX_idx()
    guard let connection = unsafe X509_STORE_CTX_get_ex_data(chain, index),
        let engine = unsafe TLSEngine.engine(of: OpaquePointer(connection))
    else { return 0 }
    switch engine.didReceiveChain() {
    case .proceed: return 1
    case .wait:
        // OpenSSL then stops with SSL_ERROR_WANT_RETRY_VERIFY, and calls this function again when the handshake continues.
        unsafe _ = lupine_SSL_set_retry_verify(OpaquePointer(connection))
        return 1
    case .refuse(let failure):
        unsafe X509_STORE_CTX_set_error(chain, failure.verifyError)
        return 0
    }
}

/// OpenSSL's callback before a client sends its certificate. Returns 1 to continue, 0 to fail, and -1 to stop with
/// SSL_ERROR_WANT_X509_LOOKUP until the handshake continues.
private func certificateCallback(_ connection: OpaquePointer?, _ unused: UnsafeMutableRawPointer?) -> Int32 {
    guard let connection = unsafe connection, let engine = unsafe TLSEngine.engine(of: connection) else {
        return 0
    }
    switch engine.didReceiveIdentityRequest() {
    case .proceed: return 1
    case .wait: return -1
    case .fail: return 0
    }
}

/// OpenSSL's callback for a session that the server has issued. Returning 1 tells OpenSSL that the callback owns the reference.
private func newSessionCallback(_ connection: OpaquePointer?, _ session: OpaquePointer?) -> Int32 {
    guard let connection = unsafe connection, let engine = unsafe TLSEngine.engine(of: connection),
        let handle = unsafe OpenSSLHandle<SessionObject>(owning: session)
    else { return 0 }
    engine.didReceiveSession(handle)
    return 1
}

/// OpenSSL's callback for a line of the key log.
private func keyLogCallback(_ connection: OpaquePointer?, _ line: UnsafePointer<CChar>?) {
    guard let connection = unsafe connection, let line = unsafe line else { return }
    unsafe TLSEngine.engine(of: connection)?.keyLog?.append(line)
}
