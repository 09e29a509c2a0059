// SPDX-License-Identifier: MIT

/// Checks text that comes in pieces, at each octet of it: RFC 3629 §4, which knows no surrogates, no overlong forms and
/// nothing above U+10FFFF.
///
/// A piece may end in the middle of a character. The first octet that no text can have there is found when it comes,
/// however much is still to follow, so that RFC 6455 §8.1 can be kept without waiting for the message to end.
package struct UTF8Progress: Sendable {
    /// Octets that the character still needs.
    private var due = 0
    /// What the next of them may be.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// Before the first octet.
    package init() {}

    /// Whether the text could end here.
    package var isBetweenCharacters: Bool { due == 0 }

    /// Takes the next octets. Returns the index of the first that cannot stand where it does, or nil.
    package mutating func take(_ octets: Span<UInt8>) -> Int? {
        var index = 0
        while index < octets.count {
            if due == 0 {
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
                due &-= 1
                lowest = 0x80
                highest = 0xBF
            }
            index &+= 1
        }
        return nil
    }

    /// Takes the first octet of a character; false when it is none.
    @inline(__always)
    private mutating func begin(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x00...0x7F: break
        case 0xC2...0xDF: due = 1
        case 0xE0: (due, lowest) = (2, 0xA0)
        case 0xED: (due, highest) = (2, 0x9F)
        case 0xE1...0xEF: due = 2
        case 0xF0: (due, lowest) = (3, 0x90)
        case 0xF1...0xF3: due = 3
        case 0xF4: (due, highest) = (3, 0x8F)
        default: return false
        }
        return true
    }
}
