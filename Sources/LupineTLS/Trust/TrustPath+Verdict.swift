// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The verdict about a path: each problem that OpenSSL or Lupine finds becomes a failure, and the most serious failure counts.
extension TrustPath {
    /// Returns the most serious failure of the path under the basic policy; nil if there is none.
    ///
    /// - Parameters:
    ///   - asServer: Whether the key usage and the key strength that are required of servers count too.
    ///   - time: The time at which the certificates have to be valid.
    func failure(asServer: Bool, at time: UnixTime) -> TrustFailure? {
        guard !certificates.isEmpty else { return .noCertificate }
        if let rootsFailure { return .rootsUnusable(rootsFailure) }
        var worst: (failure: TrustFailure, depth: Int)?
        func record(_ failure: TrustFailure, depth: Int) {
            guard let current = worst else {
                worst = (failure, depth)
                return
            }
            // A smaller severity is more serious. Between equally serious failures, the one nearest to the leaf counts.
            let isWorse = (failure.severity, depth) < (current.failure.severity, current.depth)
            if isWorse { worst = (failure, depth) }
        }
        // When OpenSSL stopped because the chain is too long, a missing issuer is not a separate problem.
        let isTooLong = problems.contains { $0.code == X509_V_ERR_CERT_CHAIN_TOO_LONG }
        for problem in problems where !(isTooLong && problem.isAboutAnchoring) {
            if let failure = failure(for: problem, asServer: asServer, at: time) {
                record(failure, depth: problem.depth)
            }
        }
        for (depth, certificate) in certificates.enumerated().dropFirst() where !isAnchor(depth) {
            // OpenSSL reports no problem for some certificates older than X.509 version 3, which have no basic constraints.
            if !certificate.isAuthority {
                record(.notAnAuthority(subject: certificate.subject.description), depth: depth)
            }
        }
        if asServer { for (failure, depth) in weaknesses { record(failure, depth: depth) } }
        // OpenSSL usually has reported why the path reaches no anchor.
        if worst == nil, !isAnchored {
            return .untrustedRoot(subject: certificates.last?.subject.description ?? "")
        }
        return worst?.failure
    }

    /// All weak keys and signatures (refused by rule I-12.7), beginning with the leaf. The anchor's signature does not count.
    private var weaknesses: [(failure: TrustFailure, depth: Int)] {
        var weaknesses: [(failure: TrustFailure, depth: Int)] = []
        for (depth, certificate) in certificates.enumerated() {
            let subject = certificate.subject.description
            if let bits = certificate.weakKeyBits {
                weaknesses.append((.weakKey(subject: subject, bits: bits), depth))
            }
            if !isAnchor(depth), let algorithm = certificate.weakSignatureAlgorithm {
                weaknesses.append((.weakSignature(subject: subject, algorithm: algorithm), depth))
            }
        }
        return weaknesses
    }

    /// The time until which a valid path stays valid: the earliest expiry, except the anchor's.
    var validUntil: UnixTime {
        certificates.dropLast(isAnchored ? 1 : 0).map(\.notAfter).min() ?? UnixTime(seconds: .max)
    }

    /// Whether the certificate at this depth is the anchor.
    private func isAnchor(_ depth: Int) -> Bool { isAnchored && depth == certificates.count - 1 }

    /// Translates a problem that OpenSSL has reported. Returns nil for a problem that does not count: the purpose unless
    /// `asServer`, the dates of the anchor, and the last second of the validity.
    private func failure(for problem: Problem, asServer: Bool, at time: UnixTime) -> TrustFailure? {
        // OpenSSL determines the depth, so the index is limited to the path.
        let certificate = certificates[min(problem.depth, certificates.count - 1)]
        let subject = certificate.subject.description
        switch problem.code {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            return .issuerMissing(subject: subject, issuer: certificate.issuer.description)
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return .selfSigned(subject: subject)
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_REJECTED:
            return .untrustedRoot(subject: subject)
        case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE,
            X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY:
            return .badSignature(subject: subject)
        case X509_V_ERR_INVALID_CA, X509_V_ERR_KEYUSAGE_NO_CERTSIGN:
            return .notAnAuthority(subject: subject)
        case X509_V_ERR_PATH_LENGTH_EXCEEDED: return .pathTooLong(subject: subject)
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION,
            X509_V_ERR_SUBTREE_MINMAX, X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE,
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX, X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
            return .nameNotPermitted(subject: subject)
        case X509_V_ERR_INVALID_PURPOSE: return asServer ? .wrongUsage(subject: subject) : nil
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: return .unknownCriticalExtension(subject: subject)
        case X509_V_ERR_CERT_HAS_EXPIRED:
            // The last second is part of the validity (RFC 5280 §4.1.2.5); OpenSSL's comparison excludes it.
            guard !isAnchor(problem.depth), certificate.notAfter < time else { return nil }
            return .expired(subject: subject, since: certificate.notAfter)
        case X509_V_ERR_CERT_NOT_YET_VALID:
            return isAnchor(problem.depth)
                ? nil : .notYetValid(subject: subject, until: certificate.notBefore)
        case X509_V_ERR_UNSUPPORTED_SIGNATURE_ALGORITHM:
            return .invalidChain(
                subject: subject, code: Int(problem.code),
                reason: "the key of its issuer, or the key's exponent, is longer than what is computed with")
        case X509_V_ERR_CERT_CHAIN_TOO_LONG:
            return .invalidChain(
                subject: subject, code: Int(problem.code),
                reason:
                    "there are more than \(TrustPath.intermediateLimit) issuers between the leaf and a trusted root"
            )
        default:
            // OpenSSL returns a static string, which the caller must not free.
            let reason = unsafe X509_verify_cert_error_string(Int(problem.code)).map {
                unsafe String(cString: $0)
            }
            return .invalidChain(subject: subject, code: Int(problem.code), reason: reason ?? "unknown")
        }
    }
}

