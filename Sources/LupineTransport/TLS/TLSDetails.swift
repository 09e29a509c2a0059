// SPDX-License-Identifier: MIT

package import LupineTLS

/// The negotiated parameters of a TLS handshake, for metrics.
package struct TLSDetails: Hashable, Sendable {
    /// The TLS version.
    package let version: TLSVersion
    /// The name of the cipher suite in the IANA registry or, if it has none there, in OpenSSL.
    package let cipherSuite: String
    /// The cipher suite's number on the wire.
    package let cipherSuiteNumber: UInt16
    /// Whether the handshake resumed a session.
    package let isResumed: Bool
    /// The protocol chosen with ALPN; nil if the peer does not support ALPN.
    package let applicationProtocol: String?
    /// The profile that the connection belongs to. If a verifier answered questions, its answers may have changed the profile.
    package let profile: TLSProfile
    /// Whether a client certificate was presented that belongs to the exchange for which the connection was opened. The pool
    /// leases the connection to no other exchange, which may need another certificate or none (U-11.20).
    let isBoundToExchange: Bool

    /// Whether version and cipher suite are allowed with HTTP/2 (RFC 9113 §9.2).
    var meetsHTTP2Requirements: Bool { version.allowsHTTP2(with: cipherSuite) }

    /// Reads the parameters from an engine whose handshake is done.
    init(of engine: TLSEngine, under profile: TLSProfile, isBoundToExchange: Bool = false) {
        self.profile = profile
        self.isBoundToExchange = isBoundToExchange
        version = engine.version
        cipherSuite = engine.cipherSuite
        cipherSuiteNumber = engine.cipherSuiteNumber
        isResumed = engine.isResumed
        applicationProtocol = engine.applicationProtocol
    }
}
