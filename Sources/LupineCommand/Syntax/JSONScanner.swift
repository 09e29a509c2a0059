// SPDX-License-Identifier: MIT

/// Scans one JSON value (RFC 8259) octet by octet, checks the grammar, and classifies each octet.
///
/// It stores the open brackets, at most `deepest`, and none of the content.
struct JSONScanner: Sendable {
    /// The kind of a scalar.
    enum Kind: Hashable, Sendable { case name, string, number, word }

    /// The classification of an octet.
    enum Step: Hashable, Sendable {
        case blank, open, close, comma, colon
        /// A part of a scalar, its quotes included.
        case part(Kind)
        /// The first octet that violates the grammar, and every one after it.
        case broken
    }

    private enum Expectation { case value, valueOrEnd, name, nameOrEnd, colon, commaOrEnd, end }

    private enum State {
        case between
        case string(Kind)
        case escape(Kind)
        /// That many hexadecimal digits must follow.
        case hexadecimal(Kind, Int)
        case number(Number)
        /// The rest of `true`, `false` or `null`.
        case word(Substring.UTF8View)
        case broken
    }

    /// The position within a number.
    private enum Number {
        case sign, zero, whole, point, fraction, exponent, exponentSign, exponentDigits

        func next(_ octet: UInt8) -> Number? {
            let isDigit = (0x30...0x39).contains(octet)
            let isExponent = octet | 0x20 == 0x65
            switch self {
            case .sign: return isDigit ? (octet == 0x30 ? .zero : .whole) : nil
            case .zero: return octet == 0x2E ? .point : isExponent ? .exponent : nil
            case .whole: return isDigit ? .whole : octet == 0x2E ? .point : isExponent ? .exponent : nil
            case .point: return isDigit ? .fraction : nil
            case .fraction: return isDigit ? .fraction : isExponent ? .exponent : nil
            case .exponent:
                return isDigit ? .exponentDigits : octet == 0x2B || octet == 0x2D ? .exponentSign : nil
            case .exponentSign, .exponentDigits: return isDigit ? .exponentDigits : nil
            }
        }

        var mayEnd: Bool {
            switch self {
            case .zero, .whole, .fraction, .exponentDigits: true
            case .sign, .point, .exponent, .exponentSign: false
            }
        }
    }

    static let deepest = 512
    private var stack: [UInt8] = []
    private var expectation = Expectation.value
    private var state = State.between

    /// Whether the octets so far are one complete value.
    var isWhole: Bool {
        switch state {
        case .between: expectation == .end
        case .number(let number): stack.isEmpty && number.mayEnd
        case .string, .escape, .hexadecimal, .word, .broken: false
        }
    }

    /// Takes the next octet.
    mutating func take(_ octet: UInt8) -> Step {
        switch state {
        case .between: return between(octet)
        case .broken: return .broken
        case .string(let kind):
            switch octet {
            case 0x22: return end(kind)
            case 0x5C: state = .escape(kind)
            case 0x00..<0x20: return fail()
            default: break
            }
            return .part(kind)
        case .escape(let kind):
            switch octet {
            case 0x75: state = .hexadecimal(kind, 4)
            case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: state = .string(kind)
            default: return fail()
            }
            return .part(kind)
        case .hexadecimal(let kind, let left):
            switch octet {
            case 0x30...0x39, 0x41...0x46, 0x61...0x66: break
            default: return fail()
            }
            state = left == 1 ? .string(kind) : .hexadecimal(kind, left - 1)
            return .part(kind)
        case .number(let number):
            if let next = number.next(octet) {
                state = .number(next)
                return .part(.number)
            }
            guard number.mayEnd else { return fail() }
            closeValue()
            return between(octet)
        case .word(let rest):
            guard rest.first == octet else { return fail() }
            if rest.count == 1 { return end(.word) }
            state = .word(rest.dropFirst())
            return .part(.word)
        }
    }

    private mutating func between(_ octet: UInt8) -> Step {
        switch (octet, expectation) {
        case (0x20, _), (0x09, _), (0x0A, _), (0x0D, _): return .blank
        case (0x7B, .value), (0x7B, .valueOrEnd), (0x5B, .value), (0x5B, .valueOrEnd):
            guard stack.count < Self.deepest else { return fail() }
            stack.append(octet)
            expectation = octet == 0x7B ? .nameOrEnd : .valueOrEnd
            return .open
        case (0x7D, .nameOrEnd), (0x7D, .commaOrEnd), (0x5D, .valueOrEnd), (0x5D, .commaOrEnd):
            guard stack.last == octet - 2 else { return fail() }
            stack.removeLast()
            closeValue()
            return .close
        case (0x2C, .commaOrEnd):
            expectation = stack.last == 0x7B ? .name : .value
            return .comma
        case (0x3A, .colon):
            expectation = .value
            return .colon
        case (0x22, .name), (0x22, .nameOrEnd):
            state = .string(.name)
            return .part(.name)
        case (_, .value), (_, .valueOrEnd): return begin(octet)
        default: return fail()
        }
    }

    private mutating func begin(_ octet: UInt8) -> Step {
        switch octet {
        case 0x22:
            state = .string(.string)
            return .part(.string)
        case 0x2D, 0x30...0x39:
            guard let number = octet == 0x2D ? .sign : Number.sign.next(octet) else { return fail() }
            state = .number(number)
            return .part(.number)
        case 0x74: state = .word("rue"[...].utf8)
        case 0x66: state = .word("alse"[...].utf8)
        case 0x6E: state = .word("ull"[...].utf8)
        default: return fail()
        }
        return .part(.word)
    }

    private mutating func end(_ kind: Kind) -> Step {
        if kind == .name {
            state = .between
            expectation = .colon
        } else {
            closeValue()
        }
        return .part(kind)
    }

    private mutating func closeValue() {
        state = .between
        expectation = stack.isEmpty ? .end : .commaOrEnd
    }

    private mutating func fail() -> Step {
        state = .broken
        return .broken
    }
}
