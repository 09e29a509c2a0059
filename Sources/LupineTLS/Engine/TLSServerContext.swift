// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The state that the connections of one server share: created once, used on any thread.
///
/// Each identity has its own `SSL_CTX`. A connection begins with the first, and switches to another one if the client requests
/// that identity's server name (SNI).
package final class TLSServerContext: Sendable {
    /// The configuration that it was created from.
    package let configuration: TLSServerConfiguration
    private let handles: [OpenSSLHandle<ContextObject>]
    private let protocols: [UInt8]

    /// Loads everything that the configuration names.
    package init(_ configuration: TLSServerConfiguration) throws(TLSError) {
        guard !configuration.identities.isEmpty else { throw .configuration(.noIdentity) }
        self.configuration = configuration
        protocols = try OpenSSLContext.encoded(protocols: configuration.applicationProtocols)
        var handles: [OpenSSLHandle<ContextObject>] = []
        for identity in configuration.identities {
            handles.append(try Self.context(for: identity, of: configuration))
        }
        self.handles = handles
        // The engines retain this object, so that it outlives every callback.
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        for handle in handles {
            let pointer = unsafe handle.pointer
            unsafe _ = lupine_SSL_CTX_set_tlsext_servername_callback(pointer, serverNameCallback)
            unsafe _ = lupine_SSL_CTX_set_tlsext_servername_arg(pointer, owner)
            unsafe _ = lupine_SSL_CTX_set_tlsext_status_cb(pointer, statusCallback)
            unsafe _ = lupine_SSL_CTX_set_tlsext_status_arg(pointer, owner)
            if !protocols.isEmpty { unsafe SSL_CTX_set_alpn_select_cb(pointer, alpnSelectCallback, owner) }
            if configuration.refusalAlert != nil {
                unsafe SSL_CTX_set_client_hello_cb(pointer, clientHelloCallback, owner)
            }
        }
    }

    /// The context that connections begin with.
    var first: OpenSSLHandle<ContextObject> { handles[0] }

    private static func context(
        for identity: TLSServerIdentity, of configuration: TLSServerConfiguration
    ) throws(TLSError) -> OpenSSLHandle<ContextObject> {
        let context = try OpenSSLContext.make(
            isServer: true,
            limits: OpenSSLContext.Limits(
                minimumVersion: configuration.minimumVersion, maximumVersion: configuration.maximumVersion,
                cipherList: configuration.cipherList, cipherSuites: configuration.cipherSuites))
        try OpenSSLContext.setIdentity(identity.identity, in: context)
        try request(configuration.clientCertificates, in: context)
        let pointer = unsafe context.pointer
        // Without such a name, OpenSSL fails resumptions on a server that requests client certificates.
        let name: [UInt8] = Array("lupine".utf8)
        unsafe _ = SSL_CTX_set_session_id_context(pointer, name, UInt32(name.count))
        // Tickets contain the whole session, so the server caches none.
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
        case .requested(let given):
            roots = given
            unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        case .required(let given):
            roots = given
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

    /// Switches the connection to the identity for the server name that the client requests. Returns an `SSL_TLSEXT_ERR_` number.
    fileprivate func chooseIdentity(for connection: OpaquePointer) -> Int32 {
        guard let name = unsafe SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name) else {
            return SSL_TLSEXT_ERR_NOACK
        }
        let serverName = unsafe String(cString: name)
        guard let index = configuration.identities.firstIndex(where: { $0.isFor(serverName) }) else {
            return SSL_TLSEXT_ERR_NOACK
        }
        unsafe _ = SSL_set_SSL_CTX(connection, handles[index].pointer)
        return SSL_TLSEXT_ERR_OK
    }

    /// Staples the OCSP response of the connection's identity. Returns an `SSL_TLSEXT_ERR_` number.
    fileprivate func staple(to connection: OpaquePointer) -> Int32 {
        let current = unsafe SSL_get_SSL_CTX(connection)
        guard let index = handles.firstIndex(where: { unsafe $0.pointer == current }),
            let response = configuration.identities[index].stapledResponse,
            let copy = unsafe lupine_OPENSSL_malloc(response.count)
        else { return SSL_TLSEXT_ERR_NOACK }
        // OpenSSL takes ownership of the copy.
        unsafe copy.copyMemory(from: response, byteCount: response.count)
        unsafe _ = lupine_SSL_set_tlsext_status_ocsp_resp(
            connection, copy.assumingMemoryBound(to: UInt8.self), response.count)
        return SSL_TLSEXT_ERR_OK
    }

    /// Chooses the first of the server's protocols that the client offers, HTTP/2 only where it is allowed. Returns its range in
    /// the client's list.
    fileprivate func chooseProtocol(
        from offered: UnsafeBufferPointer<UInt8>, on connection: OpaquePointer?
    ) -> Range<Int>? {
        var supported = protocols[...]
        let mayBeHTTP2 = unsafe configuration.ignoresHTTP2Requirements || allowsHTTP2(connection)
        while let length = supported.first {
            let name = supported.dropFirst().prefix(Int(length))
            // A protocol that must not be chosen is compared with nothing.
            var position = mayBeHTTP2 || !name.elementsEqual("h2".utf8) ? 0 : offered.count
            while position < offered.count {
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

/// The server context whose pointer was passed to OpenSSL as a callback's argument.
private func serverContext(_ argument: UnsafeMutableRawPointer?) -> TLSServerContext? {
    guard let argument = unsafe argument else { return nil }
    return unsafe Unmanaged<TLSServerContext>.fromOpaque(argument).takeUnretainedValue()
}

private func serverNameCallback(
    _ connection: OpaquePointer?, _ alert: UnsafeMutablePointer<Int32>?, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let connection = unsafe connection else { return SSL_TLSEXT_ERR_NOACK }
    return unsafe serverContext(argument)?.chooseIdentity(for: connection) ?? SSL_TLSEXT_ERR_NOACK
}

private func statusCallback(_ connection: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let connection = unsafe connection else { return SSL_TLSEXT_ERR_NOACK }
    return unsafe serverContext(argument)?.staple(to: connection) ?? SSL_TLSEXT_ERR_NOACK
}

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

private func clientHelloCallback(
    _ connection: OpaquePointer?, _ alert: UnsafeMutablePointer<Int32>?, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let refusal = unsafe serverContext(argument)?.configuration.refusalAlert else {
        return SSL_CLIENT_HELLO_SUCCESS
    }
    unsafe alert?.pointee = Int32(refusal.rawValue)
    return SSL_CLIENT_HELLO_ERROR
}
