// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// A certificate revocation list (RFC 5280 §5): a value, shared between threads.
///
/// Parsing establishes no trust. `status` may be used after `verifySignature` has confirmed that the certificate's own issuer
/// signed the list. Lists of other issuers (indirect CRLs), delta CRLs, and lists for some reasons only are not supported.
public struct RevocationList: Sendable, Hashable {
    /// The largest list that is fetched, in bytes.
    static let sizeLimit = 8 << 20

    let handle: OpenSSLHandle<RevocationListObject>
    /// The validity of the list.
    let validity: RevocationValidity
    /// The length of the DER.
    let size: Int
    /// The approximate size in memory: an entry of some 40 bytes becomes objects of some 300.
    var memorySize: Int { size.multipliedReportingOverflow(by: 8).partialValue }
    private let fingerprint: [UInt8]
    private let scope: RevocationScope

    /// Parses exactly one list.
    public init(der: [UInt8]) throws(RevocationProblem) {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let parsed = unsafe der.withUnsafeBufferPointer { buffer -> OpenSSLHandle<RevocationListObject>? in
            var cursor = buffer.baseAddress
            guard
                let list = unsafe OpenSSLHandle<RevocationListObject>(
                    owning: d2i_X509_CRL(nil, &cursor, buffer.count))
            else { return nil }
            // No bytes may follow the list.
            return unsafe cursor == buffer.baseAddress.map({ unsafe $0 + buffer.count }) ? list : nil
        }
        guard let parsed else { throw .malformed }
        try self.init(parsed, size: der.count)
    }

    init(_ handle: OpenSSLHandle<RevocationListObject>, size: Int) throws(RevocationProblem) {
        self.handle = handle
        self.size = size
        guard let begin = unsafe UnixTime(asn1: X509_CRL_get0_lastUpdate(handle.pointer)) else {
            throw .malformed
        }
        // With a malformed nextUpdate, the list expires when it begins.
        validity = unsafe try RevocationValidity(
            from: begin,
            until: X509_CRL_get0_nextUpdate(handle.pointer).map { unsafe UnixTime(asn1: $0) ?? begin })
        scope = try RevocationScope(of: handle)
        var digest = [UInt8](repeating: 0, count: 32)
        let hashed = unsafe digest.withUnsafeMutableBufferPointer {
            unsafe X509_CRL_digest(handle.pointer, EVP_sha256(), $0.baseAddress, nil)
        }
        guard hashed == 1 else { throw .malformed }
        fingerprint = digest
    }

    /// Whether the list names this certificate's subject as its issuer.
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
        // OpenSSL returns all bits set when the certificate has no key usage extension.
        guard unsafe X509_get_key_usage(issuer.handle.pointer) & UInt32(KU_CRL_SIGN) != 0,
            unsafe OBJ_find_sigid_algs(algorithm, &digest, nil) == 1, !WeakDigest.includes(digest),
            let key = unsafe X509_get0_pubkey(issuer.handle.pointer),
            unsafe X509_CRL_verify(handle.pointer, key) == 1
        else { throw .badSignature }
    }

    /// Returns the list's status for a certificate of the issuer that has signed it.
    func status(of certificate: Certificate, at time: UnixTime) throws(RevocationProblem) -> RevocationStatus
    {
        guard validity.contains(time) else { throw .outdated }
        guard scope.covers(certificate) else { throw .otherCertificate }
        var entry: OpaquePointer?
        // The result 2 means an entry with the reason "removeFromCRL": the certificate is not revoked any more.
        guard unsafe X509_CRL_get0_by_cert(handle.pointer, &entry, certificate.handle.pointer) == 1,
            let entry = unsafe entry
        else { return .good }
        let date = unsafe UnixTime(asn1: X509_REVOKED_get0_revocationDate(entry))
        return unsafe .revoked(at: date, reason: RevocationStatus.reason(RevocationList.reason(of: entry)))
    }

    /// The reason code of an entry; -1 without one.
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
