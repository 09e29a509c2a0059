// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Who may have what is stored (U-12.2): the one place where an entry's provenance meets a reader's policy. Pure.
enum CacheAdmission {
    /// Whether a reader may have an entry of that provenance.
    ///
    /// It may when a connection of its own could have brought the same: to a server that it would have trusted, as whom it
    /// would have shown itself, on the way that it would have taken.
    static func admits(_ reader: CacheReader, to provenance: CacheProvenance) -> Bool {
        switch provenance.source {
        case .program: true
        case .plain(let way): way == reader.way
        case .secure(let connection):
            isSame(connection.identity, reader.client) && trusts(reader.policy, connection)
        }
    }

    /// The parties among whose entries one for a reader can be, the likeliest first.
    static func parties(of reader: CacheReader) -> [CacheParty?] {
        if case .standard = reader.policy, reader.client == nil { return plain }
        let standings: [CacheParty.Standing] =
            switch reader.policy {
            case .standard, .pins(_, roots: .some): [.proven]
            case .pins(_, roots: nil): [.proven, .unproven]
            case .judge(let judge): [.judged(judge), .proven]
            }
        let nobody = standings.map { CacheParty(client: nil, standing: $0) }
        guard let client = reader.client else { return nobody }
        return standings.map { CacheParty(client: client, standing: $0) } + nobody
    }

    private static let plain: [CacheParty?] = [nil]

    /// What a server says to nobody in particular is not what it says to somebody; where it does not ask, there is one answer.
    private static func isSame(_ identity: PeerEvidence.ClientIdentity, _ client: SHA256Digest?) -> Bool {
        switch identity {
        case .notAsked: true
        case .nobody: client == nil
        case .certificate(let shown): shown == client
        }
    }

    private static func trusts(
        _ policy: CacheReader.Policy, _ connection: CacheProvenance.Connection
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
