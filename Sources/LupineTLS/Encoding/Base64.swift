// SPDX-License-Identifier: MIT

/// Base64 with padding (RFC 4648 §4). Decoding is strict: it refuses other characters, and unused bits that are not zero.
package enum Base64 {
    /// Encodes bytes, without line breaks.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count / 3 + 1) * 4)
        var start = 0
        while start < bytes.count {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(3 - group.count) * 8
            // A group of n bytes has n + 1 digits; padding completes it to 4.
            for position in 0..<4 {
                let digit = alphabet[Int(bits >> UInt32(18 - 6 * position) & 63)]
                text.append(position <= group.count ? digit : padding)
            }
            start += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text; nil when it is not valid Base64.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        decode(Array(text).span, skipsSpace: false)
    }

    /// Decodes a text, ignoring line ends, spaces and tabs; nil when it is not valid Base64.
    static func decode(lines text: ArraySlice<UInt8>) -> [UInt8]? {
        decode(text.span, skipsSpace: true)
    }

    private static func decode(_ text: Span<UInt8>, skipsSpace: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        // The bits of the current group, and the number of its characters so far.
        var bits: UInt32 = 0
        var count = 0
        var paddings = 0
        // A local copy, because each access to a static property checks whether the property has been initialized.
        let values = values
        for index in text.indices {
            let character = text[index]
            if skipsSpace, character == 0x0A || character == 0x0D || character == 0x20 || character == 0x09 {
                continue
            }
            count += 1
            if character == padding {
                paddings += 1
                bits <<= 6
            } else {
                let value = values[Int(character)]
                guard paddings == 0, value < 64 else { return nil }
                bits = bits << 6 | UInt32(value)
            }
            guard count == 4 else { continue }
            // The 8 low bits per padding character belong to no byte, and must be zero.
            guard paddings <= 2, bits & (1 << (8 * UInt32(paddings)) - 1) == 0 else { return nil }
            for position in 0..<(3 - paddings) {
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * position)))
            }
            (bits, count) = (0, 0)
            if paddings > 0 { count = countAfterPadding }
        }
        return count == 0 || count == countAfterPadding ? bytes : nil
    }

    /// The value of `count` after a padded group: another character makes it 5, which is no valid count, so nothing may follow.
    private static let countAfterPadding = 4
    private static let padding = UInt8(ascii: "=")
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    /// The value of each character; 255 for those outside of the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}
