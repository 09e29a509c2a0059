// SPDX-License-Identifier: MIT

/// Cuts one JSON value into its tokens, checking the grammar (RFC 8259) as it goes; what it gives are ranges of the input.
///
/// Nesting is limited, so that hostile input costs no more than its length.
struct JSONScanner {
    /// A piece of the value.
    enum Token: Hashable {
        case open(UInt8)
        case close(UInt8)
        case comma
        case colon
        case name(Range<Int>)
        case string(Range<Int>)
        case number(Range<Int>)
        case word(Range<Int>)
        /// It is no JSON, or has something behind its value.
        case broken
    }

    private enum Expectation { case value, valueOrEnd, name, nameOrEnd, colon, commaOrEnd, end }

    static let deepest = 512
    private let bytes: [UInt8]
    private var place = 0
    private var stack: [UInt8] = []
    private var expectation = Expectation.value

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next token; nil behind the last.
    mutating func next() -> Token? {
        while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
        guard place < bytes.count else {
            if expectation == .end { return nil }
            expectation = .end
            return .broken
        }
        let byte = bytes[place]
        switch (byte, expectation) {
        case (0x7B, .value), (0x7B, .valueOrEnd), (0x5B, .value), (0x5B, .valueOrEnd):
            guard stack.count < Self.deepest else { return fail() }
            stack.append(byte)
            expectation = byte == 0x7B ? .nameOrEnd : .valueOrEnd
            place += 1
            return .open(byte)
        case (0x7D, .nameOrEnd), (0x7D, .commaOrEnd), (0x5D, .valueOrEnd), (0x5D, .commaOrEnd):
            guard stack.last == byte - 2 else { return fail() }
            stack.removeLast()
            place += 1
            closeValue()
            return .close(byte)
        case (0x2C, .commaOrEnd):
            expectation = stack.last == 0x7B ? .name : .value
            place += 1
            return .comma
        case (0x3A, .colon):
            expectation = .value
            place += 1
            return .colon
        case (0x22, .name), (0x22, .nameOrEnd):
            guard let range = string() else { return fail() }
            expectation = .colon
            return .name(range)
        case (_, .value), (_, .valueOrEnd): return scalar(byte)
        default: return fail()
        }
    }

    private mutating func scalar(_ byte: UInt8) -> Token {
        let token: Token
        switch byte {
        case 0x22:
            guard let range = string() else { return fail() }
            token = .string(range)
        case 0x2D, 0x30...0x39:
            guard let range = number() else { return fail() }
            token = .number(range)
        default:
            guard let range = word() else { return fail() }
            token = .word(range)
        }
        closeValue()
        return token
    }

    private mutating func closeValue() { expectation = stack.isEmpty ? .end : .commaOrEnd }

    private mutating func fail() -> Token {
        place = bytes.count
        expectation = .end
        return .broken
    }

    private mutating func string() -> Range<Int>? {
        let start = place
        place += 1
        while place < bytes.count {
            switch bytes[place] {
            case 0x22:
                place += 1
                return start..<place
            case 0x5C:
                guard place + 1 < bytes.count else { return nil }
                let escape = bytes[place + 1]
                if escape == 0x75 {
                    guard place + 6 <= bytes.count,
                        bytes[(place + 2)..<(place + 6)].allSatisfy(Self.isHexadecimal)
                    else { return nil }
                    place += 6
                } else if [0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74].contains(escape) {
                    place += 2
                } else {
                    return nil
                }
            case ..<0x20: return nil
            default: place += 1
            }
        }
        return nil
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    private mutating func number() -> Range<Int>? {
        let start = place
        if bytes[place] == 0x2D { place += 1 }
        if place < bytes.count, bytes[place] == 0x30 {
            place += 1
        } else {
            guard digits() else { return nil }
        }
        if place < bytes.count, bytes[place] == 0x2E {
            place += 1
            guard digits() else { return nil }
        }
        if place < bytes.count, bytes[place] | 0x20 == 0x65 {
            place += 1
            if place < bytes.count, bytes[place] == 0x2B || bytes[place] == 0x2D { place += 1 }
            guard digits() else { return nil }
        }
        return start..<place
    }

    private mutating func digits() -> Bool {
        let start = place
        while place < bytes.count, (0x30...0x39).contains(bytes[place]) { place += 1 }
        return place > start
    }

    private mutating func word() -> Range<Int>? {
        for word in ["true", "false", "null"] where bytes[place...].starts(with: word.utf8) {
            let range = place..<(place + word.utf8.count)
            place = range.upperBound
            return range
        }
        return nil
    }
}
