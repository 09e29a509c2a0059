// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// A session that a later connection to the same server can resume, with the certificates that the peer had presented.
///
/// A value that may be used on any thread. Its owner offers it only under the trust policy under which it was created, and at
/// most once if it is single-use.
package struct TLSSession: Sendable {
    let handle: OpenSSLHandle<SessionObject>
    /// Whether it may be offered only once, like a ticket of TLS 1.3: observers could link connections that offer the same ticket
    /// (RFC 8446 §C.4).
    package let isSingleUse: Bool
    /// The time at which the server discards it.
    package let expires: UnixTime
    /// The peer's chain of the original full handshake.
    package let certificates: [Certificate]
    /// The OCSP response that was stapled to that chain.
    package let stapledResponse: [UInt8]?
    /// The evidence of that handshake, if the owner has stored it here.
    package var evidence: PeerEvidence?
    /// The time until which the verdict about that chain is valid, if the owner has stored it here.
    package var acceptedUntil: UnixTime?
}

extension TLSSession {
    /// Creates a value for a session that OpenSSL has passed to the callback.
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

    /// The lifetime of a session in seconds: that of the server, but at most a week. For a TLS 1.3 ticket, 0 means that the
    /// client must discard it (RFC 8446 §4.6.1); with TLS 1.2, 0 means unspecified (RFC 5077 §3.3).
    static func lifetime(hint: UInt, timeout: Int, isSingleUse: Bool) -> Int {
        let isUnspecified = hint == 0 && !isSingleUse
        let lifetime = isUnspecified ? timeout : Int(clamping: hint)
        return max(0, min(lifetime, 7 * 24 * 3600))
    }
}
