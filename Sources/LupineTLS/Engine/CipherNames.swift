// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Checks that OpenSSL knows each word of a cipher string.
///
/// OpenSSL itself ignores unknown words as long as one word selects a cipher. So a misspelled word would enable fewer or more
/// ciphers than the configuration intends, without an error.
enum CipherNames {
    /// Cipher classes that a list may exclude (`!RC4`) even if OpenSSL was built without them.
    private static let excludable: Set<String> = [
        "RC4", "RC2", "DES", "3DES", "MD5", "IDEA", "SEED", "EXP", "EXPORT", "LOW", "MEDIUM", "SSLv2",
        "SSLv3", "DSS",
        "aDSS", "NULL", "eNULL", "aNULL", "ADH", "AECDH", "PSK", "SRP", "CAMELLIA", "ARIA", "kRSA", "CBC",
        "GOST",
    ]

    /// Checks the words of a cipher list for TLS 1.2 and earlier. Throws for a word that selects no cipher.
    ///
    /// - Parameters:
    ///   - list: The cipher list.
    ///   - scratch: A context that no connection uses. Each word is set on it alone.
    static func check(list: String, scratch: OpenSSLHandle<ContextObject>) throws(TLSError) {
        let words = list.split(whereSeparator: { ":, ;".contains($0) })
        guard !words.isEmpty else { throw .configuration(.cipherList(list)) }
        for word in words {
            // @STRENGTH and @SECLEVEL= are commands. OpenSSL refuses unknown commands itself.
            if word.hasPrefix("@") { continue }
            // The prefixes `!` and `-` remove the named ciphers; `+` moves them to the end.
            let isRemoval = word.hasPrefix("!") || word.hasPrefix("-")
            let name = String(word.drop { "!-+".contains($0) })
            if isRemoval && excludable.contains(name) { continue }
            OpenSSLErrors.clear()
            let isKnown = unsafe SSL_CTX_set_cipher_list(scratch.pointer, name) == 1
            guard isKnown else { throw .configuration(.cipherList(String(word))) }
        }
        OpenSSLErrors.clear()
    }

    /// Checks the names of cipher suites for TLS 1.3. Throws for an unknown or empty name.
    ///
    /// - Parameters:
    ///   - suites: The names, separated by colons.
    ///   - scratch: A context that no connection uses. Each name is set on it alone.
    static func check(suites: String, scratch: OpenSSLHandle<ContextObject>) throws(TLSError) {
        let names = suites.split(separator: ":", omittingEmptySubsequences: false)
        for name in names {
            OpenSSLErrors.clear()
            guard !name.isEmpty, unsafe SSL_CTX_set_ciphersuites(scratch.pointer, String(name)) == 1 else {
                throw .configuration(.cipherSuite(String(name)))
            }
        }
        OpenSSLErrors.clear()
    }
}
