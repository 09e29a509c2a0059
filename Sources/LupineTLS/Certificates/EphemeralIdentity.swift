// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Creates certificates and keys for one run of a server on this machine.
///
/// They are valid for a day. A server's own certificate is self-signed and for the names and addresses of loopback only. Its key
/// signs nothing else, so that trusting the certificate means trusting this server alone. An authority signs certificates for
/// several servers. Not for servers that other machines have to trust. May be used on any thread.
package enum EphemeralIdentity {
    /// The contents of a certificate and its issuer.
    private struct Plan {
        var subject: String
        /// OpenSSL's NID of each extension, and its value in the syntax of `X509V3_EXT_conf_nid`.
        var extensions: [(Int32, String)]
        /// Nil for a self-signed certificate.
        var issuer: TLSIdentity?
    }

    /// The names and addresses of loopback.
    package static let loopback = ["localhost", "127.0.0.1", "::1"]

    /// Creates a self-signed identity for a server.
    package static func make() throws(CertificateError) -> TLSIdentity {
        try make(
            Plan(
                subject: "lupine serve, throw-away",
                extensions: [
                    (NID_subject_alt_name, try alternativeNames(loopback)),
                    (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                    (NID_key_usage, "critical,digitalSignature,keyCertSign"),
                    (NID_ext_key_usage, "serverAuth"),
                    (NID_subject_key_identifier, "hash"),
                ]))
    }

    /// Creates an authority with a unique name.
    package static func authority() throws(CertificateError) -> TLSIdentity {
        let number = UInt64.random(in: 0...(.max))
        return try make(
            Plan(
                subject: "throw-away authority \(String(number, radix: 16))",
                extensions: [
                    (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                    (NID_key_usage, "critical,keyCertSign"),
                    (NID_subject_key_identifier, "hash"),
                ]))
    }

    /// Creates an identity for a server with these names and addresses, signed by an authority.
    package static func make(
        names: [String], signedBy authority: TLSIdentity
    ) throws(CertificateError) -> TLSIdentity {
        try make(
            Plan(
                subject: names.first ?? "nobody",
                extensions: [
                    (NID_subject_alt_name, try alternativeNames(names)),
                    (NID_basic_constraints, "critical,CA:FALSE"),
                    (NID_key_usage, "critical,digitalSignature"),
                    (NID_ext_key_usage, "serverAuth"),
                    (NID_subject_key_identifier, "hash"),
                ], issuer: authority))
    }

    /// Formats names for OpenSSL, in whose syntax commas and colons are special.
    private static func alternativeNames(_ names: [String]) throws(CertificateError) -> String {
        var parts: [String] = []
        for name in names {
            let isAddress = IPLiteral.bytes(of: name) != nil
            // Digits and letters, of which `| 0x20` makes lower-case ones.
            let isName = name.utf8.allSatisfy { octet in
                octet == UInt8(ascii: "-") || octet == UInt8(ascii: ".") || octet == UInt8(ascii: "*")
                    || (0x30...0x39).contains(octet) || (0x61...0x7A).contains(octet | 0x20)
            }
            guard isAddress || isName && !name.isEmpty else {
                throw .malformed(.certificate, reason: "\(name) is no name of a host")
            }
            parts.append((isAddress ? "IP:" : "DNS:") + name)
        }
        return parts.joined(separator: ",")
    }

    private static func make(_ plan: Plan) throws(CertificateError) -> TLSIdentity {
        guard let key = unsafe OpenSSLHandle<KeyObject>(owning: lupine_EVP_EC_gen()),
            let certificate = unsafe OpenSSLHandle<X509Object>(owning: X509_new())
        else { throw .malformed(.certificate, reason: OpenSSLErrors.takeReason()) }
        guard unsafe fill(certificate.pointer, key.pointer, plan) else {
            throw .malformed(.certificate, reason: OpenSSLErrors.takeReason())
        }
        let der = unsafe OpenSSLEncoding.write { unsafe i2d_X509(certificate.pointer, $0) }
        return try TLSIdentity(certificate: Certificate(der: der), privateKey: PrivateKey(key))
    }

    /// Sets the fields of a certificate and signs it; returns false if OpenSSL fails.
    ///
    /// The version 2 means X.509 v3. The validity begins an hour ago, for clients whose clocks are slow.
    private static func fill(_ certificate: OpaquePointer, _ key: OpaquePointer, _ plan: Plan) -> Bool {
        guard unsafe X509_set_version(certificate, 2) == 1,
            let serial = unsafe X509_get_serialNumber(certificate),
            unsafe ASN1_INTEGER_set_uint64(serial, UInt64.random(in: 1...(.max >> 1))) == 1,
            unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != nil,
            unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400) != nil,
            unsafe X509_set_pubkey(certificate, key) == 1,
            let name = unsafe X509_get_subject_name(certificate)
        else { return false }
        // Without an issuer the certificate gets its own name as the issuer's, and is signed with its own key.
        let commonName = Array(plan.subject.utf8)
        let issuer = plan.issuer?.certificate.handle
        let signer = plan.issuer?.privateKey.handle
        guard
            unsafe X509_NAME_add_entry_by_txt(
                name, "CN", MBSTRING_UTF8, commonName, Int32(commonName.count), -1, 0)
                == 1,
            unsafe X509_set_issuer_name(
                certificate, issuer.map { unsafe X509_get_subject_name($0.pointer) } ?? name)
                == 1
        else { return false }
        for (number, value) in plan.extensions {
            guard unsafe lupine_add_extension(certificate, number, value) == 1 else { return false }
        }
        return unsafe X509_sign(certificate, signer?.pointer ?? key, EVP_sha256()) > 0
    }
}
