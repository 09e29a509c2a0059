// SPDX-License-Identifier: MIT

extension TLSVersion {
    /// Whether RFC 9113 §9.2 allows HTTP/2 with this version and a cipher suite, which is given by its IANA name: always with
    /// TLS 1.3; with TLS 1.2 if the suite has ephemeral keys and authenticated encryption (§9.2.2).
    package func allowsHTTP2(with cipherSuite: String) -> Bool {
        guard self < .v1_3 else { return true }
        guard self == .v1_2 else { return false }
        let words = cipherSuite.utf8.split(separator: UInt8(ascii: "_")).map { String(Substring($0)) }
        let hasEphemeralKeys = words.contains("ECDHE") || words.contains("DHE")
        return hasEphemeralKeys && ["GCM", "CCM", "POLY1305"].contains { words.contains($0) }
    }
}
