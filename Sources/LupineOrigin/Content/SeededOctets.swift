// SPDX-License-Identifier: MIT

/// Generates pseudo-random octets that depend on the seed only (SplitMix64).
struct SeededOctets {
    private var state: UInt64
    private var word: UInt64 = 0
    private var left = 0

    /// Creates a generator.
    init(seed: UInt64) { state = seed }

    mutating func append(_ count: Int, to output: inout [UInt8]) {
        // Appending nothing to an empty array would write to the storage that all empty arrays share.
        guard count > 0 else { return }
        output.append(addingCapacity: count) { free in
            for _ in 0..<count { free.append(next()) }
        }
    }

    @inline(__always)
    private mutating func next() -> UInt8 {
        if left == 0 {
            state &+= 0x9e37_79b9_7f4a_7c15
            word = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
            word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
            word ^= word >> 31
            left = 8
        }
        let octet = UInt8(truncatingIfNeeded: word)
        word >>= 8
        left -= 1
        return octet
    }
}
