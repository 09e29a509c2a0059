// SPDX-License-Identifier: MIT

/// An incremental hash function: it takes octets in pieces of any size, and returns a digest.
///
/// It is used for digest authentication and to identify received bodies. It is not for real secrets: nothing here resists
/// timing attacks.
protocol HashFunction {
    /// Creates a hash of an empty message.
    init()
    /// Appends octets to the message.
    mutating func update(_ bytes: Span<UInt8>)
    /// Ends the message and returns its digest. Must be the last call.
    mutating func finish() -> [UInt8]
}

extension HashFunction {
    /// Returns the digest of a message in hexadecimal digits.
    static func hexadecimal(of bytes: [UInt8]) -> String {
        var hash = Self()
        hash.update(bytes.span)
        return Hexadecimal.text(hash.finish())
    }

    /// Returns the digest of a text in hexadecimal digits.
    static func hexadecimal(of text: String) -> String { hexadecimal(of: Array(text.utf8)) }
}
