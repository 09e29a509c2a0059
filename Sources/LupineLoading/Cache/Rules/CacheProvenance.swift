// SPDX-License-Identifier: MIT

internal import LupineTLS

/// The connection or program that a stored response came from, which decides who may receive it. Immutable.
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
        /// The client certificate that was sent, or whether the server has asked for one.
        var identity: PeerEvidence.ClientIdentity
        /// The name of the roots under which the server's chain has passed the default evaluation; nil if it has not.
        var roots: String?
        /// The SHA-256 digests of the keys in that chain.
        var keys: Set<SHA256Digest>
        /// The delegates or evaluator that have accepted the server; nil for the default policy and for entries read from disk.
        var judge: TrustJudge?
        /// Whether the policy that has accepted the server checks the chain.
        var wasChecked: Bool
    }

    let source: Source

    init(_ source: Source) { self.source = source }

    static let program = CacheProvenance(.program)
    static let plain = CacheProvenance(.plain(route: nil))

    static func == (left: CacheProvenance, right: CacheProvenance) -> Bool {
        left === right || left.source == right.source
    }
    func hash(into hasher: inout Hasher) { hasher.combine(source) }

    /// The partition of the entry; nil for the default one.
    var party: CacheParty? {
        guard case .secure(let connection) = source else { return nil }
        let standing: CacheParty.Standing =
            connection.roots != nil ? .proven : connection.judge.map { .judged($0) } ?? .unproven
        return CacheParty(client: connection.client, standing: standing)
    }

    /// Whether the entry may be written to disk; false if the chain was not checked, or if only this process could use the entry.
    var mayBeWritten: Bool {
        switch source {
        case .program: return true
        case .plain(let route): return route?.user == nil
        case .secure(let connection):
            return connection.wasChecked && (connection.roots != nil || connection.judge == nil)
        }
    }

    /// Returns the provenance of an entry after a 304 of another provenance: the restrictions of both apply. Returns nil if the
    /// two are for different users; then the entry must not be stored.
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

    fileprivate func joined(by other: Self) -> Self? {
        guard judge == other.judge, let identity = Self.joined(identity, other.identity) else { return nil }
        return Self(
            identity: identity, roots: roots == other.roots ? roots : nil,
            keys: keys.intersection(other.keys), judge: judge, wasChecked: wasChecked && other.wasChecked)
    }

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
