// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// The input of the trust tests: the fixtures' chains under the fixtures' roots, at a fixed time.
enum TrustFixture {
    /// 2026-11-21, within the validity of all valid fixtures.
    static let now = UnixTime(seconds: 1_795_219_200)
    /// 2024-01-01, when the validity of the fixtures' revocation answers begins.
    static let answersBegin = UnixTime(seconds: 1_704_067_200)

    /// Returns the certificates of a PEM file.
    static func certificates(_ file: String) throws -> [Certificate] {
        try Certificate.bundle(file: PKI.path(file + ".pem"))
    }

    /// Returns the first certificate of a PEM file.
    static func certificate(_ name: String) throws -> Certificate {
        try #require(try certificates(name).first)
    }

    /// Returns the trust of a server that presents the leaf with its chain.
    static func trust(
        _ leaf: String, host: String = "localhost", staple: String? = nil, roots: [String] = ["root"]
    ) throws -> PeerTrust {
        PeerTrust(
            certificates: try certificates(leaf + "-chain"),
            stapledResponse: try staple.map { try PKI.bytes("ocsp/\($0).der") }, host: host,
            store: TrustStore(anchors: try roots.map { try certificate($0) }))
    }

    /// Returns a pin of the certificate's key.
    static func pin(_ name: String) throws -> PublicKeyPin {
        try #require(try certificate(name).publicKey?.pin)
    }
}

/// Returns a verdict as text, for tables: "accepted", or the case of the failure and the common name of its subject.
func verdict<Success>(_ result: Result<Success, TrustFailure>) -> String {
    switch result {
    case .success: "accepted"
    case .failure(let failure): summary(failure)
    }
}

/// Returns the case of a failure with its main associated values.
func summary(_ failure: TrustFailure) -> String {
    switch failure {
    case .noCertificate: "noCertificate"
    case .hostMismatch(let host, _): "hostMismatch \(host)"
    case .expired(let subject, let since): "expired \(commonName(subject)) \(since.seconds)"
    case .notYetValid(let subject, let until): "notYetValid \(commonName(subject)) \(until.seconds)"
    case .rootsUnusable(let error): "rootsUnusable \(error)"
    case .issuerMissing(let subject, let issuer):
        "issuerMissing \(commonName(subject)) of \(commonName(issuer))"
    case .untrustedRoot(let subject): "untrustedRoot \(commonName(subject))"
    case .selfSigned(let subject): "selfSigned \(commonName(subject))"
    case .badSignature(let subject): "badSignature \(commonName(subject))"
    case .notAnAuthority(let subject): "notAnAuthority \(commonName(subject))"
    case .pathTooLong(let subject): "pathTooLong \(commonName(subject))"
    case .nameNotPermitted(let subject): "nameNotPermitted \(commonName(subject))"
    case .wrongUsage(let subject): "wrongUsage \(commonName(subject))"
    case .weakKey(let subject, let bits): "weakKey \(commonName(subject)) \(bits)"
    case .weakSignature(let subject, let algorithm): "weakSignature \(commonName(subject)) \(algorithm)"
    case .unknownCriticalExtension(let subject): "unknownCriticalExtension \(commonName(subject))"
    case .revoked(let subject, let date, let reason):
        "revoked \(commonName(subject)) \(date?.seconds ?? -1) \(reason ?? "-")"
    case .revocationUnknown(let subject, let problem):
        "revocationUnknown \(commonName(subject)) \(problem.caseName)"
    case .stapleMissing(let subject): "stapleMissing \(commonName(subject))"
    case .certificateNotPinned: "certificateNotPinned"
    case .keyNotPinned: "keyNotPinned"
    case .noPins: "noPins"
    case .refused(let reason): "refused \(reason)"
    case .invalidChain(let subject, let code, _): "invalidChain \(commonName(subject)) \(code)"
    }
}

/// Returns the value after `CN=` in a distinguished name of either notation, without the fixtures' common prefix.
func commonName(_ subject: String) -> String {
    guard let range = subject.range(of: "CN=") else { return subject }
    let name = subject[range.upperBound...].prefix { $0 != "," && $0 != "/" }
    return name.hasPrefix("Lupine ") ? String(name.dropFirst(7)) : String(name)
}

extension String {
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
