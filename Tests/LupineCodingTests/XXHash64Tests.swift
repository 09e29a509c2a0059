// SPDX-License-Identifier: MIT

import LupineCoding
import Testing

/// Tests of the hash that the cache uses as a checksum.
struct XXHash64Tests {
    private static func hash(_ octets: [UInt8]) -> UInt64 { XXHash64.hash(of: octets.span) }

    @Test(
        "known hashes",
        arguments: [
            ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
            ("01234567", 0xE4BA_22A4_9AD8_9D3F), ("12345678901234567890", 0xEBAB_9F9F_8B4A_E622),
            ("I want an unsigned 64-bit seed!", 0xD4CB_0A70_A2B8_C7C1),
            ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
            (
                "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                    + "0123456789abcdefghijklmnopqrstuvwxyz", 0xD456_28A4_9882_41CD
            ),
        ] as [(String, UInt64)])
    func knownHashes(_ text: String, _ hash: UInt64) {
        #expect(Self.hash(Array(text.utf8)) == hash)
    }

    @Test("a change of one bit, of the length or of the order changes the hash")
    func changes() {
        // The lengths differ in the number of stripes, of whole words and of single octets.
        for length in [1, 3, 4, 7, 8, 12, 31, 32, 33, 63, 64, 100] {
            let octets = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
            var hashes: Set<UInt64> = [Self.hash(octets)]
            for index in octets.indices {
                for bit in 0..<8 {
                    var changed = octets
                    changed[index] ^= 1 << bit
                    hashes.insert(Self.hash(changed))
                }
            }
            hashes.insert(Self.hash(octets + [0]))
            hashes.insert(Self.hash(octets.dropLast()))
            #expect(hashes.count == length * 8 + 3, "\(length)")
        }
        let words = (0..<64).map { UInt8($0) }
        #expect(Self.hash(words) != Self.hash(Array(words[32...] + words[..<32])))
    }
}
