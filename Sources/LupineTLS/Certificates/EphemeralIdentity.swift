// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Creates certificates and keys for one run of a server on this machine. Not for servers that other machines have to trust.
///
/// The certificates are valid for a day. `make()` creates a self-signed one for the names and addresses of loopback. Its key
/// signs nothing else, so that a client that trusts the certificate trusts this server alone. An authority signs certificates for
/// several servers. The functions may be called on any thread.
package enum EphemeralIdentity {
    /// The fields and the issuer of a certificate to create.
    private struct Template {
        /// The common name of the subject.
        var subject: String
        /// The extensions: OpenSSL's number (NID) of each, and its value in the syntax of `X509V3_EXT_conf_nid`.
        var extensions: [(nid: Int32, value: String)]
        /// Nil for a self-signed certificate.
        var issuer: TLSIdentity?
    }

    /// The names and addresses of loopback.
    package static let loopback = ["localhost", "127.0.0.1", "::1"]

    /// Creates a self-signed identity for a server.
    package static func make() throws(CertificateError) -> TLSIdentity {
        try make(
            Template(
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
            Template(
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
            Template(
                subject: names.first ?? "nobody",
                extensions: [
                    (NID_subject_alt_name, try alternativeNames(names)),
                    (NID_basic_constraints, "critical,CA:FALSE"),
                    (NID_key_usage, "critical,digitalSignature"),
                    (NID_ext_key_usage, "serverAuth"),
                    (NID_subject_key_identifier, "hash"),
                ], issuer: authority))
    }

    /// Formats names and addresses in OpenSSL's syntax for subject alternative names. Throws for a name with characters that are
    /// special in this syntax, such as a comma.
    private static func alternativeNames(_ names: [String]) throws(CertificateError) -> String {
        var entries: [String] = []
        for name in names {
            let isAddress = IPLiteral.bytes(of: name) != nil
            // The ranges are those of digits and lower-case letters; `| 0x20` converts upper-case letters.
            let isName = name.utf8.allSatisfy { octet in
                octet == UInt8(ascii: "-") || octet == UInt8(ascii: ".") || octet == UInt8(ascii: "*")
                    || (0x30...0x39).contains(octet) || (0x61...0x7A).contains(octet | 0x20)
            }
            guard isAddress || isName && !name.isEmpty else {
                throw .malformed(.certificate, reason: "\(name) is no name of a host")
            }
            entries.append((isAddress ? "IP:" : "DNS:") + name)
        }
        return entries.joined(separator: ",")
    }

    /// Creates a key, and a certificate for it.
    private static func make(_ template: Template) throws(CertificateError) -> TLSIdentity {
        guard let key = unsafe OpenSSLHandle<KeyObject>(owning: lupine_EVP_EC_gen()),
            let certificate = unsafe OpenSSLHandle<X509Object>(owning: X509_new())
        else { throw .malformed(.certificate, reason: OpenSSLErrors.takeReason()) }
        guard unsafe complete(certificate.pointer, key.pointer, template) else {
            throw .malformed(.certificate, reason: OpenSSLErrors.takeReason())
        }
        let der = unsafe OpenSSLEncoding.write { unsafe i2d_X509(certificate.pointer, $0) }
        return try TLSIdentity(certificate: Certificate(der: der), privateKey: PrivateKey(key))
    }

    /// Sets the fields of an empty certificate and signs it; returns false if OpenSSL fails.
    private static func complete(
        _ certificate: OpaquePointer, _ key: OpaquePointer, _ template: Template
    ) -> Bool {
        // The version 2 means X.509 v3. The validity begins an hour (3600 s) ago, for clients whose clocks are slow, and ends in
        // a day (86,400 s).
        guard unsafe X509_set_version(certificate, 2) == 1,
            let serial = unsafe X509_get_serialNumber(certificate),
            unsafe ASN1_INTEGER_set_uint64(serial, UInt64.random(in: 1...(.max >> 1))) == 1,
            unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != nil,
            unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400) != nil,
            unsafe X509_set_pubkey(certificate, key) == 1,
            let name = unsafe X509_get_subject_name(certificate)
        else { return false }
        // Without an issuer, the certificate is self-signed: its issuer has the name and the key of its subject.
        let commonName = Array(template.subject.utf8)
        let issuer = template.issuer?.certificate.handle
        let issuerKey = template.issuer?.privateKey.handle
        // The arguments -1 and 0 append the name as a component (RDN) of its own.
        guard
            unsafe X509_NAME_add_entry_by_txt(
                name, "CN", MBSTRING_UTF8, commonName, Int32(commonName.count), -1, 0)
                == 1,
            unsafe X509_set_issuer_name(
                certificate, issuer.map { unsafe X509_get_subject_name($0.pointer) } ?? name)
                == 1
        else { return false }
        for (nid, value) in template.extensions {
            guard unsafe lupine_add_extension(certificate, nid, value) == 1 else { return false }
        }
        return unsafe X509_sign(certificate, issuerKey?.pointer ?? key, EVP_sha256()) > 0
    }
}
