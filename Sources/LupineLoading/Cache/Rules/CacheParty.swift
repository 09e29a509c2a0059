// SPDX-License-Identifier: MIT

internal import LupineTLS

/// The partition of an entry among those of one address: who can receive it at all.
///
/// The default partition holds the entries received without a client certificate over a connection that passed the default
/// evaluation, over plain HTTP, or from the program. It is represented by nil.
struct CacheParty: Hashable, Sendable {
    /// How the server's trust was established.
    enum Standing: Hashable, Sendable {
        /// The server's chain passed the default evaluation.
        case proven
        /// The server was accepted by another evaluator.
        case unproven
        /// The server was accepted by delegates or an evaluator that exist only in this process.
        case judged(TrustJudge)
    }

    /// The digest of the client certificate that was shown.
    let client: SHA256Digest?
    let standing: Standing

    /// Returns nil for the default partition.
    init?(client: SHA256Digest?, standing: Standing) {
        if client == nil, standing == .proven { return nil }
        self.client = client
        self.standing = standing
    }
}
