// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTestKit
import Testing

/// Tests of the validation of text in pieces, compared with the standard library's validation of the whole.
@Suite struct UTF8ValidatorTests {
    /// Returns the index of the first invalid octet, if there is one, and whether the text ends between characters.
    private func validate(_ octets: [UInt8], cutAt cut: Int) -> (fault: Int?, isComplete: Bool) {
        var progress = UTF8Validator()
        let before = octets[..<cut]
        let after = octets[cut...]
        if let fault = progress.validate(before.span) { return (fault, false) }
        if let fault = progress.validate(after.span) { return (fault + cut, false) }
        return (nil, progress.isBetweenCharacters)
    }

    /// Whether `UTF8Validator` validates the octets as the standard library does, wherever they are cut.
    private func isValidatedCorrectly(_ octets: [UInt8]) -> Bool {
        let isText = String(validating: octets, as: UTF8.self) != nil
        let (fault, isComplete) = validate(octets, cutAt: 0)
        guard (fault == nil && isComplete) == isText else { return false }
        for cut in 0...octets.count {
            let split = validate(octets, cutAt: cut)
            guard split.fault == fault, split.isComplete == isComplete else { return false }
        }
        guard let fault else { return true }
        // The fault is reported as early as possible: the octets before it can begin a valid text; with it, they cannot.
        return canBeginText(Array(octets[..<fault])) && !canBeginText(Array(octets[...fault]))
    }

    private func canBeginText(_ octets: [UInt8]) -> Bool {
        let completions: [[UInt8]] = [
            [], [0x80], [0xBF], [0x80, 0x80], [0xBF, 0x80], [0x80, 0x80, 0x80], [0xBF, 0x80, 0x80],
        ]
        return completions.contains { String(validating: octets + $0, as: UTF8.self) != nil }
    }

    @Test func everyPairOfOctets() {
        let pairs = (0...UInt16.max).map { [UInt8($0 >> 8), UInt8($0 & 255)] }
        #expect(pairs.filter { !isValidatedCorrectly($0) }.isEmpty)
    }

    @Test func everyBoundaryOfThreeAndFourOctets() {
        let boundaries: [UInt8] = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]
        var wrong: [[UInt8]] = []
        for first in [0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5] as [UInt8] {
            for second in boundaries {
                for third in boundaries {
                    let sequences = [[first, second, third]] + boundaries.map { [first, second, third, $0] }
                    wrong += sequences.filter { !isValidatedCorrectly($0) }
                }
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test(arguments: 0..<200) func textWithOneOctetChanged(_ seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let letters = Array("abcdefghijklmnop é€😀\u{0}\u{7F}\u{D7FF}\u{E000}")
        var text = ""
        for _ in 0..<Int.random(in: 1...30, using: &random) {
            text.append(letters[Int.random(in: letters.indices, using: &random)])
        }
        var octets = Array(text.utf8)
        #expect(isValidatedCorrectly(octets), "\(octets)")
        octets[Int.random(in: octets.indices, using: &random)] = UInt8(truncatingIfNeeded: random.next())
        #expect(isValidatedCorrectly(octets), "\(octets)")
    }
}
