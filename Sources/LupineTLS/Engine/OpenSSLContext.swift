// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Creates `SSL_CTX` objects with the settings that clients and servers share, before connections use them.
enum OpenSSLContext {
    /// The versions and algorithms of a client's or a server's configuration. Nil means the system's default.
    struct SharedSettings {
        var minimumVersion: TLSVersion
        var maximumVersion: TLSVersion
        var cipherList: String?
        var cipherSuites: String?
        var groups: String?
    }

    /// Creates a context for clients or servers, with these settings and the modes that every engine relies on.
    static func make(
        isServer: Bool, settings: SharedSettings
    ) throws(TLSError) -> OpenSSLHandle<ContextObject> {
        let context = try makeEmpty(isServer: isServer)
        let pointer = unsafe context.pointer
        // With partial writes, `SSL_write_ex` returns after each record. With read-ahead, OpenSSL receives several records with
        // one call of its BIO (`OpenSSLWire`), instead of two calls for each record. SSL_MODE_RELEASE_BUFFERS is not set, because
        // the engine itself releases the buffers (`TLSEngine.releaseBuffers`).
        let modes =
            SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY
            | SSL_MODE_NO_AUTO_CHAIN
        unsafe _ = lupine_SSL_CTX_set_mode(pointer, Int(modes))
        unsafe _ = lupine_SSL_CTX_set_read_ahead(pointer, 1)
        unsafe _ = SSL_CTX_set_options(
            pointer, lupine_SSL_OP_NO_RENEGOTIATION() | lupine_SSL_OP_NO_COMPRESSION())
        // The system's openssl.cnf may have set these options. Once they are cleared, OpenSSL reports a missing close_notify, and
        // refuses a server without secure renegotiation (RFC 5746).
        unsafe _ = SSL_CTX_clear_options(
            pointer, lupine_SSL_OP_IGNORE_UNEXPECTED_EOF() | lupine_SSL_OP_LEGACY_SERVER_CONNECT())
        // Limits the Diffie-Hellman groups that a server may choose.
        if !isServer { unsafe lupine_SSL_CTX_set_strength(pointer, groupLimit) }
        try apply(settings, to: context)
        return context
    }

    /// The longest accepted Diffie-Hellman group of a server, in bits. OpenSSL accepts 10,000 bits, with which a server that has
    /// not been authenticated yet would occupy an event loop's thread for 0.7 s; 4096 bits take 0.03 s.
    static let largestGroupBits: Int32 = 4096

    /// Creates a context with OpenSSL's defaults.
    private static func makeEmpty(isServer: Bool) throws(TLSError) -> OpenSSLHandle<ContextObject> {
        OpenSSLErrors.clear()
        let method = unsafe isServer ? TLS_server_method() : TLS_client_method()
        guard let context = unsafe OpenSSLHandle<ContextObject>(owning: SSL_CTX_new(method)) else {
            throw rejectedSetting()
        }
        return context
    }

    /// Sets the versions and algorithms. Throws for the first setting that OpenSSL does not know.
    private static func apply(
        _ settings: SharedSettings, to context: OpenSSLHandle<ContextObject>
    ) throws(TLSError) {
        let pointer = unsafe context.pointer
        let (minimum, maximum) = (settings.minimumVersion, settings.maximumVersion)
        guard minimum <= maximum else {
            throw .configuration(.noVersion(minimum: minimum, maximum: maximum))
        }
        OpenSSLErrors.clear()
        guard unsafe lupine_SSL_CTX_set_min_proto_version(pointer, Int32(minimum.rawValue)) == 1,
            unsafe lupine_SSL_CTX_set_max_proto_version(pointer, Int32(maximum.rawValue)) == 1
        else { throw rejectedSetting() }
        // `scratch` is an unused context, on which each word is tried alone.
        if let list = settings.cipherList {
            try CipherNames.check(list: list, scratch: try makeEmpty(isServer: false))
            guard unsafe SSL_CTX_set_cipher_list(pointer, list) == 1 else {
                throw .configuration(.cipherList(list))
            }
        }
        if let suites = settings.cipherSuites {
            try CipherNames.check(suites: suites, scratch: try makeEmpty(isServer: false))
            guard unsafe SSL_CTX_set_ciphersuites(pointer, suites) == 1 else {
                throw .configuration(.cipherSuite(suites))
            }
        }
        if let groups = settings.groups {
            guard !groups.isEmpty, unsafe lupine_SSL_CTX_set1_groups_list(pointer, groups) == 1 else {
                throw .configuration(.groups(groups))
            }
        }
    }

    /// Sets the identity for all connections of the context.
    static func setIdentity(
        _ identity: TLSIdentity, in context: OpenSSLHandle<ContextObject>
    ) throws(TLSError) {
        OpenSSLErrors.clear()
        let chain = OpenSSLChain(identity.intermediates)
        // The last argument, 1, allows replacing an identity that was set before.
        let status = unsafe SSL_CTX_use_cert_and_key(
            context.pointer, identity.certificate.handle.pointer, identity.privateKey.handle.pointer,
            chain.stack, 1)
        guard status == 1 else { throw .configuration(.identity(firstFailure())) }
    }

    /// Encodes application protocol names as the extension does (RFC 7301 §3.1): each name after its length in one byte.
    static func encoded(protocols: [String]) throws(TLSError) -> [UInt8] {
        var bytes: [UInt8] = []
        for name in protocols {
            guard let count = UInt8(exactly: name.utf8.count), count > 0 else {
                throw .configuration(.applicationProtocol(name))
            }
            bytes.append(count)
            bytes.append(contentsOf: name.utf8)
        }
        return bytes
    }

    /// The error for a setting that OpenSSL has just rejected.
    static func rejectedSetting() -> TLSError { .configuration(.refused(firstFailure())) }

    /// Empties the error queue, and returns its first failure, which is the root cause.
    static func firstFailure() -> OpenSSLFailure {
        OpenSSLErrors.takeFailures().first
            ?? OpenSSLFailure(library: 0, reason: 0, description: "no reason given")
    }
}

/// The limit on Diffie-Hellman groups, for a security callback (`SSL_CTX_set_security_callback`) that calls OpenSSL's own
/// callback too. All client contexts share it, so it is never freed.
nonisolated(unsafe) private let groupLimit: UnsafeMutablePointer<lupine_strength> = {
    // A new context has OpenSSL's own callback.
    let context = unsafe SSL_CTX_new(TLS_client_method())
    defer { unsafe SSL_CTX_free(context) }
    let groupLimit = UnsafeMutablePointer<lupine_strength>.allocate(capacity: 1)
    unsafe groupLimit.initialize(
        to: lupine_strength(
            default_callback: SSL_CTX_get_security_callback(context),
            group_limit: OpenSSLContext.largestGroupBits,
            group_refused: { connection, bits in
                guard let connection = unsafe connection else { return }
                unsafe TLSEngine.engine(of: connection)?.refusedGroupBits = bits
            }))
    return unsafe groupLimit
}()

/// Certificates as a stack of OpenSSL (a C array of pointers). Retains the certificates as long as it exists.
@safe struct OpenSSLChain: ~Copyable {
    let stack: OpaquePointer?

    init(_ certificates: [Certificate]) {
        unsafe stack = lupine_sk_X509_new()
        for certificate in certificates {
            let pointer = unsafe certificate.handle.pointer
            unsafe X509Object.retain(pointer)
            unsafe _ = lupine_sk_X509_push(stack, pointer)
        }
    }

    deinit { unsafe lupine_sk_X509_pop_free(stack) }
}
