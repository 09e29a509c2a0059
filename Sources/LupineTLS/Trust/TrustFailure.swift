// SPDX-License-Identifier: MIT

/// The reason why a chain is not trusted, with its evidence.
///
/// Subjects and issuers are names in the form of RFC 4514. When a chain has several problems, the most serious one is reported
/// (rule I-12.9).
public enum TrustFailure: Error, Hashable, Sendable {
    /// The peer has sent no certificate.
    case noCertificate
    /// The leaf is not valid for the host, only for these names.
    case hostMismatch(host: String, names: [String])
    /// A certificate of the chain has expired.
    case expired(subject: String, since: UnixTime)
    /// A certificate of the chain is not yet valid.
    case notYetValid(subject: String, until: UnixTime)
    /// The roots for the evaluation of the chain cannot be read.
    case rootsUnusable(TrustRootsError)
    /// The peer has not sent the certificate of this certificate's issuer, and the issuer's is not among the trusted ones.
    case issuerMissing(subject: String, issuer: String)
    /// The chain is complete, but its last certificate is not a trusted root.
    case untrustedRoot(subject: String)
    /// The leaf is self-signed and not a trusted root.
    case selfSigned(subject: String)
    /// A signature of the chain is invalid.
    case badSignature(subject: String)
    /// An issuer of the chain is not an authority.
    case notAnAuthority(subject: String)
    /// The chain is longer than an issuer's path length constraint allows.
    case pathTooLong(subject: String)
    /// A name violates an issuer's name constraints.
    case nameNotPermitted(subject: String)
    /// The leaf must not be used for servers, or not for clients under a client policy.
    case wrongUsage(subject: String)
    /// A key is shorter than allowed.
    case weakKey(subject: String, bits: Int)
    /// A signature uses an algorithm that is too weak.
    case weakSignature(subject: String, algorithm: String)
    /// A critical extension is unknown.
    case unknownCriticalExtension(subject: String)
    /// The issuer has revoked the certificate.
    case revoked(subject: String, at: UnixTime?, reason: String?)
    /// The evaluation requires a definite answer about revocation, and none was available.
    case revocationUnknown(subject: String, RevocationProblem)
    /// The certificate requires a stapled response (RFC 7633), and the peer has sent none.
    case stapleMissing(subject: String)
    /// None of the chain's certificates is pinned.
    case certificateNotPinned(expected: [String], found: [String])
    /// None of the chain's keys is pinned.
    case keyNotPinned(expected: [String], found: [String])
    /// There are no pins to compare with.
    case noPins
    /// The caller's own evaluation refused the peer.
    case refused(String)
    /// Another error of OpenSSL's path validation, with its number and text.
    case invalidChain(subject: String, code: Int, reason: String)
}
