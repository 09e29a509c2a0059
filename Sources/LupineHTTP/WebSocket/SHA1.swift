// SPDX-License-Identifier: MIT

/// SHA-1 (FIPS 180-4 §6.1), for `Sec-WebSocket-Accept` only.
///
/// RFC 6455 uses SHA-1 only to show that a server has understood the handshake: an attacker gains nothing from a collision. This
/// implementation keeps the module free of imports, and works where OpenSSL's policy forbids SHA-1.
enum SHA1 {
    /// Returns the 20 octets of the hash.
    static func digest(_ message: Span<UInt8>) -> [UInt8] {
        // Padding (§5.1.1): a one bit, zeros up to 8 octets before the end of a block, the length in bits.
        var padded: [UInt8] = []
        padded.append(message, 0..<message.count)
        padded.append(0x80)
        while padded.count % 64 != 56 { padded.append(0) }
        append(UInt64(message.count) &* 8, octets: 8, to: &padded)

        // The initial value (§5.3.1).
        var state: InlineArray<5, UInt32> = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for start in stride(from: 0, to: padded.count, by: 64) {
            mix(padded.span.extracting(start..<(start + 64)), into: &state)
        }
        var digest: [UInt8] = []
        for index in state.indices { append(UInt64(state[index]), octets: 4, to: &digest) }
        return digest
    }

    /// Processes one block of 64 octets (§6.1.2); the variables have the names of the standard.
    private static func mix(_ block: Span<UInt8>, into state: inout InlineArray<5, UInt32>) {
        var words = InlineArray<80, UInt32>(repeating: 0)
        for index in block.indices {
            words[index / 4] = words[index / 4] << 8 | UInt32(block[index])
        }
        for index in 16..<80 {
            words[index] = rotated(
                words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], by: 1)
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for index in 0..<80 {
            let choice: UInt32
            let constant: UInt32
            switch index {
            case 0..<20: (choice, constant) = (b & c | ~b & d, 0x5A82_7999)
            case 20..<40: (choice, constant) = (b ^ c ^ d, 0x6ED9_EBA1)
            case 40..<60: (choice, constant) = (b & c | b & d | c & d, 0x8F1B_BCDC)
            default: (choice, constant) = (b ^ c ^ d, 0xCA62_C1D6)
            }
            let next = rotated(a, by: 5) &+ choice &+ e &+ constant &+ words[index]
            (a, b, c, d, e) = (next, a, rotated(b, by: 30), c, d)
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
        state[4] &+= e
    }

    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }

    /// Appends the low octets of a number, the highest first.
    private static func append(_ number: UInt64, octets: Int, to output: inout [UInt8]) {
        for place in stride(from: (octets - 1) * 8, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: number >> UInt64(place)))
        }
    }
}
