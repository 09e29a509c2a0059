// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Reads the fields of a certificate with OpenSSL, without evaluating trust.
extension OpenSSLHandle where Object == X509Object {
    /// Parses a certificate. With `trustSettings`, the data that OpenSSL appends in a PEM block TRUSTED CERTIFICATE may follow.
    static func certificate(der: [UInt8], trustSettings: Bool) throws(CertificateError) -> OpenSSLHandle {
        let pointer = unsafe try OpenSSLEncoding.read(der, as: .certificate) { cursor, count in
            unsafe trustSettings ? d2i_X509_AUX(nil, cursor, count) : d2i_X509(nil, cursor, count)
        } release: {
            unsafe X509_free($0)
        }
        return unsafe OpenSSLHandle(owning: pointer)
    }

    /// The DER of the certificate without any trust settings.
    var der: [UInt8] { unsafe OpenSSLEncoding.write { unsafe i2d_X509(pointer, $0) } }

    /// The SHA-256 of `der`.
    var fingerprint: SHA256Digest { SHA256Digest.of(der) }

    /// The last 16 bytes of the signature, which suffice to distinguish certificates in a hash table.
    var signatureEnd: ArraySlice<UInt8> {
        var signature: UnsafePointer<ASN1_BIT_STRING>?
        unsafe X509_get0_signature(&signature, nil, pointer)
        return unsafe OpenSSLEncoding.bytes(signature).suffix(16)
    }

    var subject: DistinguishedName { unsafe Self.name(X509_get_subject_name(pointer)) }
    var issuer: DistinguishedName { unsafe Self.name(X509_get_issuer_name(pointer)) }

    /// The serial number as a DER INTEGER, including tag and length.
    var serialNumber: [UInt8] {
        unsafe OpenSSLEncoding.write { unsafe i2d_ASN1_INTEGER(X509_get0_serialNumber(pointer), $0) }
    }

    /// The start of the validity; nil for a malformed time.
    var notBefore: UnixTime? { unsafe Self.time(X509_get0_notBefore(pointer)) }
    /// The end of the validity; nil for a malformed time.
    var notAfter: UnixTime? { unsafe Self.time(X509_get0_notAfter(pointer)) }

