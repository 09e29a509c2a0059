// SPDX-License-Identifier: MIT

/// Validates UTF-8 that arrives in pieces. RFC 3629 §4 excludes surrogates, overlong forms and numbers above U+10FFFF.
///
/// A piece may end within a character. The validator finds the first invalid octet as soon as it arrives, so that an endpoint can
/// fail the connection (RFC 6455 §8.1) without waiting for the end of the message.
package struct UTF8Validator: Sendable {
    /// The number of octets that are still missing from the current character; 0 between characters.
    private var remaining = 0
    /// The least valid value of the next of these octets. Continuation octets are 0x80 to 0xBF.
    private var lowest: UInt8 = 0x80
    /// The greatest valid value of the next of these octets.
    private var highest: UInt8 = 0xBF

    /// Creates a validator for a new text.
    package init() {}

    /// Whether the octets so far end with a complete character, so that the text may end.
    package var isBetweenCharacters: Bool { remaining == 0 }

    /// Validates the next octets of the text. Returns the index of the first invalid octet, or nil.
    package mutating func validate(_ octets: Span<UInt8>) -> Int? {
        var index = 0
        while index < octets.count {
            if remaining == 0 {
                // Skips eight ASCII octets at a time: their high bits are zero.
                while index &+ 8 <= octets.count,
                    OctetScan.word(octets, at: index) & 0x8080_8080_8080_8080 == 0
                {
                    index &+= 8
                }
                guard index < octets.count else { break }
                guard beginCharacter(octets[index]) else { return index }
            } else {
                let octet = octets[index]
                guard octet >= lowest, octet <= highest else { return index }
                remaining &-= 1
                lowest = 0x80
                highest = 0xBF
            }
            index &+= 1
        }
        return nil
    }

    /// Begins a character with its first octet. Returns false if the octet is invalid. The limits of the second octet exclude
    /// overlong forms (after 0xE0 and 0xF0), surrogates (after 0xED) and numbers above U+10FFFF (after 0xF4).
    @inline(__always)
    private mutating func beginCharacter(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x00...0x7F: break
        case 0xC2...0xDF: remaining = 1
        case 0xE0: (remaining, lowest) = (2, 0xA0)
        // This case must precede the next one, whose range contains 0xED.
        case 0xED: (remaining, highest) = (2, 0x9F)
        case 0xE1...0xEF: remaining = 2
        case 0xF0: (remaining, lowest) = (3, 0x90)
        case 0xF1...0xF3: remaining = 3
        case 0xF4: (remaining, highest) = (3, 0x8F)
        default: return false
        }
        return true
    }
}
