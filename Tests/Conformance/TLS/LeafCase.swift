// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTestKit
import Testing

/// One certificate of the test PKI, as a server presents it, and what each evaluator has to say about it.
struct LeafCase: Sendable, CustomTestStringConvertible {
    /// What an evaluator says.
    enum Verdict: Hashable, Sendable {
        case accepted
        /// Refused for this reason.
        case refused(Reason)
        /// The handshake does not come as far as the question.
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
    /// The host that is asked for.
    let host: String
    /// By chain and host, with the PKI's root trusted.
    let standard: Verdict
    /// The same without a look at the host.
    let anyHost: Verdict
    /// The stapled answer that the server sends.
    var staple: String?
    /// An authority's key may not sign: before TLS 1.3 OpenSSL finds no cipher for it.
    var isOnlyAuthority = false

    var testDescription: String { staple.map { "\(name), stapling \($0)" } ?? name }

    /// Whether there is a handshake at all with this version.
    func hasHandshake(_ version: TLSVersion) -> Bool {
        standard != .noHandshake && !(isOnlyAuthority && version < .v1_3)
    }

    /// Fine in all respects.
    private static func good(_ name: String, for host: String, staple: String? = nil) -> LeafCase {
        LeafCase(name: name, host: host, standard: .accepted, anyHost: .accepted, staple: staple)
    }

    /// For another host, and fine otherwise.
    private static func misnamed(_ name: String, for host: String = "localhost") -> LeafCase {
        LeafCase(name: name, host: host, standard: .refused(.hostMismatch), anyHost: .accepted)
    }

    /// Refused whatever the host is.
    private static func bad(_ name: String, _ reason: Reason, for host: String = "localhost") -> LeafCase {
        LeafCase(name: name, host: host, standard: .refused(reason), anyHost: .refused(reason))
    }

    /// No handshake comes about.
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
        // Curves that no client offers: there is no handshake to ask the question in.
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
