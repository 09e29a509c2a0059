// SPDX-License-Identifier: MIT

/// What a peer presented, and what it is judged against: its chain, the stapled answer, the host that was asked for.
///
/// Making one judges nothing. It is a value: it may be used from any thread and when the connection is gone, and changing
/// its anchors changes no other copy. Evaluating is pure CPU time, and fit for a loop's thread, once the roots have been read, which
/// the first evaluation does otherwise, unless the policy asks about revocation and the access that is given reaches the network.
public struct PeerTrust: Sendable {
    /// The certificates as they were sent, the leaf first.
    public let certificates: [Certificate]
    /// The OCSP response that came in the handshake.
    public let stapledResponse: [UInt8]?
    /// The host that was asked for: a name or an IP literal without brackets.
    public let host: String
    /// What ends a chain.
    package var store: TrustStore
    /// Issuers supplied locally, for servers that forget to send theirs. They are not trusted.
    package var intermediates: [Certificate]

    /// What a peer presented.
    package init(
        certificates: [Certificate], stapledResponse: [UInt8]?, host: String, store: TrustStore,
        intermediates: [Certificate] = []
    ) {
        self.certificates = certificates
        self.stapledResponse = stapledResponse
        self.host = host
        self.store = store
        self.intermediates = intermediates
    }

    /// The path that was built (I-12.5): the leaf, then each issuer that could be found and whose signature fits, ending at
    /// the anchor or at the last certificate that could be linked. Dates play no part.
    public func chain() -> [Certificate] { TrustPath(of: self, at: nil).linked }

    /// Whether the chain satisfies the policy at this time; the most serious problem if it does not (I-12.9).
    public func evaluate(_ policy: TrustPolicy, at time: UnixTime) -> Result<Void, TrustFailure> {
        evaluate(policy, at: time, revocation: .none)
    }

    /// The same, with access to kept answers and the network for a policy that asks about revocation.
    package func evaluate(
        _ policy: TrustPolicy, at time: UnixTime, revocation: RevocationAccess
    ) -> Result<Void, TrustFailure> {
        switch TrustPath(of: self, at: time).failure(
            of: self, under: policy, at: time, revocation: revocation)
        {
        case nil: .success(())
        case let failure?: .failure(failure)
        }
    }
}
