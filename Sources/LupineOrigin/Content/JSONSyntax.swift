// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Validates a JSON document (RFC 8259) without creating values, because the echo endpoints repeat a document unchanged.
///
/// Each `parse` method consumes one production of the grammar, and returns whether it is valid.
struct JSONSyntax {
    /// The maximum number of values that are nested in one another. It bounds the recursion.
    private static let maximumDepth = 64

    private let bytes: [UInt8]
    /// The index of the next octet to parse.
    private var index = 0

    /// Returns whether `bytes` are exactly one document, in UTF-8, whose nesting does not exceed `maximumDepth`.
    static func accepts(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        var syntax = JSONSyntax(bytes: bytes)
        syntax.skipWhitespace()
        guard syntax.parseValue(depth: 0) else { return false }
        syntax.skipWhitespace()
        return syntax.index == bytes.count
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var nextOctet: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipWhitespace() {
        // Space, tab, line feed, carriage return.
        while let octet = nextOctet, [0x20, 0x09, 0x0a, 0x0d].contains(octet) { index += 1 }
    }

    /// Consumes `octet` if it is next. Returns whether it was.
    private mutating func consume(_ octet: UInt8) -> Bool {
        guard nextOctet == octet else { return false }
        index += 1
        return true
    }

    /// Consumes a word such as `true`. Returns false if other octets follow.
    private mutating func consume(word: StaticString) -> Bool {
        for octet in word.description.utf8 {
            guard consume(octet) else { return false }
        }
        return true
    }

    private mutating func parseValue(depth: Int) -> Bool {
        guard depth < Self.maximumDepth, let octet = nextOctet else { return false }
        switch octet {
        case UInt8(ascii: "{"): return parseList(endingWith: UInt8(ascii: "}"), depth, isObject: true)
        case UInt8(ascii: "["): return parseList(endingWith: UInt8(ascii: "]"), depth, isObject: false)
        case UInt8(ascii: "\""): return parseString()
        case UInt8(ascii: "t"): return consume(word: "true")
        case UInt8(ascii: "f"): return consume(word: "false")
        case UInt8(ascii: "n"): return consume(word: "null")
        default: return parseNumber()
        }
    }

    /// Parses an object or an array, from its opening bracket to the closing bracket `bracket`.
    private mutating func parseList(endingWith bracket: UInt8, _ depth: Int, isObject: Bool) -> Bool {
        index += 1
        skipWhitespace()
        if consume(bracket) { return true }
        while true {
            skipWhitespace()
            if isObject {
                guard nextOctet == UInt8(ascii: "\""), parseString() else { return false }
                skipWhitespace()
                guard consume(UInt8(ascii: ":")) else { return false }
                skipWhitespace()
            }
            guard parseValue(depth: depth + 1) else { return false }
            skipWhitespace()
            if consume(bracket) { return true }
            guard consume(UInt8(ascii: ",")) else { return false }
        }
    }

    /// Parses a string from its opening quotation mark, which `nextOctet` is.
    private mutating func parseString() -> Bool {
        index += 1
        while let octet = nextOctet {
            index += 1
            switch octet {
            case UInt8(ascii: "\""): return true
            // A control character must be escaped.
            case 0..<0x20: return false
            case UInt8(ascii: "\\"):
                guard let escaped = nextOctet else { return false }
                index += 1
                // `\u` and four hexadecimal digits.
                if escaped == UInt8(ascii: "u") {
                    for _ in 0..<4 {
                        guard let digit = nextOctet, Octet.hexadecimal(digit) != nil else { return false }
                        index += 1
                    }
                } else if !"\"\\/bfnrt".utf8.contains(escaped) {
                    return false
                }
            default: break
            }
        }
        return false
    }

    /// Parses decimal digits. Returns false if there is none.
    private mutating func parseDigits() -> Bool {
        let start = index
        while let octet = nextOctet, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) { index += 1 }
        return index > start
    }

    private mutating func parseNumber() -> Bool {
        // The sign is optional.
        _ = consume(UInt8(ascii: "-"))
        // The integer is 0, or digits that do not begin with 0.
        if !consume(UInt8(ascii: "0")), !parseDigits() { return false }
        if consume(UInt8(ascii: ".")), !parseDigits() { return false }
        if consume(UInt8(ascii: "e")) || consume(UInt8(ascii: "E")) {
            // The exponent's sign is optional.
            if !consume(UInt8(ascii: "+")) { _ = consume(UInt8(ascii: "-")) }
            return parseDigits()
        }
        return true
    }
}
