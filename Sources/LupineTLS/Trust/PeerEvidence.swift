// SPDX-License-Identifier: MIT

internal import Synchronization

/// What a handshake has shown about both of its ends, for whoever keeps what came over the connection.
///
/// Made once per full handshake and shared by the connections that resume it: they bring no chain of their own. What takes
/// time, the path and the default evaluation, is found out when it is first asked for and then kept. Any thread.
package final class PeerEvidence: Sendable {
    /// What the server has learnt about the client.
    package enum ClientIdentity: Hashable, Sendable {
        /// It did not ask.
        case notAsked
        /// It asked, and no certificate was sent.
        case nobody
        /// The SHA-256 of the certificate that was sent.
        case certificate(SHA256Digest)
    }

    /// How the server came to be trusted.
    package enum Acceptance: Hashable, Sendable {
        /// By an evaluation that the default one is part of.
        case standard
        /// By another one, or by whoever was asked.
        case otherwise
        /// By whoever accepts it without a check that it has passed.
        case unchecked
    }

    /// What can be said about the chain whoever has accepted it.
    package struct Standing: Hashable, Sendable {
        /// Whether it passes the default evaluation under the roots of the connection's configuration.
        package let passesDefault: Bool
        /// The SHA-256 of the keys on the path that was built, not of whatever else the server sent.
        package let keys: Set<SHA256Digest>
    }

    private final class Finding: Sendable {
        let standing: Standing

        init(_ standing: Standing) { self.standing = standing }
    }

    /// What the server has learnt about the client.
    package let identity: ClientIdentity
    /// How the server came to be trusted.
    package let acceptance: Acceptance
    private let trust: PeerTrust
    private let finding = AtomicLazyReference<Finding>()

    /// What a handshake has shown that ended with this chain being accepted.
    package init(of trust: PeerTrust, acceptance: Acceptance, identity: ClientIdentity) {
        self.trust = trust
        self.acceptance = acceptance
        self.identity = identity
    }

    /// Whether roots would have to be read to say more about the chain, which no loop's thread may do. Who accepts without a check
    /// needs none.
    package var needsRoots: Bool { finding.load() == nil && !trust.store.isLoaded }

    /// The name of the roots that judge the chain: none of two that differ is the other's.
    package var rootsName: String? { trust.store.name }

    /// Reads the roots. Blocks. Where they cannot be read, it stays so, and the chain passes no evaluation.
    package func readRoots() { try? trust.store.load() }

    /// Whether the default evaluation was part of how the server came to be trusted, and would have passed under another name
    /// as well: its certificate is for that, too.
    package func isStandard(forHost host: String) -> Bool {
        guard acceptance == .standard, let leaf = trust.certificates.first else { return false }
        return PeerIdentity.matches(host: host, certificate: leaf)
    }

    /// Whether the chain has passed no check, and the default evaluation, which is run then, refuses it.
    package func isUnproven(at time: UnixTime) -> Bool {
        acceptance == .unchecked && !standing(at: time).passesDefault
    }

    /// What can be said about the chain. The first call builds the path, and judges it unless that was done: CPU time
    /// alone, fit for a loop's thread, unless it `needsRoots`.
    package func standing(at time: UnixTime) -> Standing {
        if let finding = finding.load() { return finding.standing }
        let path = TrustPath(of: trust, at: time)
        let passes =
            acceptance == .standard
            || path.failure(of: trust, under: .server(host: trust.host), at: time, revocation: .none) == nil
        let keys = Set(path.linked.compactMap { $0.publicKey?.fingerprint })
        return finding.storeIfNil(Finding(Standing(passesDefault: passes, keys: keys))).standing
    }
}
