// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The state that the connections of one client configuration share: created once, used on any thread.
///
/// It makes no trust decision: each engine stops at the peer's chain and asks its owner.
package final class TLSClientContext: Sendable {
    /// The configuration that it was created from.
    package let configuration: TLSConfiguration
    /// The roots, which are read on demand.
    package let store: TrustStore
    let handle: OpenSSLHandle<ContextObject>
    let keyLog: OpenSSLKeyLog?

    /// Loads everything that the configuration names except the roots.
    package init(_ configuration: TLSConfiguration) throws(TLSError) {
        self.configuration = configuration
        store = TrustStore(configuration.roots)
        keyLog = try configuration.keyLogPath.map { path throws(TLSError) in try OpenSSLKeyLog(path: path) }
        handle = try OpenSSLContext.make(
            isServer: false,
            limits: OpenSSLContext.Limits(
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
            guard status == 0 else { throw OpenSSLContext.refused() }
        }
        if let identity = configuration.identity { try OpenSSLContext.use(identity, in: handle) }
        unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        unsafe SSL_CTX_set_cert_verify_callback(pointer, verifyChainFromPeer, nil)
        unsafe SSL_CTX_set_cert_cb(pointer, identityIsWanted, nil)
        unsafe _ = lupine_SSL_CTX_set_tlsext_status_type(pointer, Int32(TLSEXT_STATUSTYPE_ocsp))
        if configuration.resumesSessions {
            // The owner of the engine stores sessions, not OpenSSL, because it knows the trust policy that they belong to.
            unsafe _ = lupine_SSL_CTX_set_session_cache_mode(
                pointer, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
            unsafe SSL_CTX_sess_set_new_cb(pointer, storeSessionFromPeer)
        } else {
            unsafe _ = lupine_SSL_CTX_set_session_cache_mode(pointer, Int(SSL_SESS_CACHE_OFF))
            unsafe _ = SSL_CTX_set_options(pointer, lupine_SSL_OP_NO_TICKET())
        }
        if keyLog != nil { unsafe SSL_CTX_set_keylog_callback(pointer, secretIsKnown) }
    }
}

extension TLSClientContext {
    /// Reads the roots unless they have been read. Blocks: never call it on a loop's thread.
    package func loadRoots() throws(TLSError) {
        do throws(TrustRootsError) { try store.load() } catch {
            throw TLSError.refused(.rootsUnusable(error))
        }
    }
}

extension TLSError {
    /// The error for a refused chain. If the roots could not be read, it is a configuration error and says nothing about the
    /// peer.
    static func refused(_ failure: TrustFailure) -> TLSError {
        guard case .rootsUnusable(let error) = failure else { return .untrusted(failure) }
        return .configuration(.roots(error.description))
    }
}

private func verifyChainFromPeer(_ chain: OpaquePointer?, _ unused: UnsafeMutableRawPointer?) -> Int32 {
    let index = SSL_get_ex_data_X509_STORE_CTX_idx()
    guard let connection = unsafe X509_STORE_CTX_get_ex_data(chain, index),
        let engine = unsafe TLSEngine.engine(of: OpaquePointer(connection))
    else { return 0 }
    switch engine.chainReceived() {
    case .proceed: return 1
    case .wait:
        unsafe _ = lupine_SSL_set_retry_verify(OpaquePointer(connection))
        return 1
    case .refuse(let failure):
        unsafe X509_STORE_CTX_set_error(chain, failure.verifyError)
        return 0
    }
}

private func identityIsWanted(_ connection: OpaquePointer?, _ unused: UnsafeMutableRawPointer?) -> Int32 {
    guard let connection = unsafe connection, let engine = unsafe TLSEngine.engine(of: connection) else {
        return 0
    }
    switch engine.identityRequested() {
    case .proceed: return 1
    case .wait: return -1
    case .fail: return 0
    }
}

private func storeSessionFromPeer(_ connection: OpaquePointer?, _ session: OpaquePointer?) -> Int32 {
    guard let connection = unsafe connection, let engine = unsafe TLSEngine.engine(of: connection),
        let handle = unsafe OpenSSLHandle<SessionObject>(owning: session)
    else { return 0 }
    engine.sessionReceived(handle)
    return 1
}

private func secretIsKnown(_ connection: OpaquePointer?, _ line: UnsafePointer<CChar>?) {
    guard let connection = unsafe connection, let line = unsafe line else { return }
    unsafe TLSEngine.engine(of: connection)?.keyLog?.append(line)
}
