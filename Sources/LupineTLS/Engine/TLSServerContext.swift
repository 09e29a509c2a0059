// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The OpenSSL contexts that the connections of one server share. May be used on any thread.
///
/// Each identity has its own context (`SSL_CTX`). A connection begins with the first, and switches to another one if the client
/// requests that identity's server name (SNI).
package final class TLSServerContext: Sendable {
    /// The configuration that it was created from.
    package let configuration: TLSServerConfiguration
    /// One context for each identity of the configuration, in the same order.
    private let contexts: [OpenSSLHandle<ContextObject>]
    /// The application protocols of the configuration, in the encoding of the extension (RFC 7301 §3.1).
    private let protocols: [UInt8]

    /// Creates the contexts for the configuration.
    package init(_ configuration: TLSServerConfiguration) throws(TLSError) {
        guard !configuration.identities.isEmpty else { throw .configuration(.noIdentity) }
        self.configuration = configuration
        protocols = try OpenSSLContext.encoded(protocols: configuration.applicationProtocols)
        var contexts: [OpenSSLHandle<ContextObject>] = []
        for identity in configuration.identities {
            contexts.append(try Self.context(for: identity, of: configuration))
        }
        self.contexts = contexts
        // The pointer to this object, for the callbacks. The engines retain the object, so that it outlives every callback.
        let argument = unsafe Unmanaged.passUnretained(self).toOpaque()
        for context in contexts {
            let pointer = unsafe context.pointer
            unsafe _ = lupine_SSL_CTX_set_tlsext_servername_callback(pointer, serverNameCallback)
            unsafe _ = lupine_SSL_CTX_set_tlsext_servername_arg(pointer, argument)
            unsafe _ = lupine_SSL_CTX_set_tlsext_status_cb(pointer, statusCallback)
            unsafe _ = lupine_SSL_CTX_set_tlsext_status_arg(pointer, argument)
            if !protocols.isEmpty { unsafe SSL_CTX_set_alpn_select_cb(pointer, alpnSelectCallback, argument) }
            if configuration.refusalAlert != nil {
                unsafe SSL_CTX_set_client_hello_cb(pointer, clientHelloCallback, argument)
            }
        }
    }

    /// The context with which every connection begins: that of the first identity.
    var initialContext: OpenSSLHandle<ContextObject> { contexts[0] }

    /// Creates the context for one identity.
    private static func context(
        for identity: TLSServerIdentity, of configuration: TLSServerConfiguration
    ) throws(TLSError) -> OpenSSLHandle<ContextObject> {
        let context = try OpenSSLContext.make(
            isServer: true,
            settings: OpenSSLContext.SharedSettings(
                minimumVersion: configuration.minimumVersion, maximumVersion: configuration.maximumVersion,
                cipherList: configuration.cipherList, cipherSuites: configuration.cipherSuites))
        try OpenSSLContext.setIdentity(identity.identity, in: context)
        try request(configuration.clientCertificates, in: context)
        let pointer = unsafe context.pointer
        // On a server that requests client certificates, OpenSSL resumes no session without a session ID context.
        let sessionIDContext: [UInt8] = Array("lupine".utf8)
        unsafe _ = SSL_CTX_set_session_id_context(pointer, sessionIDContext, UInt32(sessionIDContext.count))
        // A ticket contains the whole session, so the server needs no cache of sessions.
        unsafe _ = lupine_SSL_CTX_set_session_cache_mode(pointer, Int(SSL_SESS_CACHE_OFF))
        if !configuration.issuesTickets {
            unsafe _ = SSL_CTX_set_options(pointer, lupine_SSL_OP_NO_TICKET())
            unsafe _ = SSL_CTX_set_num_tickets(pointer, 0)
        }
        return context
    }

    /// Makes the context request client certificates as the configuration says.
    private static func request(
        _ clientCertificates: TLSServerConfiguration.ClientCertificates,
        in context: OpenSSLHandle<ContextObject>
    ) throws(TLSError) {
        let pointer = unsafe context.pointer
        let roots: [Certificate]
        switch clientCertificates {
        case .none: return
        case .requested(let acceptedRoots):
            roots = acceptedRoots
            unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        case .required(let acceptedRoots):
            roots = acceptedRoots
            unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        }
        OpenSSLErrors.clear()
        for root in roots {
            let certificate = unsafe root.handle.pointer
            guard unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(pointer), certificate) == 1,
                unsafe SSL_CTX_add_client_CA(pointer, certificate) == 1
            else { throw OpenSSLContext.rejectedSetting() }
        }
    }

    /// Switches the connection to the identity for the server name that the client requests. Without such an identity, the
    /// first one stays. Returns an `SSL_TLSEXT_ERR_` number.
    fileprivate func chooseIdentity(for connection: OpaquePointer) -> Int32 {
        guard let name = unsafe SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name) else {
            return SSL_TLSEXT_ERR_NOACK
        }
        let serverName = unsafe String(cString: name)
        guard let index = configuration.identities.firstIndex(where: { $0.matches(serverName) }) else {
            return SSL_TLSEXT_ERR_NOACK
        }
        unsafe _ = SSL_set_SSL_CTX(connection, contexts[index].pointer)
        return SSL_TLSEXT_ERR_OK
    }

    /// Staples the OCSP response of the connection's identity. Returns an `SSL_TLSEXT_ERR_` number.
    fileprivate func staple(to connection: OpaquePointer) -> Int32 {
        let current = unsafe SSL_get_SSL_CTX(connection)
        guard let index = contexts.firstIndex(where: { unsafe $0.pointer == current }),
            let response = configuration.identities[index].stapledResponse,
            let copy = unsafe lupine_OPENSSL_malloc(response.count)
        else { return SSL_TLSEXT_ERR_NOACK }
        // OpenSSL takes ownership of the copy.
        unsafe copy.copyMemory(from: response, byteCount: response.count)
        unsafe _ = lupine_SSL_set_tlsext_status_ocsp_resp(
            connection, copy.assumingMemoryBound(to: UInt8.self), response.count)
        return SSL_TLSEXT_ERR_OK
    }

    /// Chooses the first of the server's protocols that the client offers; HTTP/2 only if it is allowed with the negotiated
    /// version and cipher suite. Returns the range of the name in the client's list, or nil for none.
    ///
    /// In both lists, each name follows its length in one byte.
    fileprivate func chooseProtocol(
        from offered: UnsafeBufferPointer<UInt8>, on connection: OpaquePointer?
    ) -> Range<Int>? {
        var supported = protocols[...]
        // `ignoresHTTP2Requirements` is for tests, whose client has to refuse the connection.
        let mayBeHTTP2 = unsafe configuration.ignoresHTTP2Requirements || allowsHTTP2(connection)
        while let length = supported.first {
            let name = supported.dropFirst().prefix(Int(length))
            let mayChoose = mayBeHTTP2 || !name.elementsEqual("h2".utf8)
            var position = 0
            while mayChoose && position < offered.count {
                let start = position + 1
                let end = unsafe start + Int(offered[position])
                guard end <= offered.count else { break }
                if unsafe offered[start..<end].elementsEqual(name) { return start..<end }
                position = end
            }
            supported = supported.dropFirst(Int(length) + 1)
        }
        return nil
    }
}

