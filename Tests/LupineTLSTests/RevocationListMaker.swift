// SPDX-License-Identifier: MIT

import CLupineOpenSSL
import LupineTestKit
import Testing

@testable import LupineTLS

/// Makes revocation lists that `openssl ca` cannot make, signed by the fixtures' intermediate.
enum RevocationListMaker {
    /// Thrown when OpenSSL is out of memory.
    struct Failure: Error {}

    /// Returns a list with the extensions of section `list` of an OpenSSL configuration, and with an entry for `revoked`, which
    /// has the extensions of section `entry` if there is one.
    static func list(_ settings: String, revoked: Certificate? = nil) throws -> [UInt8] {
        let issuer = try TrustFixture.certificate("intermediate")
        let key = try PrivateKey(pem: PKI.text("intermediate.key"), password: nil)
        guard let list = unsafe X509_CRL_new() else { throw Failure() }
        defer { unsafe X509_CRL_free(list) }
        unsafe _ = X509_CRL_set_version(list, 1)
        unsafe _ = X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer.handle.pointer))
        let begin = unsafe ASN1_TIME_set(nil, Int(TrustFixture.answersBegin.seconds))
        let end = unsafe ASN1_TIME_set(nil, 4_102_444_799)
        defer {
            unsafe ASN1_STRING_free(begin)
            unsafe ASN1_STRING_free(end)
        }
        unsafe _ = X509_CRL_set1_lastUpdate(list, begin)
        unsafe _ = X509_CRL_set1_nextUpdate(list, end)
        let configuration = unsafe NCONF_new(nil)
        defer { unsafe NCONF_free(configuration) }
        let text = unsafe BIO_new(BIO_s_mem())
        defer { unsafe _ = BIO_free(text) }
        // BIO_write copies: a BIO over the String's bytes would outlive the pointer to them.
        unsafe _ = BIO_write(text, settings, Int32(settings.utf8.count))
        var line = 0
        try #require(unsafe NCONF_load_bio(configuration, text, &line) == 1)
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, issuer.handle.pointer, nil, nil, list, 0)
        unsafe X509V3_set_nconf(&context, configuration)
        try #require(unsafe X509V3_EXT_CRL_add_nconf(configuration, &context, "list", list) == 1)
        if let revoked {
            guard let entry = unsafe X509_REVOKED_new() else { throw Failure() }
            unsafe _ = X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(revoked.handle.pointer))
            unsafe _ = X509_REVOKED_set_revocationDate(entry, begin)
            if settings.contains("reason = ") {
                let code = unsafe ASN1_ENUMERATED_new()
                defer { unsafe ASN1_ENUMERATED_free(code) }
                unsafe _ = ASN1_ENUMERATED_set(code, settings.contains("reason = 8") ? 8 : 6)
                unsafe _ = X509_REVOKED_add1_ext_i2d(entry, NID_crl_reason, code, 0, 0)
            }
            if settings.contains("# critical entry") {
                let number = unsafe ASN1_INTEGER_new()
                defer { unsafe ASN1_INTEGER_free(number) }
                unsafe _ = X509_REVOKED_add1_ext_i2d(entry, NID_crl_number, number, 1, 0)
            }
            unsafe _ = X509_CRL_add0_revoked(list, entry)
        }
        try #require(unsafe X509_CRL_sign(list, key.handle.pointer, EVP_sha256()) > 0)
        return unsafe OpenSSLEncoding.write { unsafe i2d_X509_CRL(list, $0) }
    }
}
