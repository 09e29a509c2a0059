// SPDX-License-Identifier: MIT

/// Validates UTF-8 that arrives in pieces, octet by octet: RFC 3629 §4, which excludes surrogates, overlong forms and anything
/// above U+10FFFF.
///
/// A piece may end within a character. The first invalid octet is found when it arrives, so that an endpoint can fail the
/// connection (RFC 6455 §8.1) without waiting for the end of the message.
package struct UTF8Validator: Sendable {
    /// The number of octets that are missing from the current character.
    private var remaining = 0
    /// The least and the greatest valid value of the next of them.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// The state before the first octet.
    package init() {}

    /// Whether no character is incomplete, so that the text may end.
    package var isBetweenCharacters: Bool { remaining == 0 }

    /// Validates the next octets. Returns the index of the first that is invalid at its position, or nil.
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
                guard begin(octets[index]) else { return index }
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

    /// Begins a character with its first octet; returns false if that is invalid. The limits of the second octet exclude overlong
    /// forms (after E0 and F0), surrogates (after ED) and numbers above U+10FFFF (after F4).
    @inline(__always)
    private mutating func begin(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x00...0x7F: break
        case 0xC2...0xDF: remaining = 1
        case 0xE0: (remaining, lowest) = (2, 0xA0)
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
