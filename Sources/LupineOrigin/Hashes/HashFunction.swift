// SPDX-License-Identifier: MIT

/// A hash function as it runs: octets in, in pieces of any size, a digest out.
///
/// For digest authentication and for naming what was received. Not for secrets that matter: nothing here is
/// hardened against timing.
protocol HashFunction {
    /// Begins with nothing hashed.
    init()
    /// Takes the next octets.
    mutating func update(_ bytes: Span<UInt8>)
    /// Ends the message and gives its digest; nothing may follow.
    mutating func finish() -> [UInt8]
}

extension HashFunction {
    /// The digest of one message, in hexadecimal digits.
    static func hexadecimal(of bytes: [UInt8]) -> String {
        var hash = Self()
        hash.update(bytes.span)
        return Hexadecimal.text(hash.finish())
    }

    /// The digest of one text, in hexadecimal digits.
    static func hexadecimal(of text: String) -> String { hexadecimal(of: Array(text.utf8)) }
}
