// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Whose an entry is among those of one address, beside the plain ones: for whom else it can be at all.
///
/// Entries of the plain party, without a client certificate and over a connection that passed the default evaluation, have
/// none: where an optional party is asked for, nil is the plain one. A party that can be written has a name on the disk.
struct CacheParty: Hashable, Sendable {
    /// How the server stands.
    enum Standing: Hashable, Sendable {
        /// Its chain passed the default evaluation.
        case proven
        /// It was accepted under another evaluator.
        case unproven
        /// It was accepted under a judge that only this process knows.
        case judged(TrustJudge)
    }

    /// The certificate that the client has shown.
    let client: SHA256Digest?
    let standing: Standing

    /// Nil for the plain party.
    init?(client: SHA256Digest?, standing: Standing) {
        if client == nil, standing == .proven { return nil }
        self.client = client
        self.standing = standing
    }

    /// What names it in a file's name; nil for one whose entries are never written.
    var fileDigest: SHA256Digest? {
        let standing: String
        switch self.standing {
        case .proven: standing = "proven"
        case .unproven: standing = "unproven"
        case .judged: return nil
        }
        return SHA256Digest.of(Array("\(standing) \(client?.description ?? "")".utf8))
    }
}
