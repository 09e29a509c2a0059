// SPDX-License-Identifier: MIT

/// The evaluation of a peer under several policies at once, with the path that was built.
///
/// For callers that show the path as well as the verdict. The path is built and validated once for all policies.
package struct TrustReport: Sendable {
    /// The leaf and each issuer that is linked by a signature (I-12.5).
    package let chain: [Certificate]
    /// Whether the last certificate of the path is an anchor.
    package let isAnchored: Bool
    /// The most serious problem under any of the policies; nil when all are satisfied (I-12.11).
    package let failure: TrustFailure?
}

extension PeerTrust {
    /// Evaluates the peer under each of the policies. `responses` are candidate OCSP responses for the leaf: the first valid one
    /// replaces the stapled one. Blocks when a policy is about revocation and `revocation` reaches the network.
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
            if let known = worst, known.severity <= failure.severity { continue }
            worst = failure
        }
        return TrustReport(chain: path.linked, isAnchored: path.isAnchored, failure: worst)
    }

    /// Returns this value with the first valid one of these responses in place of the stapled one; with the first of all if none
    /// is valid.
    private func stapled(with responses: [[UInt8]], on path: TrustPath, at time: UnixTime) -> PeerTrust {
        guard let first = responses.first else { return self }
        var chosen = first
        if responses.count > 1, path.built.count > 1 {
            chosen =
                responses.first { response in
                    (try? OCSPAnswer(response, about: path.built[0], issuer: path.built[1], at: time)) != nil
                } ?? first
        }
        return PeerTrust(
            certificates: certificates, stapledResponse: chosen, host: host, store: store,
            intermediates: intermediates)
    }
}
