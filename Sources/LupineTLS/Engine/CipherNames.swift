// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Checks that OpenSSL knows each word of a cipher string.
///
/// OpenSSL ignores unknown words as long as one word selects a cipher. A misspelled word would silently enable fewer ciphers, or
/// more, than the configuration intends.
enum CipherNames {
    /// Cipher classes that a list may exclude (`!RC4`) even if OpenSSL was built without them.
    private static let excludable: Set<String> = [
        "RC4", "RC2", "DES", "3DES", "MD5", "IDEA", "SEED", "EXP", "EXPORT", "LOW", "MEDIUM", "SSLv2",
        "SSLv3", "DSS",
        "aDSS", "NULL", "eNULL", "aNULL", "ADH", "AECDH", "PSK", "SRP", "CAMELLIA", "ARIA", "kRSA", "CBC",
        "GOST",
    ]

    /// Checks the words of a cipher list for TLS 1.2 and earlier, by setting each of them alone on `scratch`.
    static func check(list: String, scratch: OpenSSLHandle<ContextObject>) throws(TLSError) {
        let words = list.split(whereSeparator: { ":, ;".contains($0) })
        guard !words.isEmpty else { throw .configuration(.cipherList(list)) }
        for word in words {
            // @STRENGTH and @SECLEVEL= are commands, which OpenSSL checks itself.
            if word.hasPrefix("@") { continue }
            let isRemoval = word.hasPrefix("!") || word.hasPrefix("-")
            let name = String(word.drop { "!-+".contains($0) })
            if isRemoval && excludable.contains(name) { continue }
            OpenSSLErrors.clear()
            let isKnown = unsafe SSL_CTX_set_cipher_list(scratch.pointer, name) == 1
            guard isKnown else { throw .configuration(.cipherList(String(word))) }
        }
        OpenSSLErrors.clear()
    }

    /// Checks the names of a list of cipher suites for TLS 1.3, by setting each of them alone on `scratch`.
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
