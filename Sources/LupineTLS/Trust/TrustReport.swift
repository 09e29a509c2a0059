// SPDX-License-Identifier: MIT

/// The result of evaluating a peer under several policies at once, with the path from the leaf towards an anchor.
///
/// For callers that show the path as well as the verdict. The path is built and validated once for all policies.
package struct TrustReport: Sendable {
    /// The leaf, then each issuer whose key has signed the certificate before it (rule I-12.5).
    package let chain: [Certificate]
    /// Whether the last certificate of the path is an anchor.
    package let isAnchored: Bool
    /// The most serious failure under any of the policies; nil when the peer satisfies all of them (rule I-12.11).
    package let failure: TrustFailure?
}

extension PeerTrust {
    /// Evaluates the peer under each of the policies. Blocks when a policy is about revocation and `revocation` has a fetcher.
    ///
    /// - Parameters:
    ///   - policies: The policies, all of which the peer has to satisfy.
    ///   - responses: Candidate OCSP responses for the leaf. The first valid one replaces the stapled response.
    ///   - time: The time at which certificates and revocation answers have to be valid.
    ///   - revocation: The access to revocation answers.
    package func report(
        under policies: [TrustPolicy], responses: [[UInt8]] = [], at time: UnixTime,
        revocation: RevocationAccess = .none
    ) -> TrustReport {
        let path = TrustPath(of: self, at: time)
        let trust = stapled(with: responses, on: path, at: time)
        var worst: TrustFailure?
        for policy in policies {
            let failure = path.failure(of: trust, under: policy, at: time, revocation: revocation)
            guard let failure else { continue }
            // The smaller the number, the more serious the failure.
            if let worst, worst.severity <= failure.severity { continue }
            worst = failure
        }
        return TrustReport(chain: path.linkedCertificates, isAnchored: path.isAnchored, failure: worst)
    }

    /// Returns a copy whose stapled response is the first valid one of `responses`; if none is valid, the first of all. Returns
    /// this value if `responses` is empty.
    private func stapled(with responses: [[UInt8]], on path: TrustPath, at time: UnixTime) -> PeerTrust {
        guard let first = responses.first else { return self }
        var chosen = first
        // Verifying a response requires the issuer, the second certificate of the path.
        if responses.count > 1, path.certificates.count > 1 {
            let (leaf, issuer) = (path.certificates[0], path.certificates[1])
            let firstValid = responses.first { response in
                (try? OCSPResponse(response, about: leaf, issuer: issuer, at: time)) != nil
            }
            chosen = firstValid ?? first
        }
        return PeerTrust(
            certificates: certificates, stapledResponse: chosen, host: host, store: store,
            intermediates: intermediates)
    }
}
