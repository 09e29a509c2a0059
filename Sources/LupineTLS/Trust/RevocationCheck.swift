// SPDX-License-Identifier: MIT

/// Checks the revocation of every certificate of a path except the anchor (I-10.11).
///
/// Stapled and supplied answers are used first; then, as the options allow, cached ones and the network. A signed "revoked"
/// always fails the check. Without a definite answer the path passes, unless a positive one is required.
package struct RevocationCheck: Sendable, Hashable {
    /// The most URLs of a certificate that are queried.
    static let urlLimit = 3

    /// The allowed methods and requirements.
    package let options: RevocationOptions
    /// Lists that the caller has supplied.
    package let lists: [RevocationList]

    init(_ options: RevocationOptions, lists: [RevocationList] = []) {
        self.options = options
        self.lists = lists
    }

    /// Whether the check may wait for the network.
    package var reachesNetwork: Bool {
        !options.contains(.networkAccessDisabled) && !options.isDisjoint(with: .any)
    }

    /// Returns the failure of the path, including revocation; nil if there is none. The path also has to end at an anchor, and be
    /// within its validity (I-10.10).
    func failure(
        of trust: PeerTrust, on path: TrustPath, at time: UnixTime, access: RevocationAccess
    ) -> TrustFailure? {
        let chainFailure = path.failure(asServer: false, at: time)
        if let chainFailure, chainFailure.severity < TrustFailure.severityOfExpiry { return chainFailure }
        // A path that is refused anyway does not justify a network query.
        let allowed = reachesNetwork && chainFailure == nil ? access : .cached(access.cache)
        let lookup = RevocationLookup(options: options, lists: lists, access: allowed, time: time)
        var unknown: TrustFailure?
        for (depth, (certificate, issuer)) in zip(path.built, path.built.dropFirst()).enumerated() {
            let staple = depth == 0 ? trust.stapledResponse : nil
            switch lookup.status(of: certificate, issuer: issuer, staple: staple) {
            case .success(.good): continue
            case .success(.revoked(let date, let reason)):
                return .revoked(subject: certificate.subject.description, at: date, reason: reason)
            case .failure(let problem):
                unknown = unknown ?? .revocationUnknown(subject: certificate.subject.description, problem)
            }
        }
        return chainFailure ?? (options.contains(.requirePositiveResponse) ? unknown : nil)
    }

    /// The time until which the stapled response is valid if the leaf requires one (RFC 7633): `time` itself if there is no valid
    /// response, and nil if the leaf requires none, or its issuer is unknown.
    static func stapleEnd(of trust: PeerTrust, on path: TrustPath, at time: UnixTime) -> UnixTime? {
        guard path.built.count > 1, let leaf = path.built.first, leaf.mustStaple else { return nil }
        let answer = try? trust.stapledResponse.map { staple throws(RevocationProblem) in
            try OCSPAnswer(staple, about: leaf, issuer: path.built[1], at: time)
        }
        return answer?.until ?? time
    }

    /// Returns the failure because of the stapled response or its absence. Unless the leaf requires one (RFC 7633), only a signed
    /// "revoked" counts.
    static func stapleFailure(of trust: PeerTrust, on path: TrustPath, at time: UnixTime) -> TrustFailure? {
        guard path.built.count > 1, let leaf = path.built.first else { return nil }
        guard let staple = trust.stapledResponse else {
            return leaf.mustStaple ? .stapleMissing(subject: leaf.subject.description) : nil
        }
        do throws(RevocationProblem) {
            switch try OCSPAnswer(staple, about: leaf, issuer: path.built[1], at: time).status {
            case .good: return nil
            case .revoked(let date, let reason):
                return .revoked(subject: leaf.subject.description, at: date, reason: reason)
            }
        } catch {
            return leaf.mustStaple ? .revocationUnknown(subject: leaf.subject.description, error) : nil
        }
    }
}
