// SPDX-License-Identifier: MIT

/// Checks whether a certificate of a path is revoked; all except the anchor are checked (rule I-10.11).
///
/// The check uses the stapled response and the caller's lists first; then, as the options allow, cached answers and the network.
/// A signed "revoked" always fails the check. Without a definite answer the path passes, unless the options require a positive
/// answer.
package struct RevocationCheck: Sendable, Hashable {
    /// The most URLs of a certificate that are queried with one method, OCSP or CRL.
    static let urlLimit = 3

    /// The allowed methods and requirements.
    package let options: RevocationOptions
    /// Lists that the caller has supplied.
    package let lists: [RevocationList]

    init(_ options: RevocationOptions, lists: [RevocationList] = []) {
        self.options = options
        self.lists = lists
    }

    /// Whether the options allow queries over the network.
    package var reachesNetwork: Bool {
        !options.contains(.networkAccessDisabled) && !options.isDisjoint(with: .any)
    }

    /// Returns the failure of the path, including revocation; nil if there is none.
    ///
    /// The path also has to satisfy the basic policy: it ends at an anchor and is within its validity (rule I-10.10).
    ///
    /// - Parameters:
    ///   - trust: The trust from which the path was built, with the stapled response.
    ///   - path: The path to check.
    ///   - time: The time at which certificates and revocation answers have to be valid.
    ///   - access: The cache and the fetcher of revocation answers.
    func failure(
        of trust: PeerTrust, on path: TrustPath, at time: UnixTime, access: RevocationAccess
    ) -> TrustFailure? {
        let chainFailure = path.failure(asServer: false, at: time)
        if let chainFailure, chainFailure.severity < TrustFailure.severityOfExpiry { return chainFailure }
        // A path that is refused anyway does not justify a network query.
        let allowedAccess = reachesNetwork && chainFailure == nil ? access : .cached(access.cache)
        let lookup = RevocationLookup(options: options, lists: lists, access: allowedAccess, time: time)
        // The failure of the first certificate without a definite answer.
        var firstUnknown: TrustFailure?
        // Each certificate is followed by its issuer.
        let pairs = zip(path.certificates, path.certificates.dropFirst())
        for (depth, (certificate, issuer)) in pairs.enumerated() {
            // The stapled response is about the leaf.
            let staple = depth == 0 ? trust.stapledResponse : nil
            switch lookup.status(of: certificate, issuer: issuer, staple: staple) {
            case .success(.good): continue
            case .success(.revoked(let date, let reason)):
                return .revoked(subject: certificate.subject.description, at: date, reason: reason)
            case .failure(let problem):
                firstUnknown =
                    firstUnknown ?? .revocationUnknown(subject: certificate.subject.description, problem)
            }
        }
        return chainFailure ?? (options.contains(.requirePositiveResponse) ? firstUnknown : nil)
    }

    /// Returns the time until which the stapled response of a leaf that requires one (RFC 7633) is valid.
    ///
    /// Returns `time` itself if there is no valid response, so that the verdict cannot be reused. Returns nil if the leaf
    /// requires no response, or its issuer is unknown.
    static func stapleEnd(of trust: PeerTrust, on path: TrustPath, at time: UnixTime) -> UnixTime? {
        guard path.certificates.count > 1, let leaf = path.certificates.first, leaf.mustStaple else {
            return nil
        }
        let response = try? trust.stapledResponse.map { staple throws(RevocationProblem) in
            try OCSPResponse(staple, about: leaf, issuer: path.certificates[1], at: time)
        }
        return response?.until ?? time
    }

    /// Returns the failure that the stapled response or its absence causes; nil if there is none. If the leaf does not require a
    /// response (RFC 7633), the only failure is a signed "revoked".
    static func stapleFailure(of trust: PeerTrust, on path: TrustPath, at time: UnixTime) -> TrustFailure? {
        guard path.certificates.count > 1, let leaf = path.certificates.first else { return nil }
        guard let staple = trust.stapledResponse else {
            return leaf.mustStaple ? .stapleMissing(subject: leaf.subject.description) : nil
        }
        let issuer = path.certificates[1]
        do throws(RevocationProblem) {
            switch try OCSPResponse(staple, about: leaf, issuer: issuer, at: time).status {
            case .good: return nil
            case .revoked(let date, let reason):
                return .revoked(subject: leaf.subject.description, at: date, reason: reason)
            }
        } catch {
            return leaf.mustStaple ? .revocationUnknown(subject: leaf.subject.description, error) : nil
        }
    }
}
