// SPDX-License-Identifier: MIT

/// Reads the users in the credentials of recorded requests without a body: one word for each request, in order.
///
/// The word is `-` for a request without credentials, otherwise the user of Basic or Digest; for Digest, `#` and the nonce count
/// follow.
package enum CredentialUsers {
    /// Returns the words for the bytes received on one connection.
    ///
    /// - Parameters:
    ///   - bytes: Consecutive requests without bodies.
    ///   - field: The field that contains the credentials.
    package static func read(_ bytes: [UInt8], _ field: String = "Authorization") -> [String] {
        var lines = [""]
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars where scalar != "\r" {
            if scalar == "\n" {
                lines.append("")
            } else {
                lines[lines.count - 1].unicodeScalars.append(scalar)
            }
        }
        var words: [String] = []
        var credentials: String?
        var isInHead = false
        for line in lines {
            if line.isEmpty {
                if isInHead { words.append(credentials.map(word) ?? "-") }
                (credentials, isInHead) = (nil, false)
                continue
            }
            isInHead = true
            let prefix = field.lowercased() + ": "
            if line.lowercased().hasPrefix(prefix) { credentials = String(line.dropFirst(prefix.count)) }
        }
        return words
    }

    /// Returns the word for the value of a credentials field.
    private static func word(_ value: String) -> String {
        if value.hasPrefix("Basic ") {
            let text = String(decoding: decoded(value.dropFirst(6)), as: UTF8.self)
            return String(text.prefix { $0 != ":" })
        }
        let parts = value.split { $0 == "," || $0 == " " }
        let user = parts.first { $0.hasPrefix("username=") }?.dropFirst(9).filter { $0 != "\"" } ?? "?"
        let count = parts.first { $0.hasPrefix("nc=") }?.dropFirst(3).drop { $0 == "0" }
        return user + (count.map { "#" + $0 } ?? "")
    }

    /// Decodes Base64 (RFC 4648 §4).
    private static func decoded(_ text: Substring) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var octets: [UInt8] = []
        var bits: UInt32 = 0
        var count: UInt32 = 0
        for letter in text.utf8 {
            guard let value = alphabet.firstIndex(of: letter) else { break }
            bits = (bits & 0xFF) << 6 | UInt32(value)
            count += 6
            if count < 8 { continue }
            count -= 8
            octets.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        return octets
    }
}
