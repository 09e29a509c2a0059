// SPDX-License-Identifier: MIT

package import LupineTLS

/// What a TLS handshake has agreed on, as metrics tell it.
package struct TLSDetails: Hashable, Sendable {
    /// The version of the protocol.
    package let version: TLSVersion
    /// The cipher suite's name in the IANA registry or, where it has none of its own, OpenSSL's.
    package let cipherSuite: String
    /// The same as its number on the wire.
    package let cipherSuiteNumber: UInt16
    /// The handshake was shortened with what an earlier connection left.
    package let isResumed: Bool
    /// What ALPN chose; nil when the peer does not know ALPN.
    package let applicationProtocol: String?
    /// The profile that the connection belongs to: the one of those who answered for its peer, where somebody was asked.
    package let profile: TLSProfile
    /// The exchange that it was opened for was asked who we are and has shown an identity of its own: the connection is not
    /// lent to another exchange, which may want to be somebody else, or nobody.
    let isPersonal: Bool

    /// Whether HTTP/2 may be spoken (RFC 9113 §9.2).
    var isEnoughForHTTP2: Bool { version.carriesHTTP2(with: cipherSuite) }

    /// What an engine has agreed on, its handshake done.
    init(of engine: TLSEngine, under profile: TLSProfile, isPersonal: Bool = false) {
        self.profile = profile
        self.isPersonal = isPersonal
        version = engine.version
        cipherSuite = engine.cipherSuite
        cipherSuiteNumber = engine.cipherSuiteNumber
        isResumed = engine.isResumed
        applicationProtocol = engine.applicationProtocol
    }
}
