// SPDX-License-Identifier: MIT

/// A document that is the same in every run: a list of records like an API's response, in which words, numbers and names repeat
/// about as often as in real ones.
struct SampleDocument {
    let plain: [UInt8]
    let gzip: [UInt8]
    let brotli: [UInt8]

    /// Makes at least `size` bytes of JSON, and its two compressed forms (gzip level 6, brotli quality 5).
    init(size: Int) throws(WrongResult) {
        var numbers = RandomNumbers()
        let words = (0..<600).map { _ in Self.word(&numbers) }
        var bytes = Array("[\n".utf8)
        bytes.reserveCapacity(size + 1024)
        while bytes.count < size - 2 {
            if bytes.count > 2 { bytes += Array(",\n".utf8) }
            bytes += Array(Self.record(&numbers, words).utf8)
        }
        bytes += Array("\n]".utf8)
        plain = bytes
        gzip = try Self.checked(CodingLoops.gzip(bytes), "gzip encoder")
        brotli = try Self.checked(CodingLoops.brotli(bytes), "br encoder")
    }

    private static func record(_ numbers: inout RandomNumbers, _ words: [String]) -> String {
        func word() -> String { words[min(numbers.below(words.count), numbers.below(words.count))] }
        let text = (0..<(8 + numbers.below(24))).map { _ in word() }.joined(separator: " ")
        let tags = (0..<numbers.below(4)).map { _ in "\"\(word())\"" }.joined(separator: ", ")
        return """
              {"id": \(numbers.below(10_000_000)), "name": "\(word()) \(word())", "active": \(numbers.below(2) == 0), \
            "score": \(numbers.below(1000)).\(numbers.below(100)), "created": "2026-0\(1 + numbers.below(9))-1\
            \(numbers.below(10))T0\(numbers.below(10)):4\(numbers.below(10)):00Z", "tags": [\(tags)], "text": "\(text)"}
            """
    }

    private static func word(_ numbers: inout RandomNumbers) -> String {
        let letters = Array("etaoinshrdlucmfwypvbgkjqxz")
        return String(
            (0..<(2 + numbers.below(9))).map { _ in letters[min(numbers.below(26), numbers.below(26))] })
    }

    private static func checked(_ packed: [UInt8], _ name: String) throws(WrongResult) -> [UInt8] {
        if packed.isEmpty { throw WrongResult(entry: name, expected: 1, actual: 0) }
        return packed
    }
}

/// A xorshift generator with a fixed seed, so that documents are equal on every machine.
private struct RandomNumbers {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Returns a number from 0 to `bound`, exclusive.
    mutating func below(_ bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state >> 33) % bound
    }
}