/// Whether the negotiated parameters suffice for HTTP/2 (RFC 9113 §9.2). OpenSSL has chosen version and cipher suite before it
/// calls the ALPN callback.
private func allowsHTTP2(_ connection: OpaquePointer?) -> Bool {
    guard let connection = unsafe connection,
        let version = TLSVersion(rawValue: UInt16(truncatingIfNeeded: unsafe SSL_version(connection)))
    else { return false }
    let name = unsafe SSL_CIPHER_standard_name(SSL_get_pending_cipher(connection))
    return unsafe version.allowsHTTP2(with: name.map { unsafe String(cString: $0) } ?? "")
}

/// Returns the server context whose pointer was passed to OpenSSL as a callback's argument.
private func serverContext(_ argument: UnsafeMutableRawPointer?) -> TLSServerContext? {
    guard let argument = unsafe argument else { return nil }
    return unsafe Unmanaged<TLSServerContext>.fromOpaque(argument).takeUnretainedValue()
}

/// OpenSSL's callback that reports the server name in the ClientHello.
private func serverNameCallback(
    _ connection: OpaquePointer?, _ alert: UnsafeMutablePointer<Int32>?, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let connection = unsafe connection else { return SSL_TLSEXT_ERR_NOACK }
    return unsafe serverContext(argument)?.chooseIdentity(for: connection) ?? SSL_TLSEXT_ERR_NOACK
}

/// OpenSSL's callback for a client that requests a stapled OCSP response.
private func statusCallback(_ connection: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let connection = unsafe connection else { return SSL_TLSEXT_ERR_NOACK }
    return unsafe serverContext(argument)?.staple(to: connection) ?? SSL_TLSEXT_ERR_NOACK
}

/// OpenSSL's callback that selects an application protocol. Without a common protocol, the handshake fails with an alert.
private func alpnSelectCallback(
    _ connection: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ length: UInt32,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    let offer = unsafe UnsafeBufferPointer(start: offered, count: Int(length))
    guard let range = unsafe serverContext(argument)?.chooseProtocol(from: offer, on: connection),
        let start = offer.baseAddress
    else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    unsafe chosen?.pointee = start + range.lowerBound
    unsafe chosenLength?.pointee = UInt8(range.count)
    return SSL_TLSEXT_ERR_OK
}

/// OpenSSL's callback for each ClientHello, set only if the configuration refuses all of them with an alert.
private func clientHelloCallback(
    _ connection: OpaquePointer?, _ alert: UnsafeMutablePointer<Int32>?, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let refusal = unsafe serverContext(argument)?.configuration.refusalAlert else {
        return SSL_CLIENT_HELLO_SUCCESS
    }
    unsafe alert?.pointee = Int32(refusal.rawValue)
    return SSL_CLIENT_HELLO_ERROR
}
