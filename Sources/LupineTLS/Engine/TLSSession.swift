// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// What a later connection to the same server can be resumed with, and what the peer had presented.
///
/// A value that may be used from any thread. Whoever keeps it makes sure that it is offered only under the trust policy
/// under which it was made, and only once if it says so.
package struct TLSSession: Sendable {
    let handle: OpenSSLHandle<SessionObject>
    /// Whether it may be offered once only: tickets of TLS 1.3, so that connections cannot be linked (RFC 8446 §C.4).
    package let isSingleUse: Bool
    /// When the server forgets it.
    package let expires: UnixTime
    /// The peer's chain of the full handshake that it descends from.
    package let certificates: [Certificate]
    /// The OCSP response that came with that chain.
    package let stapledResponse: [UInt8]?
    /// What that handshake has shown, if its owner keeps it.
    package var evidence: PeerEvidence?
    /// Until when the verdict about that chain holds, if its owner keeps one.
    package var acceptedUntil: UnixTime?
}

extension TLSSession {
    /// A session that OpenSSL has handed out.
    init(
        _ handle: OpenSSLHandle<SessionObject>, certificates: [Certificate], stapledResponse: [UInt8]?
    ) {
        let pointer = unsafe handle.pointer
        self.handle = handle
        self.certificates = certificates
        self.stapledResponse = stapledResponse
        isSingleUse = unsafe SSL_SESSION_get_protocol_version(pointer) >= TLS1_3_VERSION
        let hint = unsafe SSL_SESSION_get_ticket_lifetime_hint(pointer)
        let timeout = unsafe SSL_SESSION_get_timeout(pointer)
        let lifetime = TLSSession.lifetime(hint: hint, timeout: timeout, isSingleUse: isSingleUse)
        expires = unsafe UnixTime(seconds: Int64(SSL_SESSION_get_time(pointer)) + Int64(lifetime))
    }

    /// For how many seconds a session may be offered: no longer than a week, whatever the server says, and not at all if it
    /// says zero of a ticket of TLS 1.3 (RFC 8446 §4.6.1). With TLS 1.2 zero leaves it open (RFC 5077 §3.3).
    static func lifetime(hint: UInt, timeout: Int, isSingleUse: Bool) -> Int {
        let promised = hint == 0 && !isSingleUse ? timeout : Int(clamping: hint)
        return max(0, min(promised, 7 * 24 * 3600))
    }
}
