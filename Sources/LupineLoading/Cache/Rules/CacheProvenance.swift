// SPDX-License-Identifier: MIT

internal import LupineTLS

/// The origin of a stored response, as far as it decides who may receive it. Immutable.
final class CacheProvenance: Hashable, Sendable {
    /// The source of the response.
    enum Source: Hashable, Sendable {
        /// The program: it stored the response, or a `URLProtocol` of its own produced it.
        case program
        /// A connection without TLS. The route is nil for a direct one.
        case plain(route: CacheRoute?)
        case secure(Connection)
    }

    /// A connection with TLS.
    struct Connection: Hashable, Sendable {
        /// What the server learnt about the client's identity.
        var identity: PeerEvidence.ClientIdentity
        /// The roots under which the server's chain passes the default evaluation; nil if it does not.
        var roots: String?
        /// The SHA-256 digests of the keys in that chain.
        var keys: Set<SHA256Digest>
        /// The delegates or evaluator that accepted the server; nil for the default policy and for entries read from disk.
        var judge: TrustJudge?
        /// Whether the accepting policy has checked the chain.
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

    /// Whether the entry may be written to disk: not if the connection was unchecked, and not if only this process could use the
    /// entry.
    var mayBeWritten: Bool {
        switch source {
        case .program: return true
        case .plain(let route): return route?.user == nil
        case .secure(let connection):
            return connection.wasChecked && (connection.roots != nil || connection.judge == nil)
        }
    }

    /// Returns the provenance of an entry that a 304 of another provenance has updated: what holds for both the content and the
    /// fields. Returns nil if the two are not for the same users; then nothing may be stored.
    func joined(by update: CacheProvenance) -> CacheProvenance? {
        switch (source, update.source) {
        case (.program, _): return update
        case (.plain, .program): return self
        case (.plain(let route), .plain(let other)): return route == other ? self : nil
        case (.secure(let own), .secure(let other)): return own.joined(by: other).map { Self(.secure($0)) }
        case (.plain, .secure), (.secure, .plain), (.secure, .program): return nil
        }
    }
}

extension CacheProvenance.Connection {
    /// The digest of the client certificate that was shown.
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
        _ own: PeerEvidence.ClientIdentity, _ other: PeerEvidence.ClientIdentity
    ) -> PeerEvidence.ClientIdentity? {
        switch (own, other) {
        case (.notAsked, _): other
        case (_, .notAsked): own
        default: own == other ? own : nil
        }
    }
}
