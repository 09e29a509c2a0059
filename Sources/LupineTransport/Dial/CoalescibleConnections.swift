// SPDX-License-Identifier: MIT

import LupineTLS

/// The connections that may carry requests to origins other than the one they were opened for (RFC 9113 §9.1.1), by the
/// address of their peer.
///
/// A connection qualifies if it speaks HTTP/2 over TLS directly to its peer, if the peer's certificate has passed the default
/// evaluation without an evaluator of the program, and if no client certificate was sent: then origins with the same trust
/// differ only by name. Another origin may use it if it has the same TLS profile and the same local binding, if its own name
/// resolves to the same address, and if the certificate covers its name. If its profile has a `PeerVerifier`, that must be
/// certain to accept this peer by default (`PeerVerifier.acceptsByDefault`).
struct CoalescibleConnections: Sendable {
    /// A connection, and what its handshake has shown.
    struct Candidate: Sendable {
        let id: ConnectionID
        fileprivate let origin: Origin
        fileprivate let evidence: PeerEvidence

        /// Whether its certificate covers the other origin's name. Checks every name of the certificate.
        func covers(_ other: Origin) -> Bool { evidence.isStandard(forHost: other.host) }
    }

    private var candidates: [SocketAddress: [Candidate]] = [:]
    private var addresses: [ConnectionID: SocketAddress] = [:]

    /// Adds a connection that has been opened for `origin`, if it qualifies.
    mutating func insert(_ id: ConnectionID, to origin: Origin, over route: ConnectionRoute) {
        guard origin.mayCoalesce, let address = route.remoteAddress, let evidence = route.evidence,
            let details = route.tls, details.profile == origin.tls, !details.isBoundToExchange,
            evidence.acceptance == .standard
        else { return }
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

    /// The connections to these addresses that differ from those of `origin` only in the name they were opened for.
    func candidates(for origin: Origin, at addresses: [SocketAddress]) -> [Candidate] {
        if candidates.isEmpty { return [] }
        return addresses.flatMap { candidates[$0] ?? [] }.filter { candidate in
            candidate.origin.tls == origin.tls && candidate.origin.localBinding == origin.localBinding
                && candidate.origin.host != origin.host
        }
    }
}

extension Origin {
    /// Whether its requests may use connections to other origins, and theirs its own: the default evaluation judges its peer,
    /// no evaluator of the program does, and there is no client identity.
    var mayCoalesce: Bool {
        guard scheme == .https, proxy == nil, unixPath == nil, let tls else { return false }
        return tls.trust.includesDefault && !tls.trust.asksProgram && tls.configuration.identity == nil
            && tls.identitySource == nil
    }
}
