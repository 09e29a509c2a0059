// SPDX-License-Identifier: MIT

import Testing

/// Conversions of octets for tests.
enum Octets {
    /// Returns the octets of a hexadecimal text. Ignores all characters that are not digits.
    static func hex(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    static func text(_ octets: some Sequence<UInt8>) -> String {
        String(decoding: Array(octets), as: UTF8.self)
    }
}

/// A random number generator (SplitMix64) whose numbers depend only on its seed.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
