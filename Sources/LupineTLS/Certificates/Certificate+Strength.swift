// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Checks a certificate for weak keys and signatures (refused by rule I-12.7), for slow keys, and for its use by clients.
extension Certificate {
    /// The length of the key in bits if it is below the minimum: 2048 for RSA and DSA, 256 for elliptic curves. Otherwise nil.
    var weakKeyBits: Int? {
        guard let key = unsafe X509_get0_pubkey(handle.pointer) else { return nil }
        let bits = unsafe EVP_PKEY_get_bits(key)
        return switch unsafe EVP_PKEY_get_base_id(key) {
        case NID_rsaEncryption, NID_rsassaPss, NID_dsa: bits < 2048 ? Int(bits) : nil
        case NID_X9_62_id_ecPublicKey: bits < 256 ? Int(bits) : nil
        default: nil
        }
    }

    /// The cost of verifying a signature with the certificate's key, relative to an ordinary key, whose cost is 1.
    ///
    /// Nil for keys that are too slow for an unauthenticated peer: RSA keys of more than 8192 bits, or with an exponent of more
    /// than 33 bits (an exponent of 3072 bits takes 5 ms), DSA keys of more than 3072 bits, curves of more than 521 bits.
    var signatureCost: Int? {
        // If OpenSSL cannot parse the key, it verifies no signature with it, which costs little.
        guard let key = unsafe X509_get0_pubkey(handle.pointer) else { return 1 }
        let bits = unsafe EVP_PKEY_get_bits(key)
        switch unsafe EVP_PKEY_get_base_id(key) {
        case NID_rsaEncryption, NID_rsassaPss:
            guard bits <= 8192, unsafe lupine_rsa_exponent_bits(key) <= 33 else { return nil }
            return bits <= 4096 ? 1 : 4
        case NID_dsa: return bits <= 3072 ? 4 : nil
        case NID_X9_62_id_ecPublicKey:
            guard bits <= 521 else { return nil }
            return bits <= 256 ? 1 : 4
        default: return 1
        }
    }

    /// Whether OpenSSL must not evaluate the certificate's purpose, because that would copy names of more than 5,000 octets.
    ///
    /// `X509_check_purpose` copies the issuer's name for each distribution point that is named relative to the issuer. A
    /// certificate of 100 KB can have thousands of them, for which OpenSSL would need seconds and gigabytes.
    var isCostlyToRead: Bool { unsafe lupine_copied_name_octets(handle.pointer) > 5_000 }

    /// Whether the certificate may be used in a client's chain: as an issuer with `asAuthority`, otherwise as the client's own.
    func isUsableByClients(asAuthority: Bool) -> Bool {
        defer { OpenSSLErrors.clear() }
        return unsafe X509_check_purpose(handle.pointer, X509_PURPOSE_SSL_CLIENT, asAuthority ? 1 : 0) > 0
    }

    /// The name of the certificate's signature algorithm if it is too weak; otherwise nil.
    var weakSignatureAlgorithm: String? {
        var digest: Int32 = 0
        guard unsafe X509_get_signature_info(handle.pointer, &digest, nil, nil, nil) == 1,
            WeakDigest.includes(digest)
        else { return nil }
        let name = unsafe OBJ_nid2ln(X509_get_signature_nid(handle.pointer))
        return unsafe name.map { unsafe String(cString: $0) } ?? "unknown"
    }
}

/// The digests with known collisions.
enum WeakDigest {
    /// Whether collisions are known for this digest. The digest is given by its NID, OpenSSL's number for an object identifier.
    static func includes(_ digest: Int32) -> Bool {
        switch digest {
        case NID_md2, NID_md4, NID_md5, NID_md5_sha1, NID_mdc2, NID_sha1: true
        default: false
        }
    }
}
