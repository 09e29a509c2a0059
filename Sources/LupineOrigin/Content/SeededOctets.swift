// SPDX-License-Identifier: MIT

/// Generates pseudo-random octets that depend on the seed only (SplitMix64).
struct SeededOctets {
    private var state: UInt64
    /// The last generated number, shifted right so that its next unused octet is the lowest.
    private var word: UInt64 = 0
    /// The number of octets of `word` that have not been returned.
    private var unusedOctets = 0

    /// Creates a generator.
    init(seed: UInt64) { state = seed }

    /// Appends the next `count` octets.
    mutating func append(_ count: Int, to output: inout [UInt8]) {
        // Appending nothing to an empty array would write to the storage that all empty arrays share.
        guard count > 0 else { return }
        output.append(addingCapacity: count) { free in
            for _ in 0..<count { free.append(nextOctet()) }
        }
    }

    @inline(__always)
    private mutating func nextOctet() -> UInt8 {
        if unusedOctets == 0 {
            // The constants of SplitMix64.
            state &+= 0x9e37_79b9_7f4a_7c15
            word = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
            word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
            word ^= word >> 31
            unusedOctets = 8
        }
        let octet = UInt8(truncatingIfNeeded: word)
        word >>= 8
        unusedOctets -= 1
        return octet
    }
}
