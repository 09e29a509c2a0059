// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Reads keys with OpenSSL. Never asks for a password on a terminal.
extension OpenSSLHandle where Object == KeyObject {
    /// Parses a SubjectPublicKeyInfo.
    static func publicKey(der: [UInt8]) throws(CertificateError) -> OpenSSLHandle {
        unsafe try read(der, as: .publicKey) { cursor, count in unsafe d2i_PUBKEY(nil, cursor, count) }
    }

    /// Parses a PKCS#8 PrivateKeyInfo, an RSAPrivateKey (PKCS#1) or an ECPrivateKey (SEC 1).
    static func privateKey(der: [UInt8]) throws(CertificateError) -> OpenSSLHandle {
        unsafe try read(der, as: .privateKey) { cursor, count in unsafe d2i_AutoPrivateKey(nil, cursor, count)
        }
    }

    /// Decrypts an encrypted PKCS#8 object, after checking the cost.
    static func privateKey(
        encrypted: OpaquePointer, password: [UInt8], in input: CertificateInput
    ) throws(CertificateError) -> OpenSSLHandle {
        // Throws if the derivation costs too much. The returned sum is needed only for an input with several encrypted objects.
        try PasswordCost.addRounds(of: unsafe algorithm(of: encrypted), input: input)
        OpenSSLErrors.clear()
        let keyInfo = unsafe password.withCharacters { unsafe PKCS8_decrypt(encrypted, $0, $1) }
        return unsafe try privateKey(owning: keyInfo, in: input)
    }

    /// Extracts the key from a decrypted PKCS#8 object, and frees the object. A null pointer means that the decryption has
    /// failed.
    static func privateKey(
        owning keyInfo: OpaquePointer?, in input: CertificateInput
    ) throws(CertificateError) -> OpenSSLHandle {
        guard let keyInfo = unsafe keyInfo else { throw OpenSSLErrors.decryptionError(of: input) }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(keyInfo) }
        guard let key = unsafe OpenSSLHandle(owning: EVP_PKCS82PKEY(keyInfo)) else {
            throw .malformed(input, reason: OpenSSLErrors.takeReason())
        }
        return key
    }

    /// Decrypts and parses an EncryptedPrivateKeyInfo (RFC 5958 §3).
    static func privateKey(encryptedDER der: [UInt8], password: [UInt8]) throws(CertificateError)
        -> OpenSSLHandle
    {
        let encrypted = unsafe try OpenSSLEncoding.read(der, as: .privateKey) { cursor, count in
            unsafe d2i_X509_SIG(nil, cursor, count)
        } release: {
            unsafe X509_SIG_free($0)
        }
        defer { unsafe X509_SIG_free(encrypted) }
        return unsafe try privateKey(encrypted: encrypted, password: password, in: .privateKey)
    }

    /// Reads a PEM block that is encrypted according to its headers (RFC 1421). The cost needs no check, because the key
    /// derivation is a single round of MD5.
    static func privateKey(block: [UInt8], password: [UInt8]) throws(CertificateError) -> OpenSSLHandle {
        OpenSSLErrors.clear()
        // The bytes must not move while the BIO reads them.
        let pointer: OpaquePointer? = unsafe block.withUnsafeBytes { bytes in
            guard let input = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else {
                return nil
            }
            defer { unsafe _ = BIO_free(input) }
            var passwordCopy = password
            return unsafe withUnsafeMutablePointer(to: &passwordCopy) { context in
                unsafe PEM_read_bio_PrivateKey(input, nil, passwordCallback, context)
            }
        }
        guard let key = unsafe OpenSSLHandle(owning: pointer) else {
            throw OpenSSLErrors.decryptionError(of: .privateKey)
        }
        return key
    }

    /// The SubjectPublicKeyInfo of the public key; for a private key, that of its public key.
    var subjectPublicKeyInfo: [UInt8] { unsafe OpenSSLEncoding.write { unsafe i2d_PUBKEY(pointer, $0) } }

    /// The algorithm and strength.
    var type: KeyType {
        let bits = Int(unsafe EVP_PKEY_get_bits(pointer))
        switch unsafe EVP_PKEY_get_base_id(pointer) {
        case NID_rsaEncryption, NID_rsassaPss: return .rsa(bits: bits)
        case NID_X9_62_id_ecPublicKey: return .ec(curve: curve, bits: bits)
        case NID_ED25519: return .ed25519
        case NID_ED448: return .ed448
        default:
            let name = unsafe EVP_PKEY_get0_type_name(pointer)
            return .other(unsafe name.map { unsafe String(cString: $0) } ?? "unknown")
        }
    }

    /// OpenSSL's name of the curve; "unnamed" for a curve that is described by its parameters.
    private var curve: String {
        defer { OpenSSLErrors.clear() }
        // The names of OpenSSL's curves are shorter than 80 characters.
        var name = [CChar](repeating: 0, count: 80)
        var count = 0
        let status = unsafe name.withUnsafeMutableBufferPointer {
            unsafe EVP_PKEY_get_group_name(pointer, $0.baseAddress, $0.count, &count)
        }
        guard status == 1 else { return "unnamed" }
        return String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Parses exactly one key with the `d2i_` function that `decode` calls.
    private static func read(
        _ der: [UInt8], as input: CertificateInput,
        _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
    ) throws(CertificateError) -> OpenSSLHandle {
        let pointer = unsafe try OpenSSLEncoding.read(der, as: input, decode) { unsafe EVP_PKEY_free($0) }
        return unsafe OpenSSLHandle(owning: pointer)
    }

    /// Returns the AlgorithmIdentifier of an encrypted PKCS#8 object, in DER.
    static func algorithm(of encrypted: OpaquePointer) -> [UInt8] {
        var algorithm: UnsafePointer<X509_ALGOR>?
        unsafe X509_SIG_get0(encrypted, &algorithm, nil)
        return unsafe OpenSSLEncoding.write { unsafe i2d_X509_ALGOR(algorithm, $0) }
    }
}

/// OpenSSL's callback for the password of a PEM block; `context` points to the password, a `[UInt8]`. Copies the password to
/// `buffer`, and returns its length, or -1 if it is longer than `size`.
private func passwordCallback(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ isForWriting: Int32,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let buffer = unsafe buffer, let context = unsafe context else { return -1 }
    let password = unsafe context.assumingMemoryBound(to: [UInt8].self).pointee
    guard password.count <= Int(size) else { return -1 }
    for (index, byte) in password.enumerated() { unsafe buffer[index] = CChar(bitPattern: byte) }
    return Int32(password.count)
}

extension [UInt8] {
    /// Calls `body` with the bytes as C characters and their count. The pointer is not null even if there are none, because a NUL
    /// follows the characters.
    func withCharacters<Result>(_ body: (UnsafePointer<CChar>?, Int32) -> Result) -> Result {
        let string = map(CChar.init(bitPattern:)) + [0]
        return unsafe string.withUnsafeBufferPointer { unsafe body($0.baseAddress, Int32(clamping: count)) }
    }
}