    /// The SubjectPublicKeyInfo; empty when there is none.
    var subjectPublicKeyInfo: [UInt8] {
        unsafe OpenSSLEncoding.write { unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), $0) }
    }

    /// The public key; nil when it is malformed, or OpenSSL does not support its algorithm.
    var publicKey: OpenSSLHandle<KeyObject>? {
        defer { OpenSSLErrors.clear() }
        return unsafe OpenSSLHandle<KeyObject>(owning: X509_get_pubkey(pointer))
    }

    /// The name of the key's algorithm, even if OpenSSL does not support it.
    var keyAlgorithm: String {
        var algorithm: OpaquePointer?
        unsafe X509_PUBKEY_get0_param(&algorithm, nil, nil, nil, X509_get_X509_PUBKEY(pointer))
        return unsafe OpenSSLEncoding.name(algorithm)
    }

    /// The name of the algorithm of the issuer's signature.
    var signatureAlgorithm: String {
        var algorithm: UnsafePointer<X509_ALGOR>?
        unsafe X509_get0_signature(nil, &algorithm, pointer)
        guard let algorithm = unsafe algorithm else { return "unknown" }
        return unsafe OpenSSLEncoding.name(algorithm.pointee.algorithm)
    }

    /// Whether subject and issuer are the same, and the certificate's own key has made its signature.
    var isSelfSigned: Bool {
        defer { OpenSSLErrors.clear() }
        // The argument 1 makes OpenSSL verify the signature too.
        return unsafe X509_self_signed(pointer, 1) == 1
    }

    /// Whether the basic constraints allow the certificate to issue others. False for a certificate with malformed extensions.
    var isAuthority: Bool {
        defer { OpenSSLErrors.clear() }
        let flags = unsafe X509_get_extension_flags(pointer)
        return flags & UInt32(EXFLAG_CA) != 0 && flags & UInt32(EXFLAG_INVALID) == 0
    }

    /// Whether `issuer` has the name, key identifier and key usage of this certificate's issuer; the signature is not checked.
    func couldBeIssued(by issuer: OpenSSLHandle) -> Bool {
        defer { OpenSSLErrors.clear() }
        return unsafe X509_check_issued(issuer.pointer, pointer) == X509_V_OK
    }

    /// Whether the certificate contains the public key of this private key.
    func matches(_ key: OpenSSLHandle<KeyObject>) -> Bool {
        defer { OpenSSLErrors.clear() }
        return unsafe X509_check_private_key(pointer, key.pointer) == 1
    }

    /// Converts a name of OpenSSL; a null pointer becomes an empty name.
    private static func name(_ name: OpaquePointer?) -> DistinguishedName {
        guard let name = unsafe name else {
            return DistinguishedName(der: [], description: "", commonName: nil)
        }
        let der = unsafe OpenSSLEncoding.write { unsafe i2d_X509_NAME(name, $0) }
        let index = unsafe lastIndex(of: NID_commonName, in: name)
        let entry = unsafe index.flatMap { unsafe X509_NAME_get_entry(name, $0) }
        let commonName = unsafe OpenSSLEncoding.text(X509_NAME_ENTRY_get_data(entry))
        return DistinguishedName(der: der, description: unsafe text(of: name), commonName: commonName)
    }

    /// Returns the position of the last attribute of a type in a name; nil if there is none. The type is given by its NID,
    /// OpenSSL's number for an object identifier.
    private static func lastIndex(of nid: Int32, in name: OpaquePointer) -> Int32? {
        // The search continues after this position; -1 begins it.
        var last: Int32 = -1
        while case let index = unsafe X509_NAME_get_index_by_NID(name, nid, last), index >= 0 {
            last = index
        }
        return last >= 0 ? last : nil
    }

    /// The most octets of a name in its text form: a peer may send a name of any length, and the text appears in every error.
    private static let longestText = 1_000

    /// Returns the text form of a name (RFC 4514), in UTF-8. If a string in the name is malformed, the text contains all values
    /// in hexadecimal.
    private static func text(of name: OpaquePointer) -> String {
        defer { OpenSSLErrors.clear() }
        // Non-ASCII characters appear unescaped. OpenSSL fails for a malformed string; then all values appear in hexadecimal.
        let textFlags = lupine_XN_FLAG_RFC2253() & ~UInt(ASN1_STRFLGS_ESC_MSB)
        let hexadecimalFlags = lupine_XN_FLAG_RFC2253() | UInt(ASN1_STRFLGS_DUMP_ALL)
        for flags in [textFlags, hexadecimalFlags] {
            guard let output = unsafe BIO_new(BIO_s_mem()) else { return "" }
            defer { unsafe _ = BIO_free(output) }
            guard unsafe X509_NAME_print_ex(output, name, 0, flags) >= 0 else { continue }
            var start: UnsafeMutablePointer<CChar>?
            let count = unsafe lupine_BIO_get_mem_data(output, &start)
            guard count > 0, let start = unsafe start else { return "" }
            let bytes = unsafe UnsafeRawBufferPointer(start: start, count: min(count, longestText))
            let text = unsafe escaped(String(decoding: bytes, as: UTF8.self))
            return count > longestText ? text + "…" : text
        }
        return ""
    }

    /// Escapes line separators and control characters, such as those that change the writing direction (RFC 4514 §2.4). OpenSSL
    /// itself escapes only the ASCII ones.
    private static func escaped(_ text: String) -> String {
        var escapedText = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                for octet in UTF8.encode(scalar) ?? .init() {
                    escapedText += "\\" + Hexadecimal.uppercase([octet])
                }
            default: escapedText.unicodeScalars.append(scalar)
            }
        }
        return escapedText
    }

    /// Converts a time; returns nil for a null pointer and for a malformed time.
    static func time(_ time: UnsafePointer<ASN1_TIME>?) -> UnixTime? {
        guard let time = unsafe time else { return nil }
        var components = unsafe tm()
        defer { OpenSSLErrors.clear() }
        guard unsafe ASN1_TIME_to_tm(time, &components) == 1 else { return nil }
        // In a `tm`, years are counted from 1900 and months from 0.
        return unsafe UnixTime(
            year: Int64(components.tm_year) + 1900, month: Int64(components.tm_mon) + 1,
            day: Int64(components.tm_mday), hour: Int64(components.tm_hour),
            minute: Int64(components.tm_min), second: Int64(components.tm_sec))
    }
}
