// SPDX-License-Identifier: MIT

/// The subject of a trust evaluation: the chain and the stapled response that a peer has presented, the requested host, and the
/// anchors (trusted certificates).
///
/// Creating one evaluates nothing. A value: it may be used on any thread, also after the connection is closed, and changing the
/// anchors of one copy affects no other. Evaluation takes only CPU time, so that an event loop's thread may do it. There are two
/// exceptions: the first evaluation reads the roots unless they are loaded, and a policy about revocation may access the network
/// through `revocation`.
public struct PeerTrust: Sendable {
    /// The certificates as sent, leaf first.
    public let certificates: [Certificate]
    /// The OCSP response that was stapled in the handshake.
    public let stapledResponse: [UInt8]?
    /// The requested host: a name or an IP literal without brackets.
    public let host: String
    /// The anchors, at which a trusted chain has to end.
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

    /// Builds the path towards an anchor, and returns its certificates (rule I-12.5): the leaf, then each issuer whose key has
    /// signed the certificate before it. The last is the anchor, or a certificate without a known issuer. Dates are ignored.
    public func chain() -> [Certificate] { TrustPath(of: self, at: nil).linkedCertificates }

    /// Evaluates the chain at this time. Returns success if it satisfies the policy, otherwise the most serious failure (rule
    /// I-12.9).
    public func evaluate(_ policy: TrustPolicy, at time: UnixTime) -> Result<Void, TrustFailure> {
        evaluate(policy, at: time, revocation: .none)
    }

    /// Evaluates the chain like `evaluate(_:at:)`. A policy about revocation uses the cached answers and the network through
    /// `revocation`.
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
