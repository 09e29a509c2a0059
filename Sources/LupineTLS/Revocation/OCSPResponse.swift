// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// A verified OCSP response about one certificate (RFC 6960). `request(about:issuer:)` creates the request for it.
///
/// Only the certificate's issuer, and responders to which the issuer has delegated signing, may sign (§4.2.2.2). A nonce is
/// neither sent nor required, so that stapled and pre-produced responses are accepted; the response's validity limits replay. The
/// response comes from the network: nothing in it is trusted before its signature is verified.
struct OCSPResponse {
    /// The largest response in bytes.
    static let sizeLimit = 64 << 10
    /// The tolerated difference between the clocks of this machine and of the responder, in seconds. It extends each validity at
    /// its start and its end.
    static let clockSkew: Int64 = 300
    /// The validity of an answer without nextUpdate (the end of the validity), in seconds: a day, as in Mozilla's implementation.
    static let defaultValidity: Int64 = 86_400

    /// The status of the certificate.
    let status: RevocationStatus
    /// The start of the validity, including the skew.
    let from: UnixTime
    /// The end of the validity, including the skew.
    let until: UnixTime

    /// Returns the request for a response, in DER; nil when OpenSSL fails. It identifies the certificate by SHA-1, which every
    /// responder supports.
    static func request(about certificate: Certificate, issuer: Certificate) -> [UInt8]? {
        guard let request = unsafe OCSP_REQUEST_new() else { return nil }
        defer { unsafe OCSP_REQUEST_free(request) }
        guard
            let identifier = unsafe OCSP_cert_to_id(
                EVP_sha1(), certificate.handle.pointer, issuer.handle.pointer),
            unsafe OCSP_request_add0_id(request, identifier) != nil
        else { return nil }
        let length = unsafe i2d_OCSP_REQUEST(request, nil)
        guard length > 0 else { return nil }
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            var cursor = buffer.baseAddress
            count = unsafe Int(max(i2d_OCSP_REQUEST(request, &cursor), 0))
        }
    }

    /// Parses a response and verifies it for this certificate at this time.
    init(
        _ bytes: [UInt8], about certificate: Certificate, issuer: Certificate, at time: UnixTime
    ) throws(RevocationProblem) {
        guard bytes.count <= OCSPResponse.sizeLimit else {
            throw .tooLarge(limit: OCSPResponse.sizeLimit, bytes: bytes.count)
        }
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        let basic = unsafe try OCSPResponse.basicResponse(bytes)
        defer { unsafe OCSP_BASICRESP_free(basic) }
        unsafe try OCSPResponse.checkSignature(of: basic, issuer: issuer, at: time)
        // A response may contain several statuses (SingleResponse). The problem is thrown if none of them is usable.
        var problem = RevocationProblem.otherCertificate
        var goodResponse: OCSPResponse?
        for index in 0..<max(unsafe OCSP_resp_count(basic), 0) {
            guard let single = unsafe OCSP_resp_get0(basic, index),
                unsafe OCSPResponse.isAbout(certificate, issuer, single)
            else { continue }
            do throws(RevocationProblem) {
                let response = try unsafe OCSPResponse(single: single, at: time)
                // The status `revoked` counts, even if another one is `good`.
                guard response.status == .good else {
                    self = response
                    return
                }
                goodResponse = goodResponse ?? response
            } catch {
                problem = error
            }
        }
        guard let goodResponse else { throw problem }
        self = goodResponse
    }

    /// Reads one of the statuses in a response (SingleResponse, RFC 6960 §4.2.1).
    private init(single: OpaquePointer, at time: UnixTime) throws(RevocationProblem) {
        // No critical extension is supported. The result is negative if there is none.
        guard unsafe OCSP_SINGLERESP_get_ext_by_critical(single, 1, -1) < 0 else { throw .malformed }
        var reason: Int32 = -1
        var revokedAt: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var thisUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var nextUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let code = unsafe OCSP_single_get0_status(single, &reason, &revokedAt, &thisUpdate, &nextUpdate)
        guard let start = unsafe UnixTime(asn1: thisUpdate) else { throw .malformed }
        // With a malformed nextUpdate, the validity ends when it starts.
        let validity = unsafe try RevocationValidity(
            from: start, until: nextUpdate.map { unsafe UnixTime(asn1: $0) ?? start })
        guard validity.contains(time) else { throw .outdated }
        from = validity.from
        until = validity.until
        switch code {
        case V_OCSP_CERTSTATUS_GOOD: status = .good
        case V_OCSP_CERTSTATUS_REVOKED:
            status = unsafe .revoked(
                at: UnixTime(asn1: revokedAt), reason: RevocationStatus.reason(Int(reason)))
        case V_OCSP_CERTSTATUS_UNKNOWN: throw .unknownCertificate
        default: throw .malformed
        }
    }

    /// Parses a response, and returns its signed part (BasicOCSPResponse), which the caller frees. Throws if the responder
    /// reports an error.
    private static func basicResponse(_ bytes: [UInt8]) throws(RevocationProblem) -> OpaquePointer {
        let parsedResponse = unsafe bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            guard let response = unsafe d2i_OCSP_RESPONSE(nil, &cursor, buffer.count) else { return nil }
            // No bytes may follow the response.
            guard unsafe cursor == buffer.baseAddress.map({ unsafe $0 + buffer.count }) else {
                unsafe OCSP_RESPONSE_free(response)
                return nil
            }
            return unsafe response
        }
        guard let response = unsafe parsedResponse else { throw .malformed }
        defer { unsafe OCSP_RESPONSE_free(response) }
        let status = unsafe OCSP_response_status(response)
        guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else { throw .responderRefused(status: Int(status)) }
        // Extracting the signed part parses the keys of the responder's certificates. Explicit curve parameters are refused
        // before that: RFC 5480 §2.1.1 forbids them, and a peer can make them slow to parse. The check searches a new encoding of
        // the response, because the peer's encoding may hide parameters in strings that are split into segments.
        let encoding = unsafe OpenSSLEncoding.write { unsafe i2d_OCSP_RESPONSE(response, $0) }
        guard unsafe lupine_has_explicit_curve(encoding, encoding.count) == 0 else { throw .malformed }
        guard let basic = unsafe OCSP_response_get1_basic(response) else { throw .malformed }
        guard unsafe isAtTheEnd(basic, of: bytes) else {
            unsafe OCSP_BASICRESP_free(basic)
            throw .malformed
        }
        return unsafe basic
    }

    /// Whether the response ends with the DER encoding of its signed part (X.690 §10). OpenSSL verifies the signature over a new
    /// encoding of the parsed response. So without this check, a response with an encoding error that OpenSSL tolerates, such as
    /// a wrong bit in a tag, would be accepted.
    private static func isAtTheEnd(_ basic: OpaquePointer, of bytes: [UInt8]) -> Bool {
        let encoding = unsafe OpenSSLEncoding.write { unsafe i2d_OCSP_BASICRESP(basic, $0) }
        return !encoding.isEmpty && bytes.suffix(encoding.count).elementsEqual(encoding)
    }

    /// Throws unless the signature is valid and the signer may answer for the issuer.
    private static func checkSignature(
        of basic: OpaquePointer, issuer: Certificate, at time: UnixTime
    ) throws(RevocationProblem) {
        // No critical extension is supported. The result is negative if there is none.
        guard unsafe OCSP_BASICRESP_get_ext_by_critical(basic, 1, -1) < 0 else { throw .malformed }
        guard let certificates = unsafe lupine_sk_X509_new() else { throw .malformed }
        defer { unsafe lupine_sk_X509_free(certificates) }
        // OpenSSL searches the signer among the response's own certificates and these: the issuer.
        unsafe _ = lupine_sk_X509_push(certificates, issuer.handle.pointer)
        // The signer's authorization is checked before the signature: an unauthorized signer may have chosen a key with which
        // verifying is slow.
        var signerPointer: OpaquePointer?
        guard unsafe OCSP_resp_get0_signer(basic, &signerPointer, certificates) == 1,
            let signerPointer = unsafe signerPointer
        else {
            throw .badSignature
        }
        let signer = unsafe Certificate(OpenSSLHandle(sharing: signerPointer))
        guard unsafe !usesWeakDigest(basic) else { throw .badSignature }
        // A delegate is refused if its key is too slow (`signatureCost` is nil), or its extensions.
        let isAuthorized =
            signer == issuer
            || signer.signatureCost != nil && !signer.isCostlyToRead
                && isDelegate(signer, of: issuer, at: time)
        // NOVERIFY: OpenSSL verifies the signature, and not the signer's certificate, which has been checked above.
        guard isAuthorized,
            unsafe OCSP_basic_verify(basic, certificates, nil, UInt(OCSP_NOVERIFY)) == 1
        else {
            throw .badSignature
        }
    }

    /// Whether the issuer has delegated OCSP signing to the signer with a certificate that is valid at this time.
    private static func isDelegate(_ signer: Certificate, of issuer: Certificate, at time: UnixTime) -> Bool {
        let flags = unsafe X509_get_extension_flags(signer.handle.pointer)
        let usages = unsafe X509_get_extended_key_usage(signer.handle.pointer)
        // EXFLAG_INVALID: malformed extensions; EXFLAG_CRITICAL: an unknown critical one; EXFLAG_XKUSAGE: there are usages.
        guard flags & UInt32(EXFLAG_INVALID | EXFLAG_CRITICAL) == 0, flags & UInt32(EXFLAG_XKUSAGE) != 0,
            usages & UInt32(XKU_OCSP_SIGN) != 0,
            signer.notBefore <= time, time <= signer.notAfter,
            signer.weakKeyBits == nil, signer.weakSignatureAlgorithm == nil,
            unsafe X509_check_issued(issuer.handle.pointer, signer.handle.pointer) == X509_V_OK,
            let key = unsafe X509_get0_pubkey(issuer.handle.pointer)
        else { return false }
        return unsafe X509_verify(signer.handle.pointer, key) == 1
    }

    /// Whether the digest of the response's signature is weak. False for an unknown signature algorithm, which
    /// `OCSP_basic_verify` refuses.
    private static func usesWeakDigest(_ basic: OpaquePointer) -> Bool {
        var object: OpaquePointer?
        var digest: Int32 = 0
        unsafe X509_ALGOR_get0(&object, nil, nil, OCSP_resp_get0_tbs_sigalg(basic))
        guard unsafe OBJ_find_sigid_algs(OBJ_obj2nid(object), &digest, nil) == 1 else { return false }
        return WeakDigest.includes(digest)
    }

    /// Whether the status `single` is about this certificate. The responder may have identified it with one of several digests.
    private static func isAbout(_ certificate: Certificate, _ issuer: Certificate, _ single: OpaquePointer)
        -> Bool
    {
        var digest: OpaquePointer?
        guard let identifier = unsafe OCSP_SINGLERESP_get0_id(single),
            unsafe OCSP_id_get0_info(nil, &digest, nil, nil, identifier) == 1
        else { return false }
        let number = unsafe OBJ_obj2nid(digest)
        switch number {
        case NID_sha1, NID_sha256, NID_sha384, NID_sha512: break
        default: return false
        }
        guard let method = unsafe EVP_get_digestbyname(OBJ_nid2sn(number)),
            let expected = unsafe OCSP_cert_to_id(method, certificate.handle.pointer, issuer.handle.pointer)
        else { return false }
        defer { unsafe OCSP_CERTID_free(expected) }
        return unsafe OCSP_id_cmp(expected, identifier) == 0
    }
}
