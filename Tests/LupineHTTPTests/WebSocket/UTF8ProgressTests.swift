// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTestKit
import Testing

/// Tests of the validation of text in pieces, compared with the standard library's validation of the whole.
@Suite struct UTF8ProgressTests {
    /// Returns the index of the first invalid octet, nil if there is none, and true if the text ends between characters.
    private func fault(in octets: [UInt8], cutAt cut: Int) -> (fault: Int?, ends: Bool) {
        var progress = UTF8Progress()
        let before = octets[..<cut]
        let behind = octets[cut...]
        if let fault = progress.validate(before.span) { return (fault, false) }
        if let fault = progress.validate(behind.span) { return (fault + cut, false) }
        return (nil, progress.isBetweenCharacters)
    }

    /// Returns whether the validation of the octets is correct at every cut.
    private func isJudgedRight(_ octets: [UInt8]) -> Bool {
        let isText = String(validating: octets, as: UTF8.self) != nil
        let (whole, ends) = fault(in: octets, cutAt: 0)
        guard (whole == nil && ends) == isText else { return false }
        for cut in 0...octets.count {
            let split = fault(in: octets, cutAt: cut)
            guard split.fault == whole, split.ends == ends else { return false }
        }
        guard let whole else { return true }
        // The octets before the fault can be completed to valid text, and those up to it cannot: the fault is reported as early
        // as possible.
        return canBeText(Array(octets[..<whole])) && !canBeText(Array(octets[...whole]))
    }

    private func canBeText(_ octets: [UInt8]) -> Bool {
        let ends: [[UInt8]] = [
            [], [0x80], [0xBF], [0x80, 0x80], [0xBF, 0x80], [0x80, 0x80, 0x80], [0xBF, 0x80, 0x80],
        ]
        return ends.contains { String(validating: octets + $0, as: UTF8.self) != nil }
    }

    @Test func everyPairOfOctets() {
        let pairs = (0...UInt16.max).map { [UInt8($0 >> 8), UInt8($0 & 255)] }
        #expect(pairs.filter { !isJudgedRight($0) }.isEmpty)
    }

    @Test func everyEdgeOfThreeAndFour() {
        let edges: [UInt8] = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]
        var wrong: [[UInt8]] = []
        for first in [0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5] as [UInt8] {
            for second in edges {
                for third in edges {
                    let runs = [[first, second, third]] + edges.map { [first, second, third, $0] }
                    wrong += runs.filter { !isJudgedRight($0) }
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
        #expect(isJudgedRight(octets), "\(octets)")
        octets[Int.random(in: octets.indices, using: &random)] = UInt8(truncatingIfNeeded: random.next())
        #expect(isJudgedRight(octets), "\(octets)")
    }
}
