// SPDX-License-Identifier: MIT

/// Base64 with padding (RFC 4648 §4). Decoding is strict: it refuses other characters, and unused bits that are not zero.
package enum Base64 {
    /// Encodes bytes, without line breaks.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        // Each group of 3 bytes becomes 4 characters of 6 bits.
        text.reserveCapacity((bytes.count / 3 + 1) * 4)
        var start = 0
        while start < bytes.count {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            // Zero bits take the place of the bytes that an incomplete group lacks.
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
        // The bits of the current group, and the numbers of its characters and of its padding characters so far.
        var bits: UInt32 = 0
        var count = 0
        var paddingCount = 0
        // A local copy, because each access to a static property checks whether the property has been initialized.
        let values = values
        for index in text.indices {
            let character = text[index]
            // LF, CR, space and tab.
            if skipsSpace, character == 0x0A || character == 0x0D || character == 0x20 || character == 0x09 {
                continue
            }
            count += 1
            if character == padding {
                paddingCount += 1
                bits <<= 6
            } else {
                let value = values[Int(character)]
                guard paddingCount == 0, value < 64 else { return nil }
                bits = bits << 6 | UInt32(value)
            }
            guard count == 4 else { continue }
            // Each padding character leaves 8 of the group's low bits without a byte. These bits must be zero.
            guard paddingCount <= 2, bits & (1 << (8 * UInt32(paddingCount)) - 1) == 0 else { return nil }
            for position in 0..<(3 - paddingCount) {
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * position)))
            }
            (bits, count) = (0, 0)
            if paddingCount > 0 { count = countAfterPadding }
        }
        return count == 0 || count == countAfterPadding ? bytes : nil
    }

    /// The value of `count` after a padded group, which nothing may follow: another character makes it 5 or more, so that no
    /// group is complete again, and `decode` returns nil at the end.
    private static let countAfterPadding = 4
    private static let padding = UInt8(ascii: "=")
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    /// The 6-bit value of each character of the alphabet; 255 for all other bytes.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}
