// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP2

/// Compares `NumbersByHash` with a dictionary, in seeded random steps.
@Suite struct NumbersByHashTests {
    @Test(
        "numbers are found and removed as in a dictionary, however many hash to one slot",
        arguments: [3, 64, 1 << 20, .max] as [UInt64])
    func behavesLikeADictionary(_ hashes: UInt64) {
        var random = SeededNumbers(seed: hashes)
        var numbers = NumbersByHash()
        var expected: [UInt64: Int] = [:]
        for step in 0..<5_000 {
            // Multiples of a large power of two all hash to slot 0.
            let hash = random.next() % hashes &* (hashes == 64 ? 1 << 32 : 1)
            switch random.next() % 4 {
            case 0, 1:
                numbers.set(step, for: hash)
                expected[hash] = step
            case 2:
                #expect(numbers.remove(hash) == expected.removeValue(forKey: hash))
            default:
                if let known = expected.keys.randomElement(using: &random) {
                    numbers.remove(known)
                    expected[known] = nil
                }
            }
            #expect(numbers[hash] == expected[hash] && numbers.count == expected.count)
        }
        #expect(numbers.hashes.sorted() == expected.keys.sorted())
        for (hash, number) in expected { #expect(numbers[hash] == number) }
    }
}
