// SPDX-License-Identifier: MIT

/// Whether anybody has revoked a certificate of a path (I-10.11): every certificate but the anchor is asked about.
///
/// What is stapled and what was given is looked at first; then, as the options allow, kept answers and the network. A
/// signed "revoked" is always the end. Without a definite answer the path passes, unless a positive one is required.
package struct RevocationCheck: Sendable, Hashable {
    /// How many of the places that a certificate names are tried.
    static let placeLimit = 3

    /// What is allowed and required.
    package let options: RevocationOptions
    /// Lists that the caller gave.
    package let lists: [RevocationList]

    init(_ options: RevocationOptions, lists: [RevocationList] = []) {
        self.options = options
        self.lists = lists
    }

    /// Whether it may wait for the network.
    package var reachesNetwork: Bool {
        !options.contains(.networkAccessDisabled) && !options.isDisjoint(with: .any)
    }

    /// What is wrong with the path, revocation included. It still has to be anchored and within its dates (I-10.10).
    func failure(
        of trust: PeerTrust, on path: TrustPath, at time: UnixTime, access: RevocationAccess
    ) -> TrustFailure? {
        let chainFailure = path.failure(asServer: false, at: time)
        if let chainFailure, chainFailure.severity < TrustFailure.severityOfDates { return chainFailure }
        // A path that is refused anyway is not worth a question to the network.
        let allowed = reachesNetwork && chainFailure == nil ? access : .cached(access.cache)
        let inquiry = RevocationInquiry(options: options, lists: lists, access: allowed, time: time)
        var unknown: TrustFailure?
        for (depth, (certificate, issuer)) in zip(path.built, path.built.dropFirst()).enumerated() {
            let staple = depth == 0 ? trust.stapledResponse : nil
            switch inquiry.status(of: certificate, issuer: issuer, staple: staple) {
            case .success(.good): continue
            case .success(.revoked(let date, let reason)):
                return .revoked(subject: certificate.subject.description, at: date, reason: reason)
            case .failure(let problem):
                unknown = unknown ?? .revocationUnknown(subject: certificate.subject.description, problem)
            }
        }
        return chainFailure ?? (options.contains(.requirePositiveResponse) ? unknown : nil)
    }

    /// Until when the stapled answer counts that the leaf demands; nil when it demands none.
    static func stapleEnd(of trust: PeerTrust, on path: TrustPath, at time: UnixTime) -> UnixTime? {
        guard path.built.count > 1, let leaf = path.built.first, leaf.mustStaple else { return nil }
        let answer = try? trust.stapledResponse.map { staple throws(RevocationProblem) in
            try OCSPAnswer(staple, about: leaf, issuer: path.built[1], at: time)
        }
        return answer?.until ?? time
    }

    /// What the stapled answer, or its absence, has against the leaf. Without the demand for one (RFC 7633) nothing but a
    /// signed "revoked" counts.
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
