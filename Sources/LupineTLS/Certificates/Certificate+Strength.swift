// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Checks for weak keys and signatures (I-12.7), for keys that are slow to use, and for the usage by clients.
extension Certificate {
    /// The length of the key if it is below the minimum: 2048 bits for RSA and DSA, 256 for elliptic curves. Otherwise nil.
    var weakKeyBits: Int? {
        guard let key = unsafe X509_get0_pubkey(handle.pointer) else { return nil }
        let bits = unsafe EVP_PKEY_get_bits(key)
        return switch unsafe EVP_PKEY_get_base_id(key) {
        case NID_rsaEncryption, NID_rsassaPss, NID_dsa: bits < 2048 ? Int(bits) : nil
        case NID_X9_62_id_ecPublicKey: bits < 256 ? Int(bits) : nil
        default: nil
        }
    }

    /// The cost of verifying a signature with the certificate's key, relative to an ordinary key.
    ///
    /// Nil for keys that are too slow to be used for an unauthenticated peer: RSA of more than 8192 bits, or with an exponent of
    /// more than 33 bits (one of 3072 bits takes 5 ms), DSA of more than 3072 bits, curves of more than 521 bits.
    var signatureCost: Int? {
        // OpenSSL verifies no signature with a key that it cannot parse.
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

    /// Whether OpenSSL must not evaluate the certificate's purpose: `X509_check_purpose` would first copy the issuer's name for
    /// each of thousands of distribution points, which takes seconds and gigabytes for a certificate of 100 KB. The limit is in
    /// octets of copied names.
    var isCostlyToRead: Bool { unsafe lupine_copied_name_octets(handle.pointer) > 5_000 }

    /// Whether a client may present the certificate as its own; with `asAuthority`, as an issuer in its chain.
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

/// Digests with known collisions.
enum WeakDigest {
    /// Whether the digest with this NID, OpenSSL's number of an object identifier, has known collisions.
    static func includes(_ digest: Int32) -> Bool {
        switch digest {
        case NID_md2, NID_md4, NID_md5, NID_md5_sha1, NID_mdc2, NID_sha1: true
        default: false
        }
    }
}
