// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// A certificate revocation list (RFC 5280 §5): a value, shared between threads.
///
/// Parsing establishes no trust. Call `status` only after `verifySignature` has confirmed that the certificate's own issuer has
/// signed the list. Lists of other issuers (indirect CRLs), delta CRLs, and lists for some reasons only are not supported.
public struct RevocationList: Sendable, Hashable {
    /// The largest list that is fetched, in bytes.
    static let sizeLimit = 8 << 20

    /// The list as an object of OpenSSL.
    let handle: OpenSSLHandle<RevocationListObject>
    /// The period in which the list is valid.
    let validity: RevocationValidity
    /// The length of the DER, in bytes.
    let size: Int
    /// The approximate size in memory, in bytes: an entry of some 40 bytes in DER becomes objects of some 300 bytes. The product
    /// cannot overflow for a list that is in memory, so the overflow flag is ignored.
    var memorySize: Int { size.multipliedReportingOverflow(by: 8).partialValue }
    /// The SHA-256 of the list, by which lists are compared.
    private let fingerprint: [UInt8]
    /// The certificates that the list covers.
    private let scope: RevocationScope

    /// Parses exactly one list.
    public init(der: [UInt8]) throws(RevocationProblem) {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let handle = unsafe der.withUnsafeBufferPointer { buffer -> OpenSSLHandle<RevocationListObject>? in
            var cursor = buffer.baseAddress
            guard
                let list = unsafe OpenSSLHandle<RevocationListObject>(
                    owning: d2i_X509_CRL(nil, &cursor, buffer.count))
            else { return nil }
            // No bytes may follow the list.
            return unsafe cursor == buffer.baseAddress.map({ unsafe $0 + buffer.count }) ? list : nil
        }
        guard let handle else { throw .malformed }
        try self.init(handle, size: der.count)
    }

    /// Reads the properties of a list that OpenSSL has parsed from `size` bytes.
    init(_ handle: OpenSSLHandle<RevocationListObject>, size: Int) throws(RevocationProblem) {
        self.handle = handle
        self.size = size
        guard let start = unsafe UnixTime(asn1: X509_CRL_get0_lastUpdate(handle.pointer)) else {
            throw .malformed
        }
        // With a malformed nextUpdate, the validity ends when it starts.
        validity = unsafe try RevocationValidity(
            from: start,
            until: X509_CRL_get0_nextUpdate(handle.pointer).map { unsafe UnixTime(asn1: $0) ?? start })
        scope = try RevocationScope(of: handle)
        var digest = [UInt8](repeating: 0, count: SHA256Digest.byteCount)
        let status = unsafe digest.withUnsafeMutableBufferPointer {
            unsafe X509_CRL_digest(handle.pointer, EVP_sha256(), $0.baseAddress, nil)
        }
        guard status == 1 else { throw .malformed }
        fingerprint = digest
    }

    /// Whether the list's issuer has the name of this certificate's subject.
    func hasIssuerName(of issuer: Certificate) -> Bool {
        unsafe X509_NAME_cmp(
            X509_CRL_get_issuer(handle.pointer), X509_get_subject_name(issuer.handle.pointer)) == 0
    }

    /// Throws unless this issuer may sign lists and has signed this one.
    func verifySignature(of issuer: Certificate) throws(RevocationProblem) {
        defer { OpenSSLErrors.clear() }
        guard hasIssuerName(of: issuer) else { throw .otherCertificate }
        var digest: Int32 = 0
        let algorithm = unsafe X509_CRL_get_signature_nid(handle.pointer)
        // Without a key usage extension, OpenSSL returns all bits set, so that the issuer may sign lists.
        guard unsafe X509_get_key_usage(issuer.handle.pointer) & UInt32(KU_CRL_SIGN) != 0,
            unsafe OBJ_find_sigid_algs(algorithm, &digest, nil) == 1, !WeakDigest.includes(digest),
            let key = unsafe X509_get0_pubkey(issuer.handle.pointer),
            unsafe X509_CRL_verify(handle.pointer, key) == 1
        else { throw .badSignature }
    }

    /// Returns the revocation status of a certificate whose issuer has signed the list.
    ///
    /// - Throws: `outdated` if the list is not valid at this time, `otherCertificate` if it does not cover the certificate.
    func status(of certificate: Certificate, at time: UnixTime) throws(RevocationProblem) -> RevocationStatus
    {
        guard validity.contains(time) else { throw .outdated }
        guard scope.covers(certificate) else { throw .otherCertificate }
        var entry: OpaquePointer?
        // 0 means that there is no entry, 1 that the certificate is revoked, and 2 that its entry has the reason removeFromCRL,
        // which cancels a revocation.
        guard unsafe X509_CRL_get0_by_cert(handle.pointer, &entry, certificate.handle.pointer) == 1,
            let entry = unsafe entry
        else { return .good }
        let date = unsafe UnixTime(asn1: X509_REVOKED_get0_revocationDate(entry))
        return unsafe .revoked(at: date, reason: RevocationStatus.reason(RevocationList.reason(of: entry)))
    }

    /// Returns the reason code of an entry (RFC 5280 §5.3.1); -1 without one.
    private static func reason(of entry: OpaquePointer) -> Int {
        guard let value = unsafe X509_REVOKED_get_ext_d2i(entry, NID_crl_reason, nil, nil) else { return -1 }
        let reason = unsafe value.assumingMemoryBound(to: ASN1_ENUMERATED.self)
        defer { unsafe ASN1_ENUMERATED_free(reason) }
        return unsafe ASN1_ENUMERATED_get(reason)
    }

    public static func == (left: RevocationList, right: RevocationList) -> Bool {
        left.fingerprint == right.fingerprint
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}
