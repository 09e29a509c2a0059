// SPDX-License-Identifier: MIT

/// The result of a completed handshake.
public struct TLSInfo: Sendable {
    /// The version.
    public let version: TLSVersion
    /// The cipher suite, by its name in the RFCs.
    public let cipherSuite: String
    /// The cipher suite, by its number on the wire.
    public let cipherSuiteNumber: UInt16
    /// Whether the handshake resumed a session.
    public let isResumed: Bool
    /// The negotiated application protocol (RFC 7301); nil for none.
    public let applicationProtocol: String?
    /// The indicated server name (RFC 6066 §3); nil for none, as with IP addresses.
    public let serverName: String?
    /// The peer's chain as sent, leaf first. If the handshake resumed a session, this is the chain of the session's full
    /// handshake. Empty on a server whose client has sent no certificate.
    public let peerCertificates: [Certificate]
}

/// A server's request for a client certificate.
package struct TLSIdentityRequest: Hashable, Sendable {
    /// The names of acceptable issuers, in DER; if empty, any issuer is acceptable.
    package let acceptableIssuers: [[UInt8]]
}
