// SPDX-License-Identifier: MIT

/// Replaces everything in untrusted text that would control the terminal with escapes. No other code decides what a terminal
/// receives.
///
/// Control characters (C0, DEL, C1) are shown like `\u{1b}`, as are those that change the text direction (U+202A to U+202E,
/// U+2066 to U+2069). Octets that are not UTF-8 are shown like `\x9b`. Tabs are kept, and line ends if `keepsLines` is true.
///
/// A terminal that does not use UTF-8 interprets the octets 80 to 9F as controls wherever they are. For such a terminal
/// (`readsUTF8` is false), characters that contain one of these octets are shown as escapes.
///
/// The input may be split anywhere. The output is at most six times as long.
struct TerminalFilter: Sendable {
    private let keepsLines: Bool
    private let readsUTF8: Bool
    /// The first octets of a character that is not complete yet, at most three.
    private var partialCharacter: [UInt8] = []
    /// The number of octets that the partial character still needs.
    private var missingCount = 0
    /// Whether the last octet was a carriage return. The next octet decides how a carriage return is shown: before a line feed it
    /// is kept, before any other octet it becomes an escape.
    private var hasPendingCarriageReturn = false

    init(keepsLines: Bool, readsUTF8: Bool = true) {
        self.keepsLines = keepsLines
        self.readsUTF8 = readsUTF8
    }

    /// Returns text as one line that is safe to show.
    static func line(_ text: String) -> String {
        var filter = TerminalFilter(keepsLines: false)
        var result: [UInt8] = []
        for octet in text.utf8 { filter.append(octet, to: &result) }
        filter.finish(to: &result)
        return String(decoding: result, as: UTF8.self)
    }

    /// Whether a scalar is plain text for every terminal that uses UTF-8: a tab, or no control character and no change of the
    /// text direction.
    static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09: true
        case 0x00..<0x20, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: false
        default: true
        }
    }

    /// Filters the next octet, and appends what can be shown so far to the result.
    mutating func append(_ octet: UInt8, to result: inout [UInt8]) {
        if hasPendingCarriageReturn {
            hasPendingCarriageReturn = false
            if octet == 0x0A {
                result += [0x0D, 0x0A]
                return
            }
            Self.appendEscape(for: 0x0D, to: &result)
        }
        guard missingCount > 0 else { return beginCharacter(octet, to: &result) }
        guard Self.continuesCharacter(octet, after: partialCharacter) else {
            appendPartialCharacter(to: &result)
            return beginCharacter(octet, to: &result)
        }
        partialCharacter.append(octet)
        missingCount -= 1
        guard missingCount == 0 else { return }
        let scalar = Self.scalar(partialCharacter)
        let hasNoControls = readsUTF8 || !partialCharacter.contains { (0x80..<0xA0).contains($0) }
        if Self.isHarmless(scalar), hasNoControls {
            result += partialCharacter
        } else {
            Self.appendEscape(for: scalar.value, to: &result)
        }
        partialCharacter.removeAll(keepingCapacity: true)
    }

    /// Appends the pending carriage return and the partial character as escapes, at the end of the input.
    mutating func finish(to result: inout [UInt8]) {
        if hasPendingCarriageReturn { Self.appendEscape(for: 0x0D, to: &result) }
        hasPendingCarriageReturn = false
        appendPartialCharacter(to: &result)
    }

    /// Filters an octet that is the first of a character (0A is a line feed, 09 a tab, 0D a carriage return).
    private mutating func beginCharacter(_ octet: UInt8, to result: inout [UInt8]) {
        // The first octet of a character says how many octets follow.
        switch octet {
        case 0x0A where keepsLines, 0x09, 0x20..<0x7F: result.append(octet)
        case 0x0D where keepsLines: hasPendingCarriageReturn = true
        case 0x00..<0x80: Self.appendEscape(for: UInt32(octet), to: &result)
        case 0xC2...0xDF: (partialCharacter, missingCount) = ([octet], 1)
        case 0xE0...0xEF: (partialCharacter, missingCount) = ([octet], 2)
        case 0xF0...0xF4: (partialCharacter, missingCount) = ([octet], 3)
        default: appendInvalidOctet(octet, to: &result)
        }
    }

    /// Appends escapes for the octets of the partial character, if there is one.
    private mutating func appendPartialCharacter(to result: inout [UInt8]) {
        for octet in partialCharacter { appendInvalidOctet(octet, to: &result) }
        partialCharacter.removeAll(keepingCapacity: true)
        missingCount = 0
    }

    /// Whether an octet continues a character. The ranges are those of the Unicode Standard, table 3-7, which excludes surrogates
    /// and overlong forms.
    private static func continuesCharacter(_ octet: UInt8, after partialCharacter: [UInt8]) -> Bool {
        switch (partialCharacter.count, partialCharacter.first) {
        case (1, 0xE0): (0xA0...0xBF).contains(octet)
        case (1, 0xED): (0x80...0x9F).contains(octet)
        case (1, 0xF0): (0x90...0xBF).contains(octet)
        case (1, 0xF4): (0x80...0x8F).contains(octet)
        default: (0x80...0xBF).contains(octet)
        }
    }

    /// Decodes the octets of one character.
    private static func scalar(_ octets: [UInt8]) -> Unicode.Scalar {
        String(decoding: octets, as: UTF8.self).unicodeScalars.first ?? "\u{FFFD}"
    }

    /// Appends the escape for a Unicode scalar.
    private static func appendEscape(for value: UInt32, to result: inout [UInt8]) {
        result += Array("\\u{\(String(value, radix: 16))}".utf8)
    }

    /// Appends an octet that is not UTF-8: unchanged if the terminal does not use UTF-8 and the octet is not a control character,
    /// else its escape.
    private func appendInvalidOctet(_ octet: UInt8, to result: inout [UInt8]) {
        if !readsUTF8, octet >= 0xA0 {
            result.append(octet)
        } else {
            result += Array("\\x\(String(octet, radix: 16))".utf8)
        }
    }
}
