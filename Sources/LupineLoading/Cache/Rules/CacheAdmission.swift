// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Decides which reader may receive a stored entry (U-12.2): the only place where an entry's provenance is checked against a
/// reader's policy. Pure.
enum CacheAdmission {
    /// Whether a reader may receive an entry of this provenance.
    ///
    /// It may if a connection of its own could have brought the same response: to a server that it trusts, with the client
    /// certificate that it would have shown, over the same route.
    static func admits(_ requester: CacheRequester, to provenance: CacheProvenance) -> Bool {
        switch provenance.source {
        case .program: true
        case .plain(let route): route == requester.route
        case .secure(let connection):
            isSame(connection.identity, requester.client) && trusts(requester.policy, connection)
        }
    }

    /// Returns the partitions that can hold an entry for a reader, the most likely first.
    static func parties(of requester: CacheRequester) -> [CacheParty?] {
        if case .standard = requester.policy, requester.client == nil { return plain }
        let standings: [CacheParty.Standing] =
            switch requester.policy {
            case .standard, .pins(_, roots: .some): [.proven]
            case .pins(_, roots: nil): [.proven, .unproven]
            case .judge(let judge): [.judged(judge), .proven]
            }
        let nobody = standings.map { CacheParty(client: nil, standing: $0) }
        guard let client = requester.client else { return nobody }
        return standings.map { CacheParty(client: client, standing: $0) } + nobody
    }

    private static let plain: [CacheParty?] = [nil]

    /// A server that asks for a client certificate may answer clients with and without one differently; one that does not ask
    /// answers all alike.
    private static func isSame(_ identity: PeerEvidence.ClientIdentity, _ client: SHA256Digest?) -> Bool {
        switch identity {
        case .notAsked: true
        case .nobody: client == nil
        case .certificate(let shown): shown == client
        }
    }

    private static func trusts(
        _ policy: CacheRequester.Policy, _ connection: CacheProvenance.Connection
    ) -> Bool {
        switch policy {
        case .standard(let roots): connection.roots == roots
        case .pins(let required, let roots):
            (roots == nil || connection.roots == roots)
                && required.allSatisfy { !$0.isDisjoint(with: connection.keys) }
        case .judge(let judge): connection.judge == judge
        }
    }
}
