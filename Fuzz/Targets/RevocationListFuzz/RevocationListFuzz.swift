// SPDX-License-Identifier: MIT
// Invariant: a revocation list leads to a definite result only if its signed part is that of a known list, byte by byte.
import LupineTLS
import TrustFuzzKit

private let answers: SignedAnswers = {
    do {
        return try SignedAnswers(
            about: "good-crl.pem", files: ["intermediate", "empty", "expired"].map { "crl/\($0).crl" },
            // CertificateList, TBSCertList.
            path: [0x30, 0x30])
    } catch { preconditionFailure("\(error)") }
}()

/// Octet 0 selects the time; the rest is the list.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let choice = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    guard let list = try? RevocationList(der: bytes) else { return 0 }
    let time = SignedAnswers.times[Int(choice) % SignedAnswers.times.count]
    let evaluator = TrustEvaluator.revocation(
        [.requirePositiveResponse], lists: [list], validatesChain: false, checksHost: false)
    guard SignedAnswers.isDefinite(evaluator.evaluate(answers.trust(stapled: nil), at: time)) else {
        return 0
    }
    precondition(answers.signedPartOccurs(in: bytes), "believed without a known signature")
    return 0
}
