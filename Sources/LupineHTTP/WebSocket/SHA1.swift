// SPDX-License-Identifier: MIT

/// SHA-1 (FIPS 180-4 §6.1), for `Sec-WebSocket-Accept` only.
///
/// RFC 6455 uses SHA-1 only to show that a server has understood the handshake: an attacker gains nothing from a collision. With
/// an implementation of its own the module needs no imports, and works where the policy of OpenSSL forbids SHA-1.
enum SHA1 {
    /// Returns the 20 octets of the hash.
    static func digest(_ message: Span<UInt8>) -> [UInt8] {
        // Pads the message to blocks of 64 octets (§5.1.1): a bit 1, zeros, and in the last 8 octets the length in bits.
        var padded: [UInt8] = []
        padded.append(message, 0..<message.count)
        padded.append(0x80)
        while padded.count % 64 != 56 { padded.append(0) }
        append(UInt64(message.count) &* 8, octets: 8, to: &padded)

        // The initial hash value (§5.3.1).
        var state: InlineArray<5, UInt32> = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for start in stride(from: 0, to: padded.count, by: 64) {
            mix(padded.span.extracting(start..<(start + 64)), into: &state)
        }
        var digest: [UInt8] = []
        for index in state.indices { append(UInt64(state[index]), octets: 4, to: &digest) }
        return digest
    }

    /// Mixes one block of 64 octets into the state (§6.1.2). The variables `a` to `e` have the names of the standard.
    private static func mix(_ block: Span<UInt8>, into state: inout InlineArray<5, UInt32>) {
        // The message schedule: the block as 16 words in network byte order, and 64 words computed from them.
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
            // The function f and the constant K of the standard.
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

    /// Returns a word rotated left by `count` bits.
    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }

    /// Appends the lowest `octets` octets of a number in network byte order.
    private static func append(_ number: UInt64, octets: Int, to output: inout [UInt8]) {
        for shift in stride(from: (octets - 1) * 8, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }
}
