// SPDX-License-Identifier: MIT
// Invariant: an identity that is read has the key of its certificate and a chain in order; any other file is refused in bounded
// time.
import LupineTLS

/// The input is a PKCS#12 file, opened with the password of the seeds and without one, and the AlgorithmIdentifier whose cost is
/// determined first.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    if PasswordCost.rounds(of: input) != nil {
        precondition(input.first == 0x30 && PasswordCost.rounds(of: input + [0]) == nil)
    }
    for password in [nil, "lupine"] {
        guard let identity = try? TLSIdentity(pkcs12: input, password: password) else { continue }
        precondition(
            (try? TLSIdentity(certificate: identity.certificate, privateKey: identity.privateKey)) != nil,
            "the key is not that of the certificate")
        var issued = identity.certificate
        for issuer in identity.intermediates {
            precondition(issued.issuer == issuer.subject && issuer.subject != issuer.issuer, "out of order")
            issued = issuer
        }
    }
    return 0
}
