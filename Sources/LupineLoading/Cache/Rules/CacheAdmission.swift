// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Decides who may receive a stored entry (U-12.2), by comparing the entry's provenance with the policy of the requester, which
/// is the task that looks up the cache. The functions have no side effects.
enum CacheAdmission {
    /// Whether a requester may receive an entry of this provenance.
    ///
    /// The requester may receive the entry if its own connection could have received the same response: from a server that it
    /// trusts, with the client certificate that it would send, over the same route.
    static func admits(_ requester: CacheRequester, to provenance: CacheProvenance) -> Bool {
        switch provenance.source {
        case .program: true
        case .plain(let route): route == requester.route
        case .secure(let connection):
            mayShare(connection.identity, requester.client) && trusts(requester.policy, connection)
        }
    }

    /// Returns the partitions that may have an entry for a requester, the most likely first. The default partition is represented
    /// by nil. An entry whose chain has passed the default evaluation is in a partition with that trust basis, even if a judge
    /// has accepted the server too.
    static func partitions(of requester: CacheRequester) -> [CachePartition?] {
        if case .standard = requester.policy, requester.client == nil { return defaultPartition }
        let trustBases: [CachePartition.TrustBasis] =
            switch requester.policy {
            // The policy includes the default evaluation.
            case .standard, .pins(_, roots: .some): [.defaultEvaluation]
            case .pins(_, roots: nil): [.defaultEvaluation, .pinnedKeys]
            case .judge(let judge): [.judge(judge), .defaultEvaluation]
            }
        let withoutClient = trustBases.map { CachePartition(client: nil, trustBasis: $0) }
        guard let client = requester.client else { return withoutClient }
        return trustBases.map { CachePartition(client: client, trustBasis: $0) } + withoutClient
    }

    /// The array with only the default partition, created once because most tasks use it.
    private static let defaultPartition: [CachePartition?] = [nil]

    /// Whether a response to a client with this identity may be used for a requester whose certificate has the digest `client`;
    /// nil for no certificate. A server that asks for a client certificate may answer each client differently.
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
        case .pins(let requiredKeys, let roots):
            (roots == nil || connection.roots == roots)
                && requiredKeys.allSatisfy { !$0.isDisjoint(with: connection.keys) }
        case .judge(let judge): connection.judge == judge
        }
    }
}
