// SPDX-License-Identifier: MIT

internal import LupineTLS

/// The partition of an entry: entries of one address for different clients and policies are stored separately.
///
/// The default partition, which is represented by nil, has the entries that were received without a client certificate over a
/// connection that has passed the default evaluation, over plain HTTP, or from the program.
struct CacheParty: Hashable, Sendable {
    /// How the trust in the server was established.
    enum Standing: Hashable, Sendable {
        /// The server's chain has passed the default evaluation, whoever else has accepted the server.
        case proven
        /// The chain has not passed the default evaluation, but has the keys that the session pins; these are stored with the
        /// entry.
        case unproven
        /// The chain has not passed the default evaluation, but this judge has accepted the server. It exists only in this
        /// process.
        case judged(TrustJudge)
    }

    /// The digest of the client certificate that was sent; nil for none.
    let client: SHA256Digest?
    let standing: Standing

    /// Returns nil for the default partition.
    init?(client: SHA256Digest?, standing: Standing) {
        if client == nil, standing == .proven { return nil }
        self.client = client
        self.standing = standing
    }
}
