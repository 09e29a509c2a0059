// SPDX-License-Identifier: MIT

internal import LupineTLS

/// Where a stored answer came from, as far as it decides who may have it. Immutable.
final class CacheProvenance: Hashable, Sendable {
    /// What brought it.
    enum Source: Hashable, Sendable {
        /// The program: it stored the answer, or a protocol of its gave it.
        case program
        /// A connection without TLS. The way is nil for the plain one.
        case plain(way: CacheWay?)
        case secure(Connection)
    }

    /// A connection with TLS.
    struct Connection: Hashable, Sendable {
        /// What the server has learnt about the client.
        var identity: PeerEvidence.ClientIdentity
        /// The roots under which the server's chain passes the default evaluation; nil where it does not.
        var roots: String?
        /// The SHA-256 of the keys in that chain.
        var keys: Set<SHA256Digest>
        /// Under whom it was accepted; nil for the default policy, and for what was read from a disk.
        var judge: TrustJudge?
        /// Whether the chain has passed a check of whoever accepted it.
        var wasChecked: Bool
    }

    let source: Source

    init(_ source: Source) { self.source = source }

    static let program = CacheProvenance(.program)
    static let plain = CacheProvenance(.plain(way: nil))

    static func == (left: CacheProvenance, right: CacheProvenance) -> Bool {
        left === right || left.source == right.source
    }
    func hash(into hasher: inout Hasher) { hasher.combine(source) }

    /// Which of the entries of its address it is; nil for the plain one.
    var party: CacheParty? {
        guard case .secure(let connection) = source else { return nil }
        let standing: CacheParty.Standing =
            connection.roots != nil ? .proven : connection.judge.map { .judged($0) } ?? .unproven
        return CacheParty(client: connection.client, standing: standing)
    }

    /// Whether it may be on the disk: what nobody has checked may not, and what only this process could ask for need not.
    var mayBeWritten: Bool {
        switch source {
        case .program: return true
        case .plain(let way): return way?.user == nil
        case .secure(let connection):
            return connection.wasChecked && (connection.roots != nil || connection.judge == nil)
        }
    }

    /// What is noted of an entry that a 304 of another provenance has updated: what holds for its content and for its fields.
    /// Nil where the two are not for the same parties; then nothing may be stored.
    func joined(by update: CacheProvenance) -> CacheProvenance? {
        switch (source, update.source) {
        case (.program, _): return update
        case (.plain, .program): return self
        case (.plain(let way), .plain(let other)): return way == other ? self : nil
        case (.secure(let own), .secure(let other)): return own.joined(by: other).map { Self(.secure($0)) }
        case (.plain, .secure), (.secure, .plain), (.secure, .program): return nil
        }
    }
}

extension CacheProvenance.Connection {
    /// The certificate that the client has shown.
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
