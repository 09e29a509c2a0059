// SPDX-License-Identifier: MIT

extension TLSVersion {
    /// Whether HTTP/2 is allowed with this version and a cipher suite, given by its IANA name: with TLS 1.3, and with TLS 1.2 if
    /// the suite has ephemeral keys and authenticated encryption (RFC 9113 §9.2, §9.2.2).
    package func carriesHTTP2(with cipherSuite: String) -> Bool {
        guard self < .v1_3 else { return true }
        guard self == .v1_2 else { return false }
        let words = cipherSuite.utf8.split(separator: 0x5F).map { String(Substring($0)) }
        let hasEphemeralKeys = words.contains("ECDHE") || words.contains("DHE")
        return hasEphemeralKeys && ["GCM", "CCM", "POLY1305"].contains { words.contains($0) }
    }
}
