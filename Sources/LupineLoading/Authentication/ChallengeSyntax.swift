// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// One challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field: a scheme with its parameters (RFC 9110 §11.2).
package struct ChallengeSyntax: Hashable, Sendable {
    /// The scheme in lower case.
    package let scheme: String
    /// The parameters in order, with names in lower case and values unquoted.
    package let parameters: [(name: String, value: String)]
    /// The token68 in place of parameters (RFC 9110 §11.2), for example after `Negotiate`.
    package let token68: String?

    /// The value of the first parameter with this name; nil for none. The name must be in lower case.
    package subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    package static func == (left: ChallengeSyntax, right: ChallengeSyntax) -> Bool {
        left.scheme == right.scheme && left.token68 == right.token68
            && left.parameters.elementsEqual(right.parameters) { $0.name == $1.name && $0.value == $1.value }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        hasher.combine(token68)
        for parameter in parameters {
            hasher.combine(parameter.name)
            hasher.combine(parameter.value)
        }
    }

    /// Parses the challenges of all lines, in order (U-11.3).
    ///
    /// Commas separate both challenges and parameters: a token after a comma is the name of a parameter if an equals sign follows
    /// it; otherwise it begins a challenge. Skips malformed input up to the next comma. Returns at most `maxChallenges`
    /// challenges with as many parameters each.
    package static func parse(_ lines: [String]) -> [ChallengeSyntax] {
        var challenges: [ChallengeSyntax] = []
        for line in lines where challenges.count < maxChallenges {
            var reader = Reader(octets: Array(line.utf8))
            challenges += reader.challenges(upTo: maxChallenges - challenges.count)
        }
        return challenges
    }

    /// The most challenges of a field, and the most parameters of a challenge. Limits the memory and time that a response can
    /// cost: a parsed challenge or parameter takes far more than its octets.
    private static let maxChallenges = 64

    /// Reads the challenges of one line.
    private struct Reader {
        let octets: [UInt8]
        /// The index of the next octet to read.
        var index = 0

        init(octets: [UInt8]) { self.octets = octets }

        /// The octet at `index`; nil at the end of the line.
        private var current: UInt8? { index < octets.count ? octets[index] : nil }

        /// Parses the challenges of the line; returns at most `limit`.
        mutating func challenges(upTo limit: Int) -> [ChallengeSyntax] {
            var challenges: [ChallengeSyntax] = []
            while challenges.count < limit {
                skip { $0 == UInt8(ascii: ",") || Self.isBlank($0) }
                guard index < octets.count else { return challenges }
                guard let scheme = token() else {
                    skipToComma()
                    continue
                }
                challenges.append(challenge(of: scheme.lowercased()))
            }
            return challenges
        }

        /// Parses the token68 or the parameters of a challenge, whose scheme the caller has read.
        private mutating func challenge(of scheme: String) -> ChallengeSyntax {
            var parameters: [(name: String, value: String)] = []
            // Without a blank after the scheme there are no parameters.
            guard let octet = current, Self.isBlank(octet) else {
                return ChallengeSyntax(scheme: scheme, parameters: [], token68: nil)
            }
            skip(Self.isBlank)
            if let text = token68() { return ChallengeSyntax(scheme: scheme, parameters: [], token68: text) }
            while true {
                let start = index
                skip { $0 == UInt8(ascii: ",") || Self.isBlank($0) }
                guard index < octets.count else { break }
                guard let name = token() else {
                    skipToComma()
                    continue
                }
                skip(Self.isBlank)
                guard current == UInt8(ascii: "=") else {
                    // The token is a scheme, with which the next challenge begins; the caller reads it again.
                    index = start
                    break
                }
                index += 1
                skip(Self.isBlank)
                let value = value()
                if parameters.count < maxChallenges { parameters.append((name.lowercased(), value)) }
            }
            return ChallengeSyntax(scheme: scheme, parameters: parameters, token68: nil)
        }

        /// Reads a token68 if the challenge ends after it; otherwise returns nil and reads nothing. A parameter looks like a
        /// token68 up to its `=`, but has a value after it.
        private mutating func token68() -> String? {
            var end = index
            while end < octets.count, Self.isToken68(octets[end]) { end += 1 }
            guard end > index else { return nil }
            let start = index
            // Skips the padding.
            while end < octets.count, octets[end] == UInt8(ascii: "=") { end += 1 }
            var afterBlanks = end
            while afterBlanks < octets.count, Self.isBlank(octets[afterBlanks]) { afterBlanks += 1 }
            guard afterBlanks == octets.count || octets[afterBlanks] == UInt8(ascii: ",") else { return nil }
            index = afterBlanks
            return text(start..<end)
        }

        /// Reads a token; nil if there is none.
        private mutating func token() -> String? {
            let start = index
            skip(Self.isToken)
            return index > start ? text(start..<index) : nil
        }

        /// Reads a quoted string, or everything up to the next comma or blank.
        private mutating func value() -> String {
            guard current == UInt8(ascii: "\"") else {
                let start = index
                skip { $0 != UInt8(ascii: ",") && !Self.isBlank($0) }
                return text(start..<index)
            }
            index += 1
            var value: [UInt8] = []
            while let octet = current, octet != UInt8(ascii: "\"") {
                // A backslash stands for the octet after it.
                if octet == UInt8(ascii: "\\"), index + 1 < octets.count { index += 1 }
                value.append(octets[index])
                index += 1
            }
            if current == UInt8(ascii: "\"") { index += 1 }
            return value.span.text(0..<value.count)
        }

        /// Skips malformed input up to the next comma outside of a quoted string.
        private mutating func skipToComma() {
            var isQuoted = false
            while let octet = current, isQuoted || octet != UInt8(ascii: ",") {
                if octet == UInt8(ascii: "\"") { isQuoted.toggle() }
                // Skips the octet after a backslash too. At the end of the line the index may get too large.
                if octet == UInt8(ascii: "\\"), isQuoted { index += 1 }
                index += 1
            }
            index = min(index, octets.count)
        }

        /// Skips the octets up to the first that does not satisfy `isSkipped`.
        private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
            while let octet = current, isSkipped(octet) { index += 1 }
        }

        /// Returns the octets in a range as a text.
        private func text(_ range: Range<Int>) -> String { octets.span.text(range) }

        /// Whether the octet is a space or a tab.
        private static func isBlank(_ octet: UInt8) -> Bool {
            octet == UInt8(ascii: " ") || octet == UInt8(ascii: "\t")
        }

        /// Whether a `token` may contain the octet: digits, letters, and the characters ! # $ % & ' * + - . ^ _ ` | ~ (RFC
        /// 9110 §5.6.2).
        private static func isToken(_ octet: UInt8) -> Bool {
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
            default: false
            }
        }

        /// Whether a token68 may contain the octet before its `=`: digits, letters, and `- . _ ~ + /`.
        private static func isToken68(_ octet: UInt8) -> Bool {
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case 0x2D, 0x2E, 0x5F, 0x7E, 0x2B, 0x2F: true
            default: false
            }
        }
    }
}
