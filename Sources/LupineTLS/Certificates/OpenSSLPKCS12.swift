// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// A PKCS#12 file (RFC 7292), parsed by OpenSSL, for `PKCS12Contents`.
///
/// The file consists of safes, which may be encrypted. Each safe contains bags: a certificate or a key each.
@safe final class OpenSSLPKCS12 {
    /// A password, which may be absent. An absent password and an empty text are encoded differently.
    enum Password {
        case none
        case text([UInt8])

        /// Passes the password to `body` as C characters; a null pointer stands for an absent one.
        func withCharacters<Result>(_ body: (UnsafePointer<CChar>?, Int32) -> Result) -> Result {
            switch self {
            case .none: body(nil, 0)
            case .text(let text): unsafe text.withCharacters(body)
            }
        }
    }

    /// The certificates and keys that have been read so far, and the password for reading more.
    struct Items {
        let password: Password
        /// The rounds of key derivation that the file has required so far.
        var rounds: UInt64 = 0
        /// The certificates in DER.
        var certificates: [[UInt8]] = []
        var keys: [OpenSSLHandle<KeyObject>] = []

        init(password: Password) { self.password = password }

        var count: Int { certificates.count + keys.count }
    }

    private let pointer: OpaquePointer
    /// The rounds of key derivation that the integrity check has required.
    private var integrityCheckRounds: UInt64 = 0

    /// Parses exactly one PKCS#12 file. Decrypts nothing.
    init(_ bytes: [UInt8]) throws(CertificateError) {
        unsafe pointer = try OpenSSLEncoding.read(bytes, as: .pkcs12) { cursor, count in
            unsafe d2i_PKCS12(nil, cursor, count)
        } release: {
            unsafe PKCS12_free($0)
        }
    }

    deinit { unsafe PKCS12_free(pointer) }

    /// Checks the file's integrity with the password, and returns the password in the encoding that passes the check.
    ///
    /// An empty password may be encoded as an empty text or as an absent one; RFC 7292 appendix B.1 leaves this open. A file
    /// without a MAC (message authentication code) cannot be checked; the password is then returned as a text.
    func verify(password: String) throws(CertificateError) -> Password {
        guard unsafe PKCS12_mac_present(pointer) == 1 else { return .text(Array(password.utf8)) }
        integrityCheckRounds = try PasswordCost.add(try macRounds(), to: 0, of: .pkcs12)
        let candidates: [Password] = password.isEmpty ? [.text([]), .none] : [.text(Array(password.utf8))]
        OpenSSLErrors.clear()
        for candidate in candidates {
            let status = unsafe candidate.withCharacters { unsafe PKCS12_verify_mac(pointer, $0, $1) }
            if status == 1 { return candidate }
        }
        throw OpenSSLErrors.decryptionError(of: .pkcs12)
    }

    /// Reads the certificates and keys in the file. Call `verify` before.
    func read(into items: inout Items) throws(CertificateError) {
        items.rounds = integrityCheckRounds
        OpenSSLErrors.clear()
        guard let safes = unsafe PKCS12_unpack_authsafes(pointer) else {
            throw .malformed(.pkcs12, reason: OpenSSLErrors.takeReason())
        }
        defer { unsafe lupine_sk_PKCS7_pop_free(safes) }
        let safePointers = unsafe OpenSSLEncoding.members(safes)
        for index in unsafe safePointers.indices {
            let safe = unsafe safePointers[index].assumingMemoryBound(to: PKCS7.self)
            guard let bags = unsafe try bags(of: safe, &items) else { continue }
            defer { unsafe lupine_sk_PKCS12_SAFEBAG_pop_free(bags) }
            let bagPointers = unsafe OpenSSLEncoding.members(bags)
            for index in unsafe bagPointers.indices {
                unsafe try read(OpaquePointer(bagPointers[index]), into: &items)
            }
        }
    }

