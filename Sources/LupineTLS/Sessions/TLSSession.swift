// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// A session that a later connection to the same server can resume, with the certificates that the peer had presented.
///
/// A value that may be used on any thread. Its owner offers it only under the trust policy under which it was created, and at
/// most once if it is single-use. Here a trust policy is whatever decides about servers: the evaluator and the roots.
package struct TLSSession: Sendable {
    /// The session as an object of OpenSSL.
    let handle: OpenSSLHandle<SessionObject>
    /// Whether the session may be offered only once, like a ticket of TLS 1.3: observers could link connections that offer the
    /// same ticket (RFC 8446 §C.4).
    package let isSingleUse: Bool
    /// The time at which the server discards the session.
    package let expirationTime: UnixTime
    /// The chain that the peer sent in the original full handshake.
    package let certificates: [Certificate]
    /// The OCSP response that was stapled to that chain.
    package let stapledResponse: [UInt8]?
    /// The evidence of the original handshake, which the owner of the connection may add; nil if it has not.
    package var evidence: PeerEvidence?
    /// The time until which the verdict about the chain is valid, which the owner of the connection may add. Nil if each
    /// connection that resumes the session needs a verdict of its own.
    package var acceptedUntil: UnixTime?
}

extension TLSSession {
    /// Creates a value for a session that OpenSSL has passed to its callback for new sessions.
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
        expirationTime = unsafe UnixTime(seconds: Int64(SSL_SESSION_get_time(pointer)) + Int64(lifetime))
    }

    /// Returns the lifetime of a session in seconds, at most a week.
    ///
    /// - Parameters:
    ///   - hint: The lifetime that the server has sent. For a TLS 1.3 ticket, 0 means that the client must discard it (RFC 8446
    ///     §4.6.1); with TLS 1.2, 0 means unspecified (RFC 5077 §3.3).
    ///   - timeout: OpenSSL's own lifetime, used if the server's is unspecified.
    ///   - isSingleUse: Whether the session is a TLS 1.3 ticket.
    static func lifetime(hint: UInt, timeout: Int, isSingleUse: Bool) -> Int {
        let isUnspecified = hint == 0 && !isSingleUse
        let lifetime = isUnspecified ? timeout : Int(clamping: hint)
        return max(0, min(lifetime, 7 * 24 * 3600))
    }
}
