// SPDX-License-Identifier: MIT

/// Why a chain is not trusted: the one precise reason, with its evidence.
///
/// Subjects and issuers are names as RFC 4514 writes them. When a chain has several faults, the most serious is told
/// (I-12.9).
public enum TrustFailure: Error, Hashable, Sendable {
    /// The peer has sent no certificate.
    case noCertificate
    /// The leaf is for other names.
    case hostMismatch(host: String, names: [String])
    /// The validity of this certificate of the chain is over.
    case expired(subject: String, since: UnixTime)
    /// The validity of this certificate of the chain has not begun.
    case notYetValid(subject: String, until: UnixTime)
    /// The roots that the chain would have been judged by cannot be read.
    case rootsUnusable(TrustRootsError)
    /// The issuer of this certificate was neither sent nor is it known.
    case issuerMissing(subject: String, issuer: String)
    /// The chain is complete, and its end is no trusted root.
    case untrustedRoot(subject: String)
    /// The leaf is its own issuer, and no trusted root.
    case selfSigned(subject: String)
    /// A signature of the chain does not fit.
    case badSignature(subject: String)
    /// An issuer of the chain may not issue.
    case notAnAuthority(subject: String)
    /// The chain is longer than one of its issuers allows.
    case pathTooLong(subject: String)
    /// A name lies outside what an issuer may issue for.
    case nameNotPermitted(subject: String)
    /// The leaf is not for servers, or not for clients where those are asked about.
    case wrongUsage(subject: String)
    /// A key is shorter than what is taken.
    case weakKey(subject: String, bits: Int)
    /// A signature is made with an algorithm that is no longer taken.
    case weakSignature(subject: String, algorithm: String)
    /// A critical extension that nobody here understands.
    case unknownCriticalExtension(subject: String)
    /// The issuer has revoked it.
    case revoked(subject: String, at: UnixTime?, reason: String?)
    /// Nobody gave the definite answer about revocation that was required.
    case revocationUnknown(subject: String, RevocationProblem)
    /// The certificate demands a stapled answer (RFC 7633), and none came.
    case stapleMissing(subject: String)
    /// None of the chain's certificates is pinned.
    case certificateNotPinned(expected: [String], found: [String])
    /// None of the chain's keys is pinned.
    case keyNotPinned(expected: [String], found: [String])
    /// There is nothing to compare with.
    case noPins
    /// The caller's own evaluation said no.
    case refused(String)
    /// Another verdict of OpenSSL's path validation, by its number and words.
    case invalidChain(subject: String, code: Int, reason: String)
}
