// SPDX-License-Identifier: MIT

/// Scans one JSON value (RFC 8259) octet by octet, checks the grammar, and classifies each octet.
///
/// Stores the open brackets, at most `deepest`, but none of the content.
struct JSONScanner: Sendable {
    /// The kind of a scalar or a name; a word is `true`, `false` or `null`.
    enum Kind: Hashable, Sendable { case name, string, number, word }

    /// The classification of an octet.
    enum OctetClass: Hashable, Sendable {
        case blank, open, close, comma, colon
        /// A part of a scalar or a name, its quotes included.
        case scalar(Kind)
        /// The first octet that violates the grammar, or any octet after it.
        case invalid
    }

    /// What the grammar allows next.
    private enum Expectation { case value, valueOrEnd, name, nameOrEnd, colon, commaOrEnd, end }

    private enum State {
        /// Between two tokens.
        case between
        /// In a string or a name.
        case string(Kind)
        /// After a backslash in a string or a name.
        case escape(Kind)
        /// After `\u`; this number of hexadecimal digits must follow.
        case hexadecimal(Kind, Int)
        case number(NumberState)
        /// These letters of `true`, `false` or `null` must follow.
        case word(Substring.UTF8View)
        case invalid
    }

    /// What the last octet of a number was. `zero` is a single 0 before the point, `integer` another digit there.
    private enum NumberState {
        case sign, zero, integer, point, fraction, exponent, exponentSign, exponentDigits

        /// Returns the state after the next octet; nil if it does not continue the number.
        func next(_ octet: UInt8) -> NumberState? {
            let isDigit = (0x30...0x39).contains(octet)
            let isExponent = octet | 0x20 == 0x65
            switch self {
            case .sign: return isDigit ? (octet == 0x30 ? .zero : .integer) : nil
            case .zero: return octet == 0x2E ? .point : isExponent ? .exponent : nil
            case .integer:
                if isDigit { return .integer }
                return octet == 0x2E ? .point : isExponent ? .exponent : nil
            case .point: return isDigit ? .fraction : nil
            case .fraction: return isDigit ? .fraction : isExponent ? .exponent : nil
            case .exponent:
                return isDigit ? .exponentDigits : octet == 0x2B || octet == 0x2D ? .exponentSign : nil
            case .exponentSign, .exponentDigits: return isDigit ? .exponentDigits : nil
            }
        }

        /// Whether the number is complete without another octet.
        var mayEnd: Bool {
            switch self {
            case .zero, .integer, .fraction, .exponentDigits: true
            case .sign, .point, .exponent, .exponentSign: false
            }
        }
    }

    /// The maximum depth of nesting.
    static let deepest = 512
    /// The open brackets.
    private var openBrackets: [UInt8] = []
    private var expectation = Expectation.value
    private var state = State.between

    /// Whether the octets so far are one complete value.
    var isComplete: Bool {
        switch state {
        case .between: expectation == .end
        case .number(let number): openBrackets.isEmpty && number.mayEnd
        case .string, .escape, .hexadecimal, .word, .invalid: false
        }
    }

    /// Scans the next octet and returns its class.
    mutating func scan(_ octet: UInt8) -> OctetClass {
        switch state {
        case .between: return scanToken(octet)
        case .invalid: return .invalid
        case .string(let kind):
            switch octet {
            case 0x22: return endScalar(kind)
            case 0x5C: state = .escape(kind)
            case 0x00..<0x20: return fail()
            default: break
            }
            return .scalar(kind)
        case .escape(let kind):
            switch octet {
            case 0x75: state = .hexadecimal(kind, 4)
            case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: state = .string(kind)
            default: return fail()
            }
            return .scalar(kind)
        case .hexadecimal(let kind, let left):
            switch octet {
            case 0x30...0x39, 0x41...0x46, 0x61...0x66: break
            default: return fail()
            }
            state = left == 1 ? .string(kind) : .hexadecimal(kind, left - 1)
            return .scalar(kind)
        case .number(let number):
            if let next = number.next(octet) {
                state = .number(next)
                return .scalar(.number)
            }
            guard number.mayEnd else { return fail() }
            closeValue()
            return scanToken(octet)
        case .word(let rest):
            guard rest.first == octet else { return fail() }
            if rest.count == 1 { return endScalar(.word) }
            state = .word(rest.dropFirst())
            return .scalar(.word)
        }
    }

    /// Scans an octet between two tokens, which may begin a token.
    private mutating func scanToken(_ octet: UInt8) -> OctetClass {
        switch (octet, expectation) {
        case (0x20, _), (0x09, _), (0x0A, _), (0x0D, _): return .blank
        case (0x7B, .value), (0x7B, .valueOrEnd), (0x5B, .value), (0x5B, .valueOrEnd):
            guard openBrackets.count < Self.deepest else { return fail() }
            openBrackets.append(octet)
            expectation = octet == 0x7B ? .nameOrEnd : .valueOrEnd
            return .open
        case (0x7D, .nameOrEnd), (0x7D, .commaOrEnd), (0x5D, .valueOrEnd), (0x5D, .commaOrEnd):
            guard openBrackets.last == octet - 2 else { return fail() }
            openBrackets.removeLast()
            closeValue()
            return .close
        case (0x2C, .commaOrEnd):
            expectation = openBrackets.last == 0x7B ? .name : .value
            return .comma
        case (0x3A, .colon):
            expectation = .value
            return .colon
        case (0x22, .name), (0x22, .nameOrEnd):
            state = .string(.name)
            return .scalar(.name)
        case (_, .value), (_, .valueOrEnd): return beginScalar(octet)
        default: return fail()
        }
    }

    /// Scans the first octet of a string, a number or a word.
    private mutating func beginScalar(_ octet: UInt8) -> OctetClass {
        switch octet {
        case 0x22:
            state = .string(.string)
            return .scalar(.string)
        case 0x2D, 0x30...0x39:
            guard let number = octet == 0x2D ? .sign : NumberState.sign.next(octet) else { return fail() }
            state = .number(number)
            return .scalar(.number)
        case 0x74: state = .word("rue"[...].utf8)
        case 0x66: state = .word("alse"[...].utf8)
        case 0x6E: state = .word("ull"[...].utf8)
        default: return fail()
        }
        return .scalar(.word)
    }

    /// Scans the last octet of a scalar or a name.
    private mutating func endScalar(_ kind: Kind) -> OctetClass {
        if kind == .name {
            state = .between
            expectation = .colon
        } else {
            closeValue()
        }
        return .scalar(kind)
    }

    /// Sets what may follow after a value.
    private mutating func closeValue() {
        state = .between
        expectation = openBrackets.isEmpty ? .end : .commaOrEnd
    }

    private mutating func fail() -> OctetClass {
        state = .invalid
        return .invalid
    }
}
