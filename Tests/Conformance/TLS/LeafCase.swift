// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTestKit
import Testing

/// A certificate of the test PKI, as a server presents it, and the expected verdict of each evaluator.
struct LeafCase: Sendable, CustomTestStringConvertible {
    /// The result of an evaluation.
    enum Verdict: Hashable, Sendable {
        case accepted
        /// Refused for this reason.
        case refused(Reason)
        /// The handshake fails before the evaluation.
        case noHandshake
    }

    /// The case of `TrustFailure`, without its evidence.
    enum Reason: Hashable, Sendable {
        case noCertificate, hostMismatch, expired, notYetValid, issuerMissing, untrustedRoot, selfSigned
        case badSignature, notAnAuthority, pathTooLong, nameNotPermitted, wrongUsage, weakKey, weakSignature
        case unknownCriticalExtension, revoked, revocationUnknown, stapleMissing, certificateNotPinned
        case keyNotPinned, noPins, refused, invalidChain, rootsUnusable
    }

    /// The file's name in the PKI.
    let name: String
    /// The host of the request.
    let host: String
    /// The verdict by chain and host, with the PKI's root trusted.
    let standard: Verdict
    /// The same without a check of the host.
    let anyHost: Verdict
    /// The OCSP response that the server staples.
    var staple: String?
    /// The key usage of a CA certificate does not allow signing handshakes: before TLS 1.3 OpenSSL finds no cipher for it.
    var isOnlyAuthority = false

    var testDescription: String { staple.map { "\(name), stapling \($0)" } ?? name }

    /// Whether the handshake reaches the evaluation with this version.
    func hasHandshake(_ version: TLSVersion) -> Bool {
        standard != .noHandshake && !(isOnlyAuthority && version < .v1_3)
    }

    /// Returns a case that is accepted.
    private static func good(_ name: String, for host: String, staple: String? = nil) -> LeafCase {
        LeafCase(name: name, host: host, standard: .accepted, anyHost: .accepted, staple: staple)
    }

    /// Returns a case that is valid, but for another host.
    private static func misnamed(_ name: String, for host: String = "localhost") -> LeafCase {
        LeafCase(name: name, host: host, standard: .refused(.hostMismatch), anyHost: .accepted)
    }

    /// Returns a case that is refused for any host.
    private static func bad(_ name: String, _ reason: Reason, for host: String = "localhost") -> LeafCase {
        LeafCase(name: name, host: host, standard: .refused(reason), anyHost: .refused(reason))
    }

    /// Returns a case without a handshake.
    private static func mute(_ name: String) -> LeafCase {
        LeafCase(name: name, host: "localhost", standard: .noHandshake, anyHost: .noHandshake)
    }

    static let all: [LeafCase] = [
        .good("good", for: "good.test"),
        .good("rsa", for: "rsa.test"),
        .good("ecdsa", for: "ecdsa.test"),
        .good("ed25519", for: "ed25519.test"),
        .good("deep", for: "deep.test"),
        .good("renewed", for: "good.test"),
        .good("renewed-other-key", for: "good.test"),
        .good("first", for: "first.test"),
        .good("idna", for: "xn--bcher-kva.test"),
        .good("wildcard", for: "any.wild.test"),
        .good("ip-san", for: "127.0.0.1"),
        .good("constrained-inside", for: "inside.allowed.test"),
        .good("good-ocsp", for: "localhost"),
        .good("revoked-issuer", for: "localhost"),
        .good("must-staple", for: "localhost", staple: "must-staple"),
        .misnamed("wildcard-wide", for: "any.test"),
        .misnamed("wildcard", for: "deep.any.wild.test"),
        .misnamed("wrong-host"),
        .misnamed("no-san"),
        .misnamed("uri-san"),
        .bad("expired", .expired),
        .bad("not-yet-valid", .notYetValid),
        .bad("expired-issuer", .expired),
        .bad("self-signed", .selfSigned),
        LeafCase(
            name: "self-signed-ca", host: "localhost", standard: .refused(.selfSigned),
            anyHost: .refused(.selfSigned), isOnlyAuthority: true),
        .bad("untrusted", .issuerMissing),
        .bad("impostor", .issuerMissing),
        .bad("bad-signature", .badSignature),
        .bad("weak-key", .weakKey),
        .bad("sha1", .weakSignature),
        .bad("constrained-outside", .nameNotPermitted, for: "outside.test"),
        .bad("wrong-usage", .wrongUsage),
        .bad("no-ca", .notAnAuthority),
        .bad("path-length", .pathTooLong),
        .bad("critical", .unknownCriticalExtension),
        .bad("must-staple", .stapleMissing),
        LeafCase(
            name: "must-staple", host: "localhost", standard: .refused(.revoked), anyHost: .refused(.revoked),
            staple: "must-staple-revoked"),
        // Curves that no client offers: the handshake fails before the evaluation.
        .mute("weak-curve"),
        .mute("weak-curve-224"),
    ]
}

extension TrustFailure {
    /// The case without its evidence.
    var caseName: LeafCase.Reason {
        switch self {
        case .noCertificate: .noCertificate
        case .hostMismatch: .hostMismatch
        case .expired: .expired
        case .notYetValid: .notYetValid
        case .issuerMissing: .issuerMissing
        case .untrustedRoot: .untrustedRoot
        case .selfSigned: .selfSigned
        case .badSignature: .badSignature
        case .notAnAuthority: .notAnAuthority
        case .pathTooLong: .pathTooLong
        case .nameNotPermitted: .nameNotPermitted
        case .wrongUsage: .wrongUsage
        case .weakKey: .weakKey
        case .weakSignature: .weakSignature
        case .unknownCriticalExtension: .unknownCriticalExtension
        case .revoked: .revoked
        case .revocationUnknown: .revocationUnknown
        case .stapleMissing: .stapleMissing
        case .certificateNotPinned: .certificateNotPinned
        case .keyNotPinned: .keyNotPinned
        case .noPins: .noPins
        case .refused: .refused
        case .invalidChain: .invalidChain
        case .rootsUnusable: .rootsUnusable
        }
    }
}
