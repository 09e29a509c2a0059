// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// A certificate and its key that are made for one run of a server on this machine, and are forgotten with it.
///
/// It is signed by itself, for a day, for the names and addresses of loopback, and an authority for nothing else: whoever
/// trusts it trusts this server and nobody more. Not for servers that anybody else is to trust. Any thread.
package enum ThrowawayIdentity {
    /// A new one.
    package static func make() throws(CertificateError) -> TLSIdentity {
        guard let key = unsafe OpenSSLHandle<KeyObject>(owning: lupine_EVP_EC_gen()),
            let certificate = unsafe OpenSSLHandle<X509Object>(owning: X509_new())
        else { throw .malformed(.certificate, reason: OpenSSLErrors.reason()) }
        guard unsafe fill(certificate.pointer, key.pointer) else {
            throw .malformed(.certificate, reason: OpenSSLErrors.reason())
        }
        let der = unsafe OpenSSLEncoding.write { unsafe i2d_X509(certificate.pointer, $0) }
        return try TLSIdentity(certificate: Certificate(der: der), privateKey: PrivateKey(key))
    }

    private static func fill(_ certificate: OpaquePointer, _ key: OpaquePointer) -> Bool {
        guard unsafe X509_set_version(certificate, 2) == 1,
            let serial = unsafe X509_get_serialNumber(certificate),
            unsafe ASN1_INTEGER_set_uint64(serial, UInt64.random(in: 1...(.max >> 1))) == 1,
            unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != nil,
            unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400) != nil,
            unsafe X509_set_pubkey(certificate, key) == 1,
            let name = unsafe X509_get_subject_name(certificate)
        else { return false }
        let words = Array("lupine serve, throw-away".utf8)
        guard
            unsafe X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, words, Int32(words.count), -1, 0)
                == 1,
            unsafe X509_set_issuer_name(certificate, name) == 1
        else { return false }
        let extensions: [(Int32, String)] = [
            (NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1"),
            (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
            (NID_key_usage, "critical,digitalSignature,keyCertSign"),
            (NID_ext_key_usage, "serverAuth"),
            (NID_subject_key_identifier, "hash"),
        ]
        for (number, value) in extensions {
            guard unsafe lupine_add_extension(certificate, number, value) == 1 else { return false }
        }
        return unsafe X509_sign(certificate, key, EVP_sha256()) > 0
    }
}
