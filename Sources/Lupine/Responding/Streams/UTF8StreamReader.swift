// SPDX-License-Identifier: MIT

import Foundation

/// Decodes UTF-8 from pieces that may end within a character. The concatenated results are equal to the text of the whole
/// stream decoded at once (RFC 3629).
struct UTF8StreamReader: DataStreamReader {
    /// The beginning of an incomplete character: at most three bytes.
    private var incompleteCharacter = Data()

    mutating func read(_ data: Data) -> [Result<String, any Error>] {
        let bytes = incompleteCharacter.isEmpty ? data : incompleteCharacter + data
        let incompleteCount = Self.incompleteByteCount(of: bytes)
        incompleteCharacter = Data(bytes.suffix(incompleteCount))
        return Self.results(of: bytes.dropLast(incompleteCount))
    }

    mutating func finish() -> [Result<String, any Error>] {
        defer { incompleteCharacter = Data() }
        return Self.results(of: incompleteCharacter)
    }

    /// Returns the text of the bytes as one result; no result if there are none.
    private static func results(of data: Data) -> [Result<String, any Error>] {
        data.isEmpty ? [] : [.success(String(decoding: data, as: UTF8.self))]
    }

    /// Returns the number of bytes at the end that belong to an incomplete character.
    private static func incompleteByteCount(of data: Data) -> Int {
        // Looks for the first byte of the last character. All bytes of a character except the first have the form 10xxxxxx.
        let tail = Array(data.suffix(3))
        for count in 1...3 where count <= tail.count {
            let leadByte = tail[tail.count - count]
            if leadByte & 0b1100_0000 == 0b1000_0000 { continue }
            return isIncomplete(tail.suffix(count)) ? count : 0
        }
        return 0
    }

    /// Whether these bytes, at most three, are the beginning of a valid character, but not a whole one. The first byte determines
    /// the length of the character. Some first bytes also restrict the second byte, if it has arrived (RFC 3629 §4).
    private static func isIncomplete(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let leadByte = bytes.first else { return false }
        let second = bytes.dropFirst().first
        switch leadByte {
        // Characters of two bytes.
        case 0xC2...0xDF: return bytes.count < 2
        // Characters of three bytes.
        case 0xE0: return bytes.count < 3 && second.map { $0 >= 0xA0 } ?? true
        case 0xED: return bytes.count < 3 && second.map { $0 < 0xA0 } ?? true
        case 0xE1...0xEF: return bytes.count < 3
        // Characters of four bytes. Three bytes are never a whole one.
        case 0xF0: return second.map { $0 >= 0x90 } ?? true
        case 0xF4: return second.map { $0 < 0x90 } ?? true
        case 0xF1...0xF3: return true
        default: return false
        }
    }
}