extension TrustFailure {
    /// The severity of an expired certificate. A failure with a smaller value, such as a broken chain or a revocation, makes
    /// all further checks pointless. Failures with this value or a larger one concern dates, names, revocation answers or pins.
    static let severityOfExpiry = 5

    /// The rank of the failure: of several failures, the one with the smallest value is reported. 0 is the most serious.
    var severity: Int {
        switch self {
        case .noCertificate, .noPins, .rootsUnusable: 0
        case .revoked: 1
        case .issuerMissing, .untrustedRoot, .selfSigned: 2
        case .badSignature: 3
        case .notAnAuthority, .pathTooLong, .nameNotPermitted, .wrongUsage, .weakKey, .weakSignature,
            .unknownCriticalExtension, .invalidChain:
            4
        case .expired: TrustFailure.severityOfExpiry
        case .notYetValid: 6
        case .hostMismatch: 7
        case .stapleMissing, .revocationUnknown: 8
        case .certificateNotPinned, .keyNotPinned, .refused: 9
        }
    }
}

extension TrustPath {
    /// Returns the most serious failure under this policy; nil if there is none.
    ///
    /// - Parameters:
    ///   - trust: The trust from which this path was built.
    ///   - policy: The requirements.
    ///   - time: The time at which certificates and revocation answers have to be valid.
    ///   - revocation: The access to revocation answers, for a policy about revocation.
    func failure(
        of trust: PeerTrust, under policy: TrustPolicy, at time: UnixTime, revocation: RevocationAccess
    ) -> TrustFailure? {
        switch policy {
        case .basic: return failure(asServer: false, at: time)
        case .server(let host):
            let chainFailure = failure(asServer: true, at: time)
            // Revocation answers count only if the chain is anchored and its signatures are valid.
            if let chainFailure, chainFailure.severity < TrustFailure.severityOfExpiry { return chainFailure }
            let stapleFailure = RevocationCheck.stapleFailure(of: trust, on: self, at: time)
            // A revocation is more serious than an expiry or a wrong name, and other failures of the staple are less serious.
            if case .revoked? = stapleFailure { return stapleFailure }
            return chainFailure ?? nameFailure(for: host) ?? stapleFailure
        case .client(let host):
            // A client's certificate need not be for servers, so `asServer` is false. Weak keys are checked separately below.
            let chainFailure = failure(asServer: false, at: time)
            if let chainFailure, chainFailure.severity < TrustFailure.severityOfExpiry { return chainFailure }
            // The order is that of severity. After the check above, `chainFailure` concerns only dates.
            return weakness ?? clientUsageFailure ?? chainFailure ?? nameFailure(for: host)
        case .revocation(let options):
            return RevocationCheck(options).failure(of: trust, on: self, at: time, access: revocation)
        }
    }

    /// The weak key or signature that is nearest to the leaf; nil if there is none.
    private var weakness: TrustFailure? { weaknesses.first?.failure }

    /// The failure of the first certificate whose key usage does not allow a client to present the leaf; nil if there is none.
    private var clientUsageFailure: TrustFailure? {
        for (depth, certificate) in certificates.enumerated() where !isAnchor(depth) {
            if !certificate.isUsableByClients(asAuthority: depth > 0) {
                return .wrongUsage(subject: certificate.subject.description)
            }
        }
        return nil
    }

    /// The failure of a leaf that is not valid for `host`; nil if it is valid, or if `host` is nil.
    private func nameFailure(for host: String?) -> TrustFailure? {
        guard let host, let leaf = certificates.first, !PeerIdentity.matches(host: host, certificate: leaf)
        else { return nil }
        return .hostMismatch(host: host, names: PeerIdentity.names(of: leaf))
    }
}
