// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Validates a JSON document (RFC 8259) without creating values, because the echo endpoints repeat a document unchanged.
///
/// The `parse` methods consume their production and return whether it is valid.
struct JSONSyntax {
    private static let maximumDepth = 64

    private let bytes: [UInt8]
    private var index = 0

    /// Returns whether `bytes` are exactly one document, nested less deeply than the limit.
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
        while let octet = nextOctet, [0x20, 0x09, 0x0a, 0x0d].contains(octet) { index += 1 }
    }

    private mutating func consume(_ octet: UInt8) -> Bool {
        guard nextOctet == octet else { return false }
        index += 1
        return true
    }

    private mutating func consume(word: StaticString) -> Bool {
        for octet in word.description.utf8 {
            guard consume(octet) else { return false }
        }
        return true
    }

    private mutating func parseValue(depth: Int) -> Bool {
        guard depth < Self.maximumDepth, let octet = nextOctet else { return false }
        switch octet {
        case UInt8(ascii: "{"): return parseList(to: UInt8(ascii: "}"), depth, named: true)
        case UInt8(ascii: "["): return parseList(to: UInt8(ascii: "]"), depth, named: false)
        case UInt8(ascii: "\""): return parseString()
        case UInt8(ascii: "t"): return consume(word: "true")
        case UInt8(ascii: "f"): return consume(word: "false")
        case UInt8(ascii: "n"): return consume(word: "null")
        default: return parseNumber()
        }
    }

    /// Consumes an object or an array, which ends with `close`. `named`: the elements are the members of an object.
    private mutating func parseList(to close: UInt8, _ depth: Int, named: Bool) -> Bool {
        index += 1
        skipWhitespace()
        if consume(close) { return true }
        while true {
            skipWhitespace()
            if named {
                guard nextOctet == UInt8(ascii: "\""), parseString() else { return false }
                skipWhitespace()
                guard consume(UInt8(ascii: ":")) else { return false }
                skipWhitespace()
            }
            guard parseValue(depth: depth + 1) else { return false }
            skipWhitespace()
            if consume(close) { return true }
            guard consume(UInt8(ascii: ",")) else { return false }
        }
    }

    private mutating func parseString() -> Bool {
        index += 1
        while let octet = nextOctet {
            index += 1
            switch octet {
            case UInt8(ascii: "\""): return true
            case 0..<0x20: return false
            case UInt8(ascii: "\\"):
                guard let escaped = nextOctet else { return false }
                index += 1
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

    private mutating func parseDigits() -> Bool {
        let start = index
        while let octet = nextOctet, (0x30...0x39).contains(octet) { index += 1 }
        return index > start
    }

    private mutating func parseNumber() -> Bool {
        _ = consume(UInt8(ascii: "-"))
        if !consume(UInt8(ascii: "0")), !parseDigits() { return false }
        if consume(UInt8(ascii: ".")), !parseDigits() { return false }
        if consume(UInt8(ascii: "e")) || consume(UInt8(ascii: "E")) {
            if !consume(UInt8(ascii: "+")) { _ = consume(UInt8(ascii: "-")) }
            return parseDigits()
        }
        return true
    }
}
