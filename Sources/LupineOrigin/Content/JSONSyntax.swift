// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Validates a JSON document (RFC 8259) without creating values: the echo repeats a document unchanged.
struct JSONSyntax {
    private static let deepest = 64

    private let bytes: [UInt8]
    private var index = 0

    /// Returns whether `bytes` are exactly one document, nested less deeply than the limit.
    static func accepts(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        var syntax = JSONSyntax(bytes: bytes)
        syntax.skipBlanks()
        guard syntax.value(depth: 0) else { return false }
        syntax.skipBlanks()
        return syntax.index == bytes.count
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let octet = next, [0x20, 0x09, 0x0a, 0x0d].contains(octet) { index += 1 }
    }

    private mutating func take(_ octet: UInt8) -> Bool {
        guard next == octet else { return false }
        index += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        for octet in word.description.utf8 {
            guard take(octet) else { return false }
        }
        return true
    }

    private mutating func value(depth: Int) -> Bool {
        guard depth < Self.deepest, let octet = next else { return false }
        switch octet {
        case UInt8(ascii: "{"): return list(to: UInt8(ascii: "}"), depth, named: true)
        case UInt8(ascii: "["): return list(to: UInt8(ascii: "]"), depth, named: false)
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "t"): return take(word: "true")
        case UInt8(ascii: "f"): return take(word: "false")
        case UInt8(ascii: "n"): return take(word: "null")
        default: return number()
        }
    }

    /// Consumes an object or an array up to `close`. `named`: the elements are the members of an object.
    private mutating func list(to close: UInt8, _ depth: Int, named: Bool) -> Bool {
        index += 1
        skipBlanks()
        if take(close) { return true }
        while true {
            skipBlanks()
            if named {
                guard next == UInt8(ascii: "\""), string() else { return false }
                skipBlanks()
                guard take(UInt8(ascii: ":")) else { return false }
                skipBlanks()
            }
            guard value(depth: depth + 1) else { return false }
            skipBlanks()
            if take(close) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }

    private mutating func string() -> Bool {
        index += 1
        while let octet = next {
            index += 1
            switch octet {
            case UInt8(ascii: "\""): return true
            case 0..<0x20: return false
            case UInt8(ascii: "\\"):
                guard let escaped = next else { return false }
                index += 1
                if escaped == UInt8(ascii: "u") {
                    for _ in 0..<4 {
                        guard let digit = next, Octet.hexadecimal(digit) != nil else { return false }
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

    private mutating func digits() -> Bool {
        let start = index
        while let octet = next, (0x30...0x39).contains(octet) { index += 1 }
        return index > start
    }

    private mutating func number() -> Bool {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")), !digits() { return false }
        if take(UInt8(ascii: ".")), !digits() { return false }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            return digits()
        }
        return true
    }
}
