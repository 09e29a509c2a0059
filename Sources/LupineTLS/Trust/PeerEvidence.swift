// SPDX-License-Identifier: MIT

internal import Synchronization

/// The evidence of a handshake about the identities of its client and server. A cache stores it with the data that was received
/// on the connection.
///
/// Created once per full handshake. Connections that resume its session share it, because the server sends them no chain.
/// Building the path and the default evaluation take time, so they happen on first use, and the result is cached. May be used on
/// any thread.
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

    /// The checks that the server has passed before it was accepted.
    package enum Acceptance: Hashable, Sendable {
        /// The chain passed an evaluation that includes the default one.
        case standard
        /// The chain passed an evaluation without the default one, or a delegate accepted the chain.
        case otherwise
        /// Nothing was checked: the evaluator has no checks, or a delegate accepted a chain that had passed no check.
        case unchecked
    }

    /// Facts about the chain that do not depend on the evaluator or delegate that accepted it.
    package struct ChainFacts: Hashable, Sendable {
        /// Whether the chain passes the default evaluation under the roots of the connection's configuration.
        package let passesDefault: Bool
        /// The SHA-256 of the public keys on the validated path. Other certificates that the server sent do not count.
        package let keys: Set<SHA256Digest>
    }

    /// Contains the facts. A class, because `AtomicLazyReference` stores objects.
    private final class CachedFacts: Sendable {
        let facts: ChainFacts

        init(_ facts: ChainFacts) { self.facts = facts }
    }

    /// The client identity that the server has received.
    package let identity: ClientIdentity
    /// The checks that the server has passed before it was accepted.
    package let acceptance: Acceptance
    /// The chain that the server presented, with the roots of the connection's configuration.
    private let trust: PeerTrust
    private let cachedFacts = AtomicLazyReference<CachedFacts>()

    /// Creates the evidence of a handshake in which the client accepted the server.
    ///
    /// - Parameters:
    ///   - trust: The chain that the server presented.
    ///   - acceptance: The checks that the server has passed.
    ///   - identity: The client identity that the server has received.
    package init(of trust: PeerTrust, acceptance: Acceptance, identity: ClientIdentity) {
        self.trust = trust
        self.acceptance = acceptance
        self.identity = identity
    }

    /// Whether `chainFacts` would read the roots, which must not happen on an event loop's thread: call `readRoots` on another
    /// thread first. The roots have not been read if no check of the peer has needed them.
    package var needsRoots: Bool { cachedFacts.load() == nil && !trust.store.isLoaded }

    /// The name of the roots that the chain is evaluated with (`TrustRoots.name`); roots that differ have different names.
    package var rootsName: String? { trust.store.name }

    /// Reads the roots. Blocks. An error is ignored here: without roots, the chain passes no default evaluation.
    package func readRoots() { try? trust.store.load() }

    /// Whether the server has passed the default evaluation, and would also have passed it for `host`, because its certificate
    /// is valid for that host too.
    package func isStandard(forHost host: String) -> Bool {
        guard acceptance == .standard, let leaf = trust.certificates.first else { return false }
        return PeerIdentity.matches(host: host, certificate: leaf)
    }

    /// Whether the server was accepted without any check, and the default evaluation refuses its chain. For a server accepted
    /// without any check, calls `chainFacts(at:)`, which may evaluate the chain.
    package func isUnproven(at time: UnixTime) -> Bool {
        acceptance == .unchecked && !chainFacts(at: time).passesDefault
    }

    /// Returns the facts about the chain. The first call builds and evaluates the path. This takes only CPU time unless
    /// `needsRoots`, so that an event loop's thread may call it.
    package func chainFacts(at time: UnixTime) -> ChainFacts {
        if let cached = cachedFacts.load() { return cached.facts }
        let path = TrustPath(of: trust, at: time)
        // With `standard`, the chain has passed the default evaluation already.
        let passes =
            acceptance == .standard
            || path.failure(of: trust, under: .server(host: trust.host), at: time, revocation: .none) == nil
        let keys = Set(path.linkedCertificates.compactMap { $0.publicKey?.fingerprint })
        // Two threads may both compute the facts; the first result is stored and returned to both threads.
        return cachedFacts.storeIfNil(CachedFacts(ChainFacts(passesDefault: passes, keys: keys))).facts
    }
}
