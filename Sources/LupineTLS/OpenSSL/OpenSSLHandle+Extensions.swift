// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Reads a certificate's extensions (RFC 5280 §4.2) with OpenSSL.
extension OpenSSLHandle where Object == X509Object {
    /// The subject alternative names; nil when the extension is malformed.
    var subjectAlternativeNames: [SubjectAlternativeName]? {
        unsafe values(NID_subject_alt_name) { names in
            defer { unsafe GENERAL_NAMES_free(names) }
            return unsafe Self.generalNames(names).map { unsafe Self.alternativeName($0.pointee) }
        }
    }

    /// The URLs of OCSP responders for this certificate, in order.
    var ocspURLs: [String] {
        let urls: [String]? = unsafe values(NID_info_access) { descriptions in
            defer { unsafe AUTHORITY_INFO_ACCESS_free(descriptions) }
            return unsafe OpenSSLEncoding.members(descriptions).compactMap { member in
                let description = unsafe member.assumingMemoryBound(to: ACCESS_DESCRIPTION.self).pointee
                guard unsafe OBJ_obj2nid(description.method) == NID_ad_OCSP,
                    let location = unsafe description.location
                else { return nil }
                return unsafe Self.alternativeName(location.pointee).uri
            }
        }
        return urls ?? []
    }

    /// The URLs of the CRL distribution points, in the certificate's order.
    var crlURLs: [String] {
        let urls: [String]? = unsafe values(NID_crl_distribution_points) { points in
            defer { unsafe CRL_DIST_POINTS_free(points) }
            return unsafe OpenSSLEncoding.members(points).flatMap { member -> [String] in
                let point = unsafe member.assumingMemoryBound(to: DIST_POINT.self).pointee
                // Type 0 is a full name, type 1 is relative to the issuer.
                guard let name = unsafe point.distpoint, unsafe name.pointee.type == 0 else { return [] }
                return unsafe Self.generalNames(name.pointee.name.fullname)
                    .compactMap { unsafe Self.alternativeName($0.pointee).uri }
            }
        }
        return urls ?? []
    }

    /// Whether servers have to staple an OCSP response: the TLS feature extension (RFC 7633) lists 5, the number of the TLS
    /// extension `status_request`.
    var mustStaple: Bool {
        let isListed: Bool? = unsafe values(NID_tlsfeature, empty: false) { features in
            defer { unsafe TLS_FEATURE_free(features) }
            return unsafe OpenSSLEncoding.members(features).contains { member in
                unsafe ASN1_INTEGER_get(member.assumingMemoryBound(to: ASN1_INTEGER.self)) == 5
            }
        }
        return isListed ?? false
    }

    /// Reads an extension that is a list. Returns an empty list when the extension is absent, and nil when it is malformed or
    /// occurs twice.
    private func values<Element>(_ nid: Int32, _ read: (OpaquePointer) -> [Element]) -> [Element]? {
        unsafe values(nid, empty: [], read)
    }

    /// Reads an extension of the certificate.
    ///
    /// - Parameters:
    ///   - nid: OpenSSL's number for the extension.
    ///   - empty: The result when the extension is absent.
    ///   - read: Converts OpenSSL's object for the extension, and frees it.
    /// - Returns: The result of `read`, or `empty`; nil when the extension is malformed or occurs twice.
    private func values<Value>(_ nid: Int32, empty: Value, _ read: (OpaquePointer) -> Value) -> Value? {
        defer { OpenSSLErrors.clear() }
        // If OpenSSL returns no value, `critical` is the reason: -1 if there is no such extension, -2 if there are several, and 0
        // or 1 if the extension is malformed.
        var critical: Int32 = 0
        guard let value = unsafe X509_get_ext_d2i(pointer, nid, &critical, nil) else {
            return critical == -1 ? empty : nil
        }
        return unsafe read(OpaquePointer(value))
    }

    /// Returns the members of a stack of names (GeneralNames, RFC 5280 §4.2.1.6).
    private static func generalNames(_ names: OpaquePointer?) -> [UnsafeMutablePointer<GENERAL_NAME>] {
        unsafe OpenSSLEncoding.members(names).map { unsafe $0.assumingMemoryBound(to: GENERAL_NAME.self) }
    }

    /// Converts a name of OpenSSL; of kinds that are not used, only the kind.
    private static func alternativeName(_ name: GENERAL_NAME) -> SubjectAlternativeName {
        switch unsafe name.type {
        case GEN_DNS: .dns(unsafe ascii(name.d.dNSName))
        case GEN_IPADD: .ip(unsafe OpenSSLEncoding.bytes(name.d.iPAddress))
        case GEN_EMAIL: .email(unsafe ascii(name.d.rfc822Name))
        case GEN_URI: .uri(unsafe ascii(name.d.uniformResourceIdentifier))
        case GEN_DIRNAME: .other("directory name")
        case GEN_OTHERNAME: .other("other name")
        case GEN_RID: .other("registered identifier")
        case GEN_X400: .other("X.400 address")
        case GEN_EDIPARTY: .other("EDI party name")
        default: unsafe .other("type \(name.type)")
        }
    }

    /// Returns the text of an IA5String, including NUL octets. Octets that are not valid UTF-8 become U+FFFD.
    private static func ascii(_ string: UnsafeMutablePointer<ASN1_STRING>?) -> String {
        String(decoding: unsafe OpenSSLEncoding.bytes(string), as: UTF8.self)
    }
}
