// SPDX-License-Identifier: MIT

/// Removes from untrusted text everything that would control the terminal. No other code decides what a terminal receives.
///
/// Control characters (C0, DEL, C1) are shown as `\u{1b}`, as are those that change the text direction (U+202A to U+202E, U+2066
/// to U+2069); octets that are not UTF-8 are shown as `\x9b`. Tabs are kept, and line ends if `keepsLines`. A terminal that does
/// not use UTF-8 interprets the octets 80 to 9F as controls wherever they are, so characters that contain one are shown as
/// escapes.
///
/// The input may be split anywhere. The output is at most six times as long.
struct TerminalFilter: Sendable {
    private let keepsLines: Bool
    private let readsUTF8: Bool
    /// The start of an incomplete character, at most three octets.
    private var incomplete: [UInt8] = []
    /// The octets that the incomplete character still needs.
    private var missing = 0
    /// Whether a carriage return is held back, which is passed through only if a line feed follows.
    private var holdsCarriageReturn = false

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

    /// Whether a scalar is plain text for every terminal that uses UTF-8.
    static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09: true
        case 0x00..<0x20, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: false
        default: true
        }
    }

    /// Filters the next octet, and appends what can be shown so far to the result.
    mutating func append(_ octet: UInt8, to result: inout [UInt8]) {
        if holdsCarriageReturn {
            holdsCarriageReturn = false
            if octet == 0x0A {
                result += [0x0D, 0x0A]
                return
            }
            Self.show(0x0D, into: &result)
        }
        guard missing > 0 else { return beginCharacter(octet, into: &result) }
        guard Self.continuesCharacter(octet, after: incomplete) else {
            showIncomplete(into: &result)
            return beginCharacter(octet, into: &result)
        }
        incomplete.append(octet)
        missing -= 1
        guard missing == 0 else { return }
        let scalar = Self.scalar(incomplete)
        let hasNoControls = readsUTF8 || !incomplete.contains { (0x80..<0xA0).contains($0) }
        if Self.isHarmless(scalar), hasNoControls {
            result += incomplete
        } else {
            Self.show(scalar.value, into: &result)
        }
        incomplete.removeAll(keepingCapacity: true)
    }

    /// Appends what is held back, at the end of the input.
    mutating func finish(to result: inout [UInt8]) {
        if holdsCarriageReturn { Self.show(0x0D, into: &result) }
        holdsCarriageReturn = false
        showIncomplete(into: &result)
    }

    /// Filters an octet that is the first of a character.
    private mutating func beginCharacter(_ octet: UInt8, into result: inout [UInt8]) {
        switch octet {
        case 0x0A where keepsLines, 0x09, 0x20..<0x7F: result.append(octet)
        case 0x0D where keepsLines: holdsCarriageReturn = true
        case 0x00..<0x80: Self.show(UInt32(octet), into: &result)
        case 0xC2...0xDF: (incomplete, missing) = ([octet], 1)
        case 0xE0...0xEF: (incomplete, missing) = ([octet], 2)
        case 0xF0...0xF4: (incomplete, missing) = ([octet], 3)
        default: showOctet(octet, into: &result)
        }
    }

    /// Appends escapes for the octets of an incomplete character.
    private mutating func showIncomplete(into result: inout [UInt8]) {
        for octet in incomplete { showOctet(octet, into: &result) }
        incomplete.removeAll(keepingCapacity: true)
        missing = 0
    }

    /// Whether an octet continues a character (Unicode, table 3-7: no surrogates, no overlong forms).
    private static func continuesCharacter(_ octet: UInt8, after incomplete: [UInt8]) -> Bool {
        switch (incomplete.count, incomplete.first) {
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
    private static func show(_ value: UInt32, into result: inout [UInt8]) {
        result += Array("\\u{\(String(value, radix: 16))}".utf8)
    }

    /// Appends an octet that is not UTF-8: unchanged if the terminal does not use UTF-8 and the octet is not a control character,
    /// else its escape.
    private func showOctet(_ octet: UInt8, into result: inout [UInt8]) {
        if !readsUTF8, octet >= 0xA0 {
            result.append(octet)
        } else {
            result += Array("\\x\(String(octet, radix: 16))".utf8)
        }
    }
}
