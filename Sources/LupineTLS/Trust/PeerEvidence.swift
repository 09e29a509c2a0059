// SPDX-License-Identifier: MIT

internal import Synchronization

/// The evidence of a handshake about the identities of its client and server. A cache stores it with the data that was received
/// on the connection.
///
/// Created once per full handshake, and shared by the connections that resume its session, in which the server sends no chain.
/// The path and the default evaluation, which take time, are computed on first use and cached. May be used on any thread.
package final class PeerEvidence: Sendable {
    /// The client identity that the server has received.
    package enum ClientIdentity: Hashable, Sendable {
        /// The server requested no certificate.
        case notAsked
        /// The server requested a certificate, and none was sent.
        case noCertificate
        /// The SHA-256 of the certificate that was sent.
        case certificate(SHA256Digest)
    }

    /// How the server was accepted.
    package enum Acceptance: Hashable, Sendable {
        /// The chain passed an evaluation that includes the default one.
        case standard
        /// The chain passed another evaluation, or a delegate accepted it.
        case otherwise
        /// Nothing was checked: the evaluator has no checks, or a delegate accepted a chain that had passed none.
        case unchecked
    }

    /// Facts about the chain that do not depend on who accepted it.
    package struct ChainFacts: Hashable, Sendable {
        /// Whether it passes the default evaluation under the roots of the connection's configuration.
        package let passesDefault: Bool
        /// The SHA-256 of the keys on the path that was built, without other certificates that the server sent.
        package let keys: Set<SHA256Digest>
    }

    private final class CachedFacts: Sendable {
        let facts: ChainFacts

        init(_ facts: ChainFacts) { self.facts = facts }
    }

    /// The client identity that the server has received.
    package let identity: ClientIdentity
    /// How the server was accepted.
    package let acceptance: Acceptance
    private let trust: PeerTrust
    private let cachedFacts = AtomicLazyReference<CachedFacts>()

    /// Creates the evidence of a handshake whose chain was accepted.
    package init(of trust: PeerTrust, acceptance: Acceptance, identity: ClientIdentity) {
        self.trust = trust
        self.acceptance = acceptance
        self.identity = identity
    }

    /// Whether `chainFacts` has to read the roots first, which must not be done on a loop's thread. The roots have not been read
    /// if the peer was accepted without a check.
    package var needsRoots: Bool { cachedFacts.load() == nil && !trust.store.isLoaded }

    /// The name of the roots that the chain is evaluated with (`TrustRoots.name`); roots that differ have different names.
    package var rootsName: String? { trust.store.name }

    /// Reads the roots. Blocks. If they cannot be read, the chain passes no evaluation.
    package func readRoots() { try? trust.store.load() }

    /// Whether the server was accepted by an evaluation that includes the default one, and its certificate is also valid for
    /// `host`, so that the evaluation would also have passed for that host.
    package func isStandard(forHost host: String) -> Bool {
        guard acceptance == .standard, let leaf = trust.certificates.first else { return false }
        return PeerIdentity.matches(host: host, certificate: leaf)
    }

    /// Whether the chain has passed no check, and the default evaluation, which this function performs, refuses it.
    package func isUnproven(at time: UnixTime) -> Bool {
        acceptance == .unchecked && !chainFacts(at: time).passesDefault
    }

    /// Returns the facts about the chain. The first call builds the path and evaluates it, which takes only CPU time, so that a
    /// loop's thread may call it unless `needsRoots`.
    package func chainFacts(at time: UnixTime) -> ChainFacts {
        if let cached = cachedFacts.load() { return cached.facts }
        let path = TrustPath(of: trust, at: time)
        let passes =
            acceptance == .standard
            || path.failure(of: trust, under: .server(host: trust.host), at: time, revocation: .none) == nil
        let keys = Set(path.linked.compactMap { $0.publicKey?.fingerprint })
        return cachedFacts.storeIfNil(CachedFacts(ChainFacts(passesDefault: passes, keys: keys))).facts
    }
}
