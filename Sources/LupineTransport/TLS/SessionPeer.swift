// SPDX-License-Identifier: MIT

import LupineTLS

/// The key of the TLS sessions that a profile stores: a session resumes only connections to the same peer.
package struct SessionPeer: Hashable, Sendable {
    /// The host name of the handshake, in lower case.
    let host: String
    /// The port of the peer.
    let port: UInt16
    /// The proxy of the connection; nil if there is none, or if the proxy itself is the peer.
    let proxy: ProxyServer?
}

/// Stores the sessions that a connection receives, so that later connections can resume them.
struct SessionSaver {
    /// The profile that stores them.
    let profile: TLSProfile
    let peer: SessionPeer
    /// The time until which the verdict on the peer's chain also holds for resumed connections; nil if the chain has to be
    /// evaluated again for each.
    let acceptedUntil: UnixTime?
    /// What the handshake has shown about the peer.
    let evidence: PeerEvidence

    /// Stores the sessions in the profile, together with `acceptedUntil` and `evidence`.
    func store(_ sessions: [TLSSession]) {
        for var session in sessions {
            session.acceptedUntil = acceptedUntil
            session.evidence = evidence
            profile.store(session, for: peer)
        }
    }
}
