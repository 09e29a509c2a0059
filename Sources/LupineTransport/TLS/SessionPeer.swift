// SPDX-License-Identifier: MIT

import LupineTLS

/// Whom a TLS session was made with, within one profile: it resumes connections to nobody else.
package struct SessionPeer: Hashable, Sendable {
    /// The host that the handshake asked for, in lower case.
    let host: String
    /// Its port.
    let port: UInt16
    /// The proxy in between; nil also where the proxy itself is the peer.
    let proxy: ProxyServer?
}

/// Puts what a connection's peer gives to resume with where later connections find it.
struct SessionKeeper {
    let profile: TLSProfile
    let peer: SessionPeer
    /// Until when the verdict about the peer's chain answers for resumed connections too; nil when it has to be asked for
    /// again.
    let acceptedUntil: UnixTime?
    /// What the handshake has shown.
    let evidence: PeerEvidence

    func keep(_ sessions: [TLSSession]) {
        for var session in sessions {
            session.acceptedUntil = acceptedUntil
            session.evidence = evidence
            profile.keep(session, for: peer)
        }
    }
}
