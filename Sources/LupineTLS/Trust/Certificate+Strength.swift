// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Which keys and signatures are too weak to vouch for anybody (I-12.7), and which usage fits a client.
extension Certificate {
    /// The length of its key when that is less than what is taken: 2048 bits for RSA and DSA, 256 for elliptic curves.
    var weakKeyBits: Int? {
        guard let key = unsafe X509_get0_pubkey(handle.pointer) else { return nil }
        let bits = unsafe EVP_PKEY_get_bits(key)
        return switch unsafe EVP_PKEY_get_base_id(key) {
        case NID_rsaEncryption, NID_rsassaPss, NID_dsa: bits < 2048 ? Int(bits) : nil
        case NID_X9_62_id_ecPublicKey: bits < 256 ? Int(bits) : nil
        default: nil
        }
    }

    /// What it costs to check a signature with its key, where one of an ordinary key costs 1. Nil for keys with which nothing is
    /// computed for a peer that nobody vouches for: RSA of more than 8192 bits or with an exponent of more than 33 (one of 3072
    /// bits costs 5 ms), DSA of more than 3072, curves of more than 521.
    var signatureCost: Int? {
        guard let key = unsafe X509_get0_pubkey(handle.pointer) else { return 1 }
        let bits = unsafe EVP_PKEY_get_bits(key)
        switch unsafe EVP_PKEY_get_base_id(key) {
        case NID_rsaEncryption, NID_rsassaPss:
            guard bits <= 8192, unsafe lupine_rsa_exponent_bits(key) <= 33 else { return nil }
            return bits <= 4096 ? 1 : 4
        case NID_dsa: return bits <= 3072 ? 4 : nil
        case NID_X9_62_id_ecPublicKey: return bits <= 521 ? bits <= 256 ? 1 : 4 : nil
        default: return 1
        }
    }

    /// Whether what it may be used for must not be asked: OpenSSL would first copy its issuer's name for each of thousands of
    /// distribution points, which takes seconds and gigabytes for 100 KB.
    var isCostlyToRead: Bool { unsafe lupine_copied_names(handle.pointer) > 5_000 }

    /// Whether it may be presented by a client, or stand above one that is.
    func mayServeClients(asAuthority: Bool) -> Bool {
        defer { OpenSSLErrors.clear() }
        return unsafe X509_check_purpose(handle.pointer, X509_PURPOSE_SSL_CLIENT, asAuthority ? 1 : 0) > 0
    }

    /// The name of the algorithm that it is signed with when that is no longer taken.
    var weakSignatureAlgorithm: String? {
        var digest: Int32 = 0
        guard unsafe X509_get_signature_info(handle.pointer, &digest, nil, nil, nil) == 1,
            WeakDigest.includes(digest)
        else { return nil }
        let name = unsafe OBJ_nid2ln(X509_get_signature_nid(handle.pointer))
        return unsafe name.map { unsafe String(cString: $0) } ?? "unknown"
    }
}

/// Digests that collisions are known of.
enum WeakDigest {
    /// Whether the digest with this number is one of them.
    static func includes(_ digest: Int32) -> Bool {
        switch digest {
        case NID_md2, NID_md4, NID_md5, NID_md5_sha1, NID_mdc2, NID_sha1: true
        default: false
        }
    }
}
