// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// What trust reads of a certificate.
extension Certificate {
    var notBefore: UnixTime { unsafe UnixTime(asn1: X509_get0_notBefore(handle.pointer)) ?? UnixTime(seconds: .max) }
    var notAfter: UnixTime { unsafe UnixTime(asn1: X509_get0_notAfter(handle.pointer)) ?? UnixTime(seconds: .min) }
    var fingerprint: [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe digest.withUnsafeMutableBufferPointer {
            unsafe _ = X509_digest(handle.pointer, EVP_sha256(), $0.baseAddress, nil)
        }
        return digest
    }
    var subjectText: String { unsafe Certificate.text(X509_get_subject_name(handle.pointer)) }
    var issuerText: String { unsafe Certificate.text(X509_get_issuer_name(handle.pointer)) }

    private static func text(_ name: OpaquePointer?) -> String {
        guard let name = unsafe name, let line = unsafe X509_NAME_oneline(name, nil, 0) else { return "" }
        defer { unsafe CRYPTO_free(line, nil, 0) }
        return unsafe String(cString: line)
    }
    var mustStaple: Bool { unsafe X509_get_ext_by_NID(handle.pointer, NID_tlsfeature, -1) >= 0 }
    var ocspURLs: [String] {
        guard let stack = unsafe X509_get1_ocsp(handle.pointer) else { return [] }
        defer { unsafe X509_email_free(stack) }
        var all: [String] = []
        for index in 0..<(unsafe lupine_sk_OPENSSL_STRING_num(stack)) {
            unsafe all.append(String(cString: lupine_sk_OPENSSL_STRING_value(stack, index)))
        }
        return all
    }
    var crlURLs: [String] {
        guard
            let points = unsafe OpaquePointer(
                X509_get_ext_d2i(handle.pointer, NID_crl_distribution_points, nil, nil))
        else { return [] }
        defer { unsafe lupine_CRL_DIST_POINTS_free(points) }
        var all: [String] = []
        for index in 0..<max(unsafe lupine_sk_DIST_POINT_num(points), 0) {
            let point = unsafe lupine_sk_DIST_POINT_value(points, index)!
            let names = unsafe point.pointee.distpoint.pointee.name.fullname
            let name = unsafe lupine_sk_GENERAL_NAME_value(names, 0)!
            let string = unsafe name.pointee.d.uniformResourceIdentifier!
            unsafe all.append(String(cString: ASN1_STRING_get0_data(string)))
        }
        return all
    }
    var publicKey: PublicKey? {
        let key = unsafe X509_get_X509_PUBKEY(handle.pointer)
        let length = unsafe i2d_X509_PUBKEY(key, nil)
        return PublicKey(subjectPublicKeyInfo: unsafe [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            var end = buffer.baseAddress
            count = unsafe Int(i2d_X509_PUBKEY(key, &end))
        })
    }
}

extension PublicKey {
    var fingerprint: [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        _ = unsafe digest.withUnsafeMutableBufferPointer { digest in
            unsafe SHA256(subjectPublicKeyInfo, subjectPublicKeyInfo.count, digest.baseAddress)
        }
        return digest
    }
}

enum PeerIdentity {
    static func matches(host: String, certificate: Certificate) -> Bool {
        unsafe X509_check_host(certificate.handle.pointer, host, host.utf8.count, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT), nil) == 1
            || (unsafe X509_check_ip_asc(certificate.handle.pointer, host, 0) == 1)
    }
    static func names(of certificate: Certificate) -> [String] { ["names"] }
}

extension Certificate: Hashable {
    public static func == (left: Certificate, right: Certificate) -> Bool {
        unsafe X509_cmp(left.handle.pointer, right.handle.pointer) == 0
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}
