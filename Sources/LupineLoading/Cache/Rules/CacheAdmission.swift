// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Decides who may receive a stored entry (U-12.2), by comparing the entry's provenance with the requester's policy. Pure.
enum CacheAdmission {
    /// Whether a requester may receive an entry of this provenance.
    ///
    /// The requester may if its own connection could have received the same response: from a server that it trusts, with the
    /// client certificate that it would send, over the same route.
    static func admits(_ requester: CacheRequester, to provenance: CacheProvenance) -> Bool {
        switch provenance.source {
        case .program: true
        case .plain(let route): route == requester.route
        case .secure(let connection):
            mayShare(connection.identity, requester.client) && trusts(requester.policy, connection)
        }
    }

    /// Returns the partitions that may have an entry for a requester, the most likely first. An entry whose chain has passed the
    /// default evaluation is in a `proven` partition, whoever else has accepted the server.
    static func parties(of requester: CacheRequester) -> [CacheParty?] {
        if case .standard = requester.policy, requester.client == nil { return defaultOnly }
        let standings: [CacheParty.Standing] =
            switch requester.policy {
            case .standard, .pins(_, roots: .some): [.proven]
            case .pins(_, roots: nil): [.proven, .unproven]
            case .judge(let judge): [.judged(judge), .proven]
            }
        let withoutClient = standings.map { CacheParty(client: nil, standing: $0) }
        guard let client = requester.client else { return withoutClient }
        return standings.map { CacheParty(client: client, standing: $0) } + withoutClient
    }

    private static let defaultOnly: [CacheParty?] = [nil]

    /// Whether a response to a client with this identity may be used for a requester with the certificate `client`. A server that
    /// asks for a client certificate may answer each client differently; a server that does not ask answers all alike.
    private static func mayShare(_ identity: PeerEvidence.ClientIdentity, _ client: SHA256Digest?) -> Bool {
        switch identity {
        case .notAsked: true
        case .noCertificate: client == nil
        case .certificate(let digest): digest == client
        }
    }

    /// Whether the policy accepts the server of the connection.
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
