// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Where a stored response came from: the program, or a connection with its route, server and client. Decides who may receive the
/// response. Immutable.
final class CacheProvenance: Hashable, Sendable {
    /// The source of the response.
    enum Source: Hashable, Sendable {
        /// The program, which has stored the response, or whose `URLProtocol` has produced it.
        case program
        /// A connection without TLS. The route is nil for a direct one.
        case plain(route: CacheRoute?)
        /// A connection with TLS.
        case secure(Connection)
    }

    /// A connection with TLS.
    struct Connection: Hashable, Sendable {
        /// How the client identified itself: by which certificate, by none, or not at all because the server did not ask.
        var identity: PeerEvidence.ClientIdentity
        /// The name of the root certificates under which the server's certificate chain has passed the default evaluation; nil if
        /// it has not.
        var roots: String?
        /// The SHA-256 digests of the public keys in the server's chain.
        var keys: Set<SHA256Digest>
        /// The delegates or the evaluator that have accepted the server; nil for the default policy, and for entries read from
        /// disk.
        var judge: TrustJudge?
        /// Whether the policy that has accepted the server checks certificate chains.
        var isChainChecked: Bool
    }

    let source: Source

    init(_ source: Source) { self.source = source }

    /// The provenance of all responses of the program.
    static let program = CacheProvenance(.program)
    /// The provenance of all responses over direct connections without TLS.
    static let plain = CacheProvenance(.plain(route: nil))

    static func == (left: CacheProvenance, right: CacheProvenance) -> Bool {
        left === right || left.source == right.source
    }
    func hash(into hasher: inout Hasher) { hasher.combine(source) }

    /// The partition of the entry; nil for the default one.
    var partition: CachePartition? {
        guard case .secure(let connection) = source else { return nil }
        let trustBasis: CachePartition.TrustBasis =
            connection.roots != nil ? .defaultEvaluation : connection.judge.map { .judge($0) } ?? .pinnedKeys
        return CachePartition(client: connection.client, trustBasis: trustBasis)
    }

    /// Whether the entry may be written to disk. False if the server's chain was not checked. Also false if only this process
    /// could use the entry: it depends on proxy credentials, or on a judge.
    var mayBeWritten: Bool {
        switch source {
        case .program: return true
        case .plain(let route): return route?.credentials == nil
        case .secure(let connection):
            return connection.isChainChecked && (connection.roots != nil || connection.judge == nil)
        }
    }

    /// Returns the provenance of an entry that a 304 of another provenance has updated: the restrictions of both provenances
    /// apply. Returns nil if no requester could receive both responses; the entry must then not be stored.
    func joined(by update: CacheProvenance) -> CacheProvenance? {
        switch (source, update.source) {
        case (.program, _): return update
        case (.plain, .program): return self
        case (.plain(let route), .plain(let other)): return route == other ? self : nil
        case (.secure(let stored), .secure(let other)):
            return stored.joined(by: other).map { Self(.secure($0)) }
        case (.plain, .secure), (.secure, .plain), (.secure, .program): return nil
        }
    }
}

extension CacheProvenance.Connection {
    /// The digest of the client certificate that was sent; nil for none.
    var client: SHA256Digest? {
        if case .certificate(let digest) = identity { return digest }
        return nil
    }

    /// Returns a connection with the restrictions of the two connections; nil if no requester could use both.
    fileprivate func joined(by other: Self) -> Self? {
        guard judge == other.judge, let identity = Self.joined(identity, other.identity) else { return nil }
        return Self(
            identity: identity, roots: roots == other.roots ? roots : nil,
            keys: keys.intersection(other.keys), judge: judge,
            isChainChecked: isChainChecked && other.isChainChecked)
    }

    /// Returns the stricter of two identities; nil if they are of different clients.
    private static func joined(
        _ stored: PeerEvidence.ClientIdentity, _ other: PeerEvidence.ClientIdentity
    ) -> PeerEvidence.ClientIdentity? {
        switch (stored, other) {
        case (.notAsked, _): other
        case (_, .notAsked): stored
        default: stored == other ? stored : nil
        }
    }
}
