// SPDX-License-Identifier: MIT

/// What a finished handshake has agreed on.
public struct TLSInfo: Sendable {
    /// The version.
    public let version: TLSVersion
    /// The cipher suite, by the name that the RFCs give it.
    public let cipherSuite: String
    /// The cipher suite, by its number on the wire.
    public let cipherSuiteNumber: UInt16
    /// Whether it took up where an earlier connection began.
    public let isResumed: Bool
    /// The application protocol (RFC 7301), if one was agreed on.
    public let applicationProtocol: String?
    /// The name that was asked for (RFC 6066 §3); nil for none, as with IP addresses.
    public let serverName: String?
    /// The peer's chain as it was sent, the leaf first; of the first connection if this one was resumed. Empty for a client
    /// that has shown none.
    public let peerCertificates: [Certificate]
}

/// That a server asks who the client is.
package struct TLSIdentityRequest: Hashable, Sendable {
    /// The names of the issuers that it knows, in DER; none means any.
    package let acceptableIssuers: [[UInt8]]
}
