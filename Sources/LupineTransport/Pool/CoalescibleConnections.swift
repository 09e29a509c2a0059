// SPDX-License-Identifier: MIT

import LupineTLS

/// The connections that may carry requests to other origins than the one they were opened for (RFC 9113 §9.1.1), by the
/// address of their peer.
///
/// A connection may carry them if it speaks HTTP/2 over TLS straight to its peer, whose certificate has passed the default
/// evaluation with no part of the program's in it, and which has seen no certificate of ours: then nothing but the name tells
/// one origin of the same trust from another. What an origin asks for besides is the same TLS profile, the same way out of
/// the machine, an address that its own name has too, and a certificate for its name; and, where its profile asks somebody about
/// peers, that they are certain to leave this one to the default (`PeerVerifier.acceptsByDefault`).
struct CoalescibleConnections: Sendable {
    /// A connection, and what its handshake has shown.
    struct Candidate: Sendable {
        let id: ConnectionID
        fileprivate let origin: Origin
        fileprivate let evidence: PeerEvidence

        /// Whether its certificate is for the other origin's name. Looks at every name of the certificate.
        func covers(_ other: Origin) -> Bool { evidence.isStandard(forHost: other.host) }
    }

    private var candidates: [SocketAddress: [Candidate]] = [:]
    private var addresses: [ConnectionID: SocketAddress] = [:]

    /// Takes down a connection that has been opened for `origin`, if it is such a one.
    mutating func insert(_ id: ConnectionID, to origin: Origin, over route: Carrier.Route) {
        guard origin.mayCoalesce, let address = route.remoteAddress, let evidence = route.evidence,
            let details = route.tls, details.profile == origin.tls, !details.isPersonal,
            evidence.acceptance == .standard
        else { return }
        if case .certificate = evidence.identity { return }
        addresses[id] = address
        candidates[address, default: []].append(Candidate(id: id, origin: origin, evidence: evidence))
    }

    /// Forgets a connection that has ended.
    mutating func remove(_ id: ConnectionID) {
        guard let address = addresses.removeValue(forKey: id) else { return }
        candidates[address]?.removeAll { $0.id == id }
        if candidates[address]?.isEmpty == true { candidates[address] = nil }
    }

    /// The connections to these addresses that differ from those of `origin` by the name they were opened for alone.
    func candidates(for origin: Origin, at addresses: [SocketAddress]) -> [Candidate] {
        if candidates.isEmpty { return [] }
        return addresses.flatMap { candidates[$0] ?? [] }.filter { candidate in
            candidate.origin.tls == origin.tls && candidate.origin.localBinding == origin.localBinding
                && candidate.origin.host != origin.host
        }
    }
}

extension Origin {
    /// Whether its requests may travel over connections to other origins, and theirs over its: the default evaluation is part
    /// of how its peer is judged, no evaluator of the program's is, and there is no identity to show.
    var mayCoalesce: Bool {
        guard scheme == .https, proxy == nil, unixPath == nil, let tls else { return false }
        return tls.trust.includesDefault && !tls.trust.asksProgram && tls.configuration.identity == nil
            && tls.identitySource == nil
    }
}
