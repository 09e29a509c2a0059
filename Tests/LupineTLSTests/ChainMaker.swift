// SPDX-License-Identifier: MIT

import CLupineOpenSSL
import LupineTestKit
import Testing

@testable import LupineTLS

/// Makes certificates and long chains with the fixtures' keys, for the limits of trust evaluation.
enum ChainMaker {
    /// Thrown when OpenSSL is out of memory.
    struct Failure: Error {}

    /// Returns a leaf for `0.test`, `intermediates` intermediates, and the root.
    ///
    /// - Parameters:
    ///   - names: The number of DNS names of the leaf.
    ///   - mailboxes: The number of UTF-8 mailboxes (RFC 8398) that the leaf has in addition.
    ///   - constraints: The number of names that each authority excludes.
    ///   - key: The key of all certificates; nil for one of the fixtures'.
    static func chain(
        intermediates: Int, names: Int = 1, mailboxes: Int = 0, constraints: Int = 0, key: PrivateKey? = nil
    ) throws -> [Certificate] {
        let key = try key ?? PrivateKey(pem: PKI.text("intermediate.key"), password: nil)
        return try (0...(intermediates + 1)).map { depth in
            let issuer = depth > intermediates ? depth : depth + 1
            var extensions = [(NID_basic_constraints, "critical,CA:TRUE")]
            if depth == 0 {
                let list =
                    ["DNS:0.test"] + (1..<names).map { _ in "DNS:a" }
                    + (0..<mailboxes).map { _ in "otherName:1.3.6.1.5.5.7.8.9;UTF8:@" }
                extensions = [(NID_subject_alt_name, list.joined(separator: ","))]
            } else if constraints > 0 {
                let list = (0..<constraints).map { _ in "excluded;DNS:b" }
                extensions.append((NID_name_constraints, list.joined(separator: ",")))
            }
            return try certificate("\(depth)", issuer: "\(issuer)", extensions, key)
        }
    }

    /// Returns the certificate of an authority.
    ///
    /// - Parameters:
    ///   - name: The authority's common name.
    ///   - issuer: The issuer's common name; nil for a self-signed certificate.
    ///   - key: The name of the authority's key in the fixtures.
    ///   - signer: The name of the issuer's key in the fixtures; nil for the authority's own key.
    ///   - end: The end of the validity.
    static func authority(
        _ name: String, issuer: String? = nil, key: String, signer: String? = nil, end: Int64 = 4_102_444_799
    ) throws -> Certificate {
        try certificate(
            name, issuer: issuer ?? name, [(NID_basic_constraints, "critical,CA:TRUE")],
            PrivateKey(pem: PKI.text("\(key).key"), password: nil),
            signer: PrivateKey(pem: PKI.text("\(signer ?? key).key"), password: nil), end: end)
    }

    /// Returns a leaf for `localhost`.
    static func leaf(_ name: String, issuer: String, signer: String) throws -> Certificate {
        try certificate(
            name, issuer: issuer, [(NID_subject_alt_name, "DNS:localhost")],
            PrivateKey(pem: PKI.text("good.key"), password: nil),
            signer: PrivateKey(pem: PKI.text("\(signer).key"), password: nil))
    }

    /// Returns a certificate with `count` distribution points that are named relative to their CRL issuer.
    static func relativePoints(_ count: Int) throws -> Certificate {
        let key = try PrivateKey(pem: PKI.text("intermediate.key"), password: nil)
        let points = [UInt8]((0..<count).flatMap { _ in [0x30, 0x04, 0xA0, 0x02, 0xA1, 0x00] as [UInt8] })
        let size = [UInt8(points.count >> 8), UInt8(points.count & 0xFF)]
        let text = Hexadecimal.lowercase([0x30, 0x82] + size + points)
        return try certificate(
            "relative", issuer: "issuer", [(NID_crl_distribution_points, "DER:" + text)], key)
    }

    private static func certificate(
        _ name: String, issuer: String, _ extensions: [(Int32, String)], _ key: PrivateKey,
        signer: PrivateKey? = nil, end: Int64 = 4_102_444_799
    ) throws -> Certificate {
        guard let certificate = unsafe X509_new() else { throw Failure() }
        defer { unsafe X509_free(certificate) }
        unsafe _ = X509_set_version(certificate, 2)
        unsafe _ = ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
        unsafe _ = ASN1_TIME_set(X509_getm_notBefore(certificate), Int(TrustFixture.answersBegin.seconds))
        unsafe _ = ASN1_TIME_set(X509_getm_notAfter(certificate), Int(end))
        unsafe self.name(X509_get_subject_name(certificate), name)
        unsafe self.name(X509_get_issuer_name(certificate), issuer)
        unsafe _ = X509_set_pubkey(certificate, key.handle.pointer)
        for (kind, value) in extensions {
            let added = unsafe X509V3_EXT_conf_nid(nil, nil, kind, value)
            defer { unsafe X509_EXTENSION_free(added) }
            try #require(unsafe X509_add_ext(certificate, added, -1) == 1)
        }
        try #require(unsafe X509_sign(certificate, (signer ?? key).handle.pointer, EVP_sha256()) > 0)
        return try Certificate(der: unsafe OpenSSLEncoding.write { unsafe i2d_X509(certificate, $0) })
    }

    /// Returns the certificate of a delegated OCSP responder, signed by the issuer.
    static func responder(of issuer: Certificate, _ issuersKey: PrivateKey, _ key: PrivateKey) throws
        -> Certificate
    {
        guard let certificate = unsafe X509_new() else { throw Failure() }
        defer { unsafe X509_free(certificate) }
        unsafe _ = X509_set_version(certificate, 2)
        unsafe _ = ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
        unsafe _ = ASN1_TIME_set(X509_getm_notBefore(certificate), Int(TrustFixture.answersBegin.seconds))
        unsafe _ = ASN1_TIME_set(X509_getm_notAfter(certificate), 4_102_444_799)
        unsafe self.name(X509_get_subject_name(certificate), "responder")
        try #require(
            unsafe X509_set_issuer_name(certificate, X509_get_subject_name(issuer.handle.pointer)) == 1)
        unsafe _ = X509_set_pubkey(certificate, key.handle.pointer)
        let usage = unsafe X509V3_EXT_conf_nid(nil, nil, NID_ext_key_usage, "OCSPSigning")
        defer { unsafe X509_EXTENSION_free(usage) }
        try #require(unsafe X509_add_ext(certificate, usage, -1) == 1)
        try #require(unsafe X509_sign(certificate, issuersKey.handle.pointer, EVP_sha256()) > 0)
        return try Certificate(der: unsafe OpenSSLEncoding.write { unsafe i2d_X509(certificate, $0) })
    }

    private static func name(_ entry: OpaquePointer?, _ text: String) {
        unsafe _ = X509_NAME_add_entry_by_txt(entry, "CN", MBSTRING_ASC, text, -1, -1, 0)
    }
}
