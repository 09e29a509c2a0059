// SPDX-License-Identifier: MIT

/// The subject of a trust evaluation: the chain and the stapled response that a peer has presented, the requested host, and the
/// anchors.
///
/// Creating one evaluates nothing. A value: it may be used on any thread, also after the connection is closed, and changing the
/// anchors of one copy affects no other. Evaluation takes only CPU time, so that a loop's thread may do it, with two exceptions:
/// the first evaluation reads the roots unless they are loaded, and a policy about revocation may access the network through
/// `revocation`.
public struct PeerTrust: Sendable {
    /// The certificates as sent, leaf first.
    public let certificates: [Certificate]
    /// The OCSP response that was stapled in the handshake.
    public let stapledResponse: [UInt8]?
    /// The requested host: a name or an IP literal without brackets.
    public let host: String
    /// The anchors.
    package var store: TrustStore
    /// Intermediate certificates for servers that do not send theirs. They are not trusted.
    package var intermediates: [Certificate]

    /// Creates a value with these contents.
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

    /// Returns the path that was built (I-12.5): the leaf, then each issuer that was found and whose signature is valid, ending
    /// at the anchor or at the last certificate that could be linked. Dates are ignored.
    public func chain() -> [Certificate] { TrustPath(of: self, at: nil).linked }

    /// Returns whether the chain satisfies the policy at this time, or the most serious problem if it does not (I-12.9).
    public func evaluate(_ policy: TrustPolicy, at time: UnixTime) -> Result<Void, TrustFailure> {
        evaluate(policy, at: time, revocation: .none)
    }

    /// Evaluates the chain like `evaluate(_:at:)`. `revocation` gives a policy about revocation access to cached answers and the
    /// network.
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