    /// Returns the decrypted bags of a safe, which the caller frees. Returns nil for a safe that is encrypted to a public key.
    private func bags(
        of safe: UnsafeMutablePointer<PKCS7>, _ items: inout Items
    ) throws(CertificateError) -> OpaquePointer? {
        let bags: OpaquePointer?
        switch unsafe OBJ_obj2nid(safe.pointee.type) {
        case NID_pkcs7_data:
            unsafe bags = unsafe PKCS12_unpack_p7data(safe)
            guard unsafe bags != nil else { throw .malformed(.pkcs12, reason: OpenSSLErrors.takeReason()) }
        case NID_pkcs7_encrypted:
            guard let content = unsafe safe.pointee.d.encrypted?.pointee.enc_data,
                let algorithm = unsafe content.pointee.algorithm
            else { throw .malformed(.pkcs12, reason: "an encrypted part without content") }
            let der = unsafe OpenSSLEncoding.write { unsafe i2d_X509_ALGOR(algorithm, $0) }
            items.rounds = try PasswordCost.addRounds(of: der, to: items.rounds, input: .pkcs12)
            unsafe bags = unsafe items.password.withCharacters {
                unsafe PKCS12_unpack_p7encdata(safe, $0, $1)
            }
            guard unsafe bags != nil else { throw OpenSSLErrors.decryptionError(of: .pkcs12) }
        default:
            unsafe bags = nil
        }
        return unsafe bags
    }

    /// Reads one bag: a certificate, or a key with or without encryption.
    private func read(_ bag: OpaquePointer, into items: inout Items) throws(CertificateError) {
        guard items.count < PKCS12Contents.itemLimit else {
            throw .tooLarge(.pkcs12, count: items.count + 1, limit: PKCS12Contents.itemLimit)
        }
        switch unsafe PKCS12_SAFEBAG_get_nid(bag) {
        case NID_certBag:
            guard unsafe PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate else { return }
            guard let certificate = unsafe PKCS12_SAFEBAG_get1_cert(bag) else {
                throw .malformed(.pkcs12, reason: OpenSSLErrors.takeReason())
            }
            defer { unsafe X509_free(certificate) }
            items.certificates.append(unsafe OpenSSLEncoding.write { unsafe i2d_X509(certificate, $0) })
        case NID_keyBag:
            guard
                let key = unsafe OpenSSLHandle<KeyObject>(
                    owning: EVP_PKCS82PKEY(PKCS12_SAFEBAG_get0_p8inf(bag)))
            else { throw .malformed(.pkcs12, reason: OpenSSLErrors.takeReason()) }
            items.keys.append(key)
        case NID_pkcs8ShroudedKeyBag:
            guard let encrypted = unsafe PKCS12_SAFEBAG_get0_pkcs8(bag) else {
                throw .malformed(.pkcs12, reason: "a key bag without a key")
            }
            unsafe try readKey(encrypted, into: &items)
        default:
            // Other bags, such as revocation lists and secrets, are skipped.
            return
        }
    }

    /// Decrypts a key after checking the cost, and adds it to the items.
    private func readKey(_ encrypted: OpaquePointer, into items: inout Items) throws(CertificateError) {
        let algorithm = unsafe OpenSSLHandle<KeyObject>.algorithm(of: encrypted)
        items.rounds = try PasswordCost.addRounds(of: algorithm, to: items.rounds, input: .pkcs12)
        let keyInfo = unsafe items.password.withCharacters { unsafe PKCS8_decrypt(encrypted, $0, $1) }
        items.keys.append(unsafe try .privateKey(owning: keyInfo, in: .pkcs12))
    }

    /// Returns the rounds of the MAC: its own count, plus the count in the parameters of PBMAC1 (RFC 9579).
    private func macRounds() throws(CertificateError) -> UInt64 {
        var algorithm: UnsafePointer<X509_ALGOR>?
        var iterations: UnsafePointer<ASN1_INTEGER>?
        unsafe PKCS12_get0_mac(nil, &algorithm, nil, &iterations, pointer)
        // An absent count means 1 (RFC 7292 §4).
        var rounds: Int64 = 1
        if let iterations = unsafe iterations {
            guard unsafe ASN1_INTEGER_get_int64(&rounds, iterations) == 1, rounds > 0 else {
                throw .tooCostly(.pkcs12, rounds: .max, limit: PasswordCost.roundLimit)
            }
        }
        let der = unsafe OpenSSLEncoding.write { unsafe i2d_X509_ALGOR(algorithm, $0) }
        // `PasswordCost.macRounds` returns 0 except for PBMAC1.
        return try PasswordCost.add(PasswordCost.macRounds(of: der), to: UInt64(rounds), of: .pkcs12)
    }
}
