// SPDX-License-Identifier: MIT

/// What one look at a peer says: the path that was built, and what is wrong with it under several policies at once.
///
/// For callers who show the path as well as the verdict. The path is built and validated once, whatever is asked of it.
package struct TrustReport: Sendable {
    /// The leaf and each issuer that signatures link to it (I-12.5).
    package let chain: [Certificate]
    /// Whether the last of them is trusted as it is.
    package let isAnchored: Bool
    /// The most serious problem under any of the policies; nil when all pass (I-12.11).
    package let failure: TrustFailure?
}

extension PeerTrust {
    /// Looks at the peer under each of the policies. `responses` are OCSP responses that may be about the leaf: the first
    /// that is stands in for the stapled one. Blocks when a policy asks about revocation and `revocation` reaches the network.
    package func report(
        under policies: [TrustPolicy], responses: [[UInt8]] = [], at time: UnixTime,
        revocation: RevocationAccess = .none
    ) -> TrustReport {
        let path = TrustPath(of: self, at: time)
        let trust = answered(by: responses, on: path, at: time)
        var worst: TrustFailure?
        for policy in policies {
            let failure = path.failure(of: trust, under: policy, at: time, revocation: revocation)
            guard let failure else { continue }
            if worst.map({ failure.severity < $0.severity }) ?? true { worst = failure }
        }
        return TrustReport(chain: path.linked, isAnchored: path.isAnchored, failure: worst)
    }

    private func answered(by responses: [[UInt8]], on path: TrustPath, at time: UnixTime) -> PeerTrust {
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
