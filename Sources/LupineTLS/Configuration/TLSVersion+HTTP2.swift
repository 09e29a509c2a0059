// SPDX-License-Identifier: MIT

extension TLSVersion {
    /// Whether RFC 9113 §9.2 allows HTTP/2 with this version and a cipher suite, given by its IANA name. TLS 1.3 always allows
    /// it. TLS 1.2 allows it if the suite has ephemeral keys and authenticated encryption (§9.2.2).
    package func allowsHTTP2(with cipherSuite: String) -> Bool {
        guard self < .v1_3 else { return true }
        guard self == .v1_2 else { return false }
        let words = cipherSuite.utf8.split(separator: UInt8(ascii: "_")).map { String(Substring($0)) }
        let hasEphemeralKeys = words.contains("ECDHE") || words.contains("DHE")
        let hasAuthenticatedEncryption = ["GCM", "CCM", "POLY1305"].contains { words.contains($0) }
        return hasEphemeralKeys && hasAuthenticatedEncryption
    }
}
