// SPDX-License-Identifier: MIT

internal import LupineTLS

/// The partition of the cache that contains an entry. The responses of one URL to different clients, or under different trust
/// policies, are stored in different partitions.
///
/// The default partition, which is represented by nil, has the entries that the program has stored. It also has the entries that
/// were received without a client certificate, over plain HTTP or from a server that has passed the default evaluation.
struct CachePartition: Hashable, Sendable {
    /// How the trust in the server was established.
    enum TrustBasis: Hashable, Sendable {
        /// The server's certificate chain has passed the default evaluation, even if a judge has accepted the server too.
        case defaultEvaluation
        /// The chain has not passed the default evaluation, but has the keys that the session pins. The keys are stored with the
        /// entry.
        case pinnedKeys
        /// The chain has not passed the default evaluation, but this judge, the program's delegates or an evaluator, has accepted
        /// the server. The partition exists only in this process.
        case judge(TrustJudge)
    }

    /// The digest of the client certificate that was sent; nil if none was sent.
    let client: SHA256Digest?
    let trustBasis: TrustBasis

    /// Creates a partition. Returns nil for the default one.
    init?(client: SHA256Digest?, trustBasis: TrustBasis) {
        if client == nil, trustBasis == .defaultEvaluation { return nil }
        self.client = client
        self.trustBasis = trustBasis
    }
}
