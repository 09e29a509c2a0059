// SPDX-License-Identifier: MIT

import LupineTLS

/// The connections that may carry requests to other origins than the one they were opened for, by the address of their peer
/// (connection reuse, RFC 9113 §9.1.1).
///
/// A connection qualifies if it speaks HTTP/2 over TLS without a proxy, and if no client certificate was sent. The peer's
/// certificate must have passed the default evaluation, without an evaluator of the program. The peer is then authenticated for
/// every name in its certificate. Another origin may use the connection if it has the same TLS profile and the same local
/// binding, and if its name resolves to the same address. If the profile leaves decisions to the exchange's `PeerVerifier`, the
/// verifier must also be certain to leave this one to the profile's evaluator (`PeerVerifier.acceptsByDefault`).
struct CoalescibleConnections: Sendable {
    /// A connection that qualifies, with its origin and the evidence of its TLS handshake.
    struct Candidate: Sendable {
        let id: ConnectionID
        fileprivate let origin: Origin
        fileprivate let evidence: PeerEvidence

        /// Returns whether the peer's certificate is valid for the other origin's name. Checks every name in the certificate.
        func covers(_ other: Origin) -> Bool { evidence.isStandard(forHost: other.host) }
    }

    private var candidates: [SocketAddress: [Candidate]] = [:]
    /// The peer's address of each candidate.
    private var addresses: [ConnectionID: SocketAddress] = [:]

    /// Adds a connection that has been opened for `origin`, if it qualifies.
    mutating func insert(_ id: ConnectionID, to origin: Origin, over route: ConnectionRoute) {
        guard origin.mayCoalesce, let address = route.remoteAddress, let evidence = route.evidence,
            let details = route.tls, details.profile == origin.tls, !details.isBoundToExchange,
            evidence.acceptance == .standard
        else { return }
        // The peer knows this client by its certificate, and would take requests to another origin as that client's.
        if case .certificate = evidence.identity { return }
        addresses[id] = address
        candidates[address, default: []].append(Candidate(id: id, origin: origin, evidence: evidence))
    }

    /// Removes a connection that has ended.
    mutating func remove(_ id: ConnectionID) {
        guard let address = addresses.removeValue(forKey: id) else { return }
        candidates[address]?.removeAll { $0.id == id }
        if candidates[address]?.isEmpty == true { candidates[address] = nil }
    }

    /// Returns the connections to these addresses that were opened for another host than `origin`, with the same TLS profile and
    /// local binding.
    func candidates(for origin: Origin, at addresses: [SocketAddress]) -> [Candidate] {
        if candidates.isEmpty { return [] }
        return addresses.flatMap { candidates[$0] ?? [] }.filter { candidate in
            candidate.origin.tls == origin.tls && candidate.origin.localBinding == origin.localBinding
                && candidate.origin.host != origin.host
        }
    }
}

extension Origin {
    /// Whether the origin's requests may use connections to other origins, and other origins' requests its connections. That
    /// requires the default evaluation of the peer, no evaluator of the program, and no client certificate.
    var mayCoalesce: Bool {
        guard scheme == .https, proxy == nil, unixPath == nil, let tls else { return false }
        return tls.trust.includesDefault && !tls.trust.asksProgram && tls.configuration.identity == nil
            && tls.identitySource == nil
    }
}
