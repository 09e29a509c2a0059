// SPDX-License-Identifier: MIT
// Invariant: a stapled or fetched OCSP response leads to a definite result only if its signed part is that of a known response,
// byte by byte.
import LupineTLS
import TrustFuzzKit

/// Responds to every query with the fuzzer's bytes.
private struct Responder: RevocationFetcher {
    let bytes: [UInt8]

    func fetch(
        _ query: RevocationQuery, deadline: ContinuousClock.Instant
    ) throws(RevocationFetchError) -> [UInt8] { bytes }
}

private let answers: SignedAnswers = {
    do {
        return try SignedAnswers(
            about: "good-ocsp.pem",
            files: ["good", "good-delegated", "good-sha256", "good-no-next", "many", "expired"].map {
                "ocsp/\($0).der"
            },
            // OCSPResponse, responseBytes with its contents, the response, BasicOCSPResponse, ResponseData.
            path: [0x30, 0xA0, 0x30, 0x04, 0x30, 0x30])
    } catch { preconditionFailure("\(error)") }
}()

/// Octet 0 selects the time; the rest is the response.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let choice = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    let time = SignedAnswers.times[Int(choice) % SignedAnswers.times.count]
    let evaluator = TrustEvaluator.revocation(
        [.ocsp, .requirePositiveResponse], validatesChain: false, checksHost: false)
    let stapled = evaluator.evaluate(answers.trust(stapled: bytes), at: time)
    let fetched = evaluator.evaluate(
        answers.trust(stapled: nil), at: time,
        revocation: RevocationAccess(fetcher: Responder(bytes: bytes), deadline: .now))
    guard SignedAnswers.isDefinite(stapled) || SignedAnswers.isDefinite(fetched) else { return 0 }
    precondition(
        SignedAnswers.isDefinite(stapled) && SignedAnswers.isDefinite(fetched), "\(stapled), \(fetched)")
    precondition(answers.signedPartOccurs(in: bytes), "accepted without a known signature: \(stapled)")
    return 0
}
