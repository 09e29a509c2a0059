// SPDX-License-Identifier: MIT

import CLupineOpenSSL
import LupineTestKit
import Testing

@testable import LupineTLS

/// Makes OCSP responses signed by the fixtures' intermediate, with other times than those of the fixtures' responses.
enum OCSPResponseMaker {
    /// Returns a response with the status "good" about a certificate, valid between these times.
    ///
    /// - Parameter delegate: The key of a responder to which the intermediate has delegated signing; nil for the intermediate
    /// itself.
    static func good(
        _ certificate: Certificate, from begin: UnixTime, until end: UnixTime, by delegate: PrivateKey? = nil
    ) throws -> [UInt8] {
        let issuer = try TrustFixture.certificate("intermediate")
        let key = try PrivateKey(pem: PKI.text("intermediate.key"), password: nil)
        let basic = unsafe try #require(OCSP_BASICRESP_new())
        defer { unsafe OCSP_BASICRESP_free(basic) }
        let id = unsafe OCSP_cert_to_id(EVP_sha1(), certificate.handle.pointer, issuer.handle.pointer)
        let thisUpdate = unsafe ASN1_TIME_set(nil, Int(begin.seconds))
        let nextUpdate = unsafe ASN1_TIME_set(nil, Int(end.seconds))
        defer {
            unsafe OCSP_CERTID_free(id)
            unsafe ASN1_STRING_free(thisUpdate)
            unsafe ASN1_STRING_free(nextUpdate)
        }
        try #require(
            unsafe OCSP_basic_add1_status(
                basic, id, V_OCSP_CERTSTATUS_GOOD, 0, nil, thisUpdate, nextUpdate) != nil)
        let signer = try delegate.map { try ChainMaker.responder(of: issuer, key, $0) } ?? issuer
        try #require(
            unsafe OCSP_basic_sign(
                basic, signer.handle.pointer, (delegate ?? key).handle.pointer, EVP_sha256(), nil, 0) == 1)
        let response = unsafe try #require(
            OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic))
        defer { unsafe OCSP_RESPONSE_free(response) }
        return unsafe OpenSSLEncoding.write { unsafe i2d_OCSP_RESPONSE(response, $0) }
    }
}
