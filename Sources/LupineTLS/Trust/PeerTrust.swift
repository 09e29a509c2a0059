// SPDX-License-Identifier: MIT

/// What a peer presented, and what it is judged against: its chain, the stapled answer, the host that was asked for.
///
/// Making one judges nothing. It is a value: it may be used from any thread and when the connection is gone.
public struct PeerTrust: Sendable {
    /// The certificates as they were sent, the leaf first.
    public let certificates: [Certificate]
    /// The OCSP response that came in the handshake.
    public let stapledResponse: [UInt8]?
    /// The host that was asked for: a name or an IP literal without brackets.
    public let host: String
    /// The roots, and what was supplied with them.
    package let store: TrustStore

    /// What a peer presented.
    package init(certificates: [Certificate], stapledResponse: [UInt8]?, host: String, store: TrustStore) {
        self.certificates = certificates
        self.stapledResponse = stapledResponse
        self.host = host
        self.store = store
    }
}
