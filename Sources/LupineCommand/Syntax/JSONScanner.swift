// SPDX-License-Identifier: MIT

/// Scans one JSON value (RFC 8259) octet by octet, checks the grammar, and classifies each octet.
///
/// Stores the open brackets and braces, at most `maximumDepth`, but none of the content.
struct JSONScanner: Sendable {
    /// The kind of a scalar value, or the name of an object's member. A word is `true`, `false` or `null`.
    enum Kind: Hashable, Sendable { case name, string, number, word }

    /// The classification of an octet.
    enum OctetClass: Hashable, Sendable {
        /// White space between two tokens.
        case blank
        /// A bracket or brace that begins an array or an object.
        case open
        /// A bracket or brace that ends an array or an object.
        case close
        case comma
        case colon
        /// A part of a scalar or a name, its quotes included.
        case scalar(Kind)
        /// The first octet that violates the grammar, or any octet after it.
        case invalid
    }

    /// The tokens that the grammar allows next. `OrEnd` adds the end of the array or object; `end` alone is the end of the
    /// text.
    private enum Expectation { case value, valueOrEnd, name, nameOrEnd, colon, commaOrEnd, end }

    private enum State {
        /// Between two tokens.
        case between
        /// In a string or a name.
        case string(Kind)
        /// After a backslash in a string or a name.
        case escape(Kind)
        /// After `\u` in a string or a name. This number of hexadecimal digits must follow.
        case hexadecimal(Kind, digitsLeft: Int)
        /// In a number.
        case number(NumberState)
        /// In `true`, `false` or `null`. These letters must follow.
        case word(lettersLeft: Substring.UTF8View)
        /// After an octet that violates the grammar.
        case invalid
    }

    /// The element of a number's grammar to which the last octet belongs.
    private enum NumberState {
        /// The minus sign before the number.
        case sign
        /// A zero that is the whole integer part: no digit may follow.
        case zero
        /// A digit of another integer part.
        case integer
        /// The decimal point.
        case point
        /// A digit after the decimal point.
        case fraction
        /// The letter `e` or `E`.
        case exponent
        /// The sign of the exponent.
        case exponentSign
        /// A digit of the exponent.
        case exponentDigits

        /// Returns the state after the next octet; nil if the octet does not continue the number.
        func next(_ octet: UInt8) -> NumberState? {
            let isDigit = ASCII.digits.contains(octet)
            // The bit 0x20 turns an upper-case letter into the lower-case one.
            let isExponent = octet | 0x20 == ASCII.e
            switch self {
            case .sign:
                if octet == ASCII.zero { return .zero }
                return isDigit ? .integer : nil
            case .zero:
                if octet == ASCII.point { return .point }
                return isExponent ? .exponent : nil
            case .integer:
                if isDigit { return .integer }
                if octet == ASCII.point { return .point }
                return isExponent ? .exponent : nil
            case .point: return isDigit ? .fraction : nil
            case .fraction:
                if isDigit { return .fraction }
                return isExponent ? .exponent : nil
            case .exponent:
                if isDigit { return .exponentDigits }
                return octet == ASCII.plus || octet == ASCII.minus ? .exponentSign : nil
            case .exponentSign, .exponentDigits: return isDigit ? .exponentDigits : nil
            }
        }

        /// Whether the number is complete without another octet.
        var isComplete: Bool {
            switch self {
            case .zero, .integer, .fraction, .exponentDigits: true
            case .sign, .point, .exponent, .exponentSign: false
            }
        }
    }

    /// The maximum depth of nested arrays and objects.
    static let maximumDepth = 512
    /// The brackets and braces that are open, the innermost last.
    private var openBrackets: [UInt8] = []
    private var expectation = Expectation.value
    private var state = State.between

    /// Whether the octets so far are one complete value.
    var isComplete: Bool {
        switch state {
        case .between: expectation == .end
        // Only the next octet would show that a number has ended.
        case .number(let number): openBrackets.isEmpty && number.isComplete
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
            case ASCII.quote: return endScalar(kind)
            case ASCII.backslash: state = .escape(kind)
            // Control characters must be escaped.
            case 0x00..<ASCII.space: return fail()
            default: break
            }
            return .scalar(kind)
        case .escape(let kind):
            switch octet {
            case ASCII.u: state = .hexadecimal(kind, digitsLeft: 4)
            case ASCII.quote, ASCII.backslash, ASCII.slash, ASCII.b, ASCII.f, ASCII.n, ASCII.r, ASCII.t:
                state = .string(kind)
            default: return fail()
            }
            return .scalar(kind)
        case .hexadecimal(let kind, let digitsLeft):
            switch octet {
            case ASCII.digits, ASCII.upperAToF, ASCII.lowerAToF: break
            default: return fail()
            }
            state = digitsLeft == 1 ? .string(kind) : .hexadecimal(kind, digitsLeft: digitsLeft - 1)
            return .scalar(kind)
        case .number(let number):
            if let next = number.next(octet) {
                state = .number(next)
                return .scalar(.number)
            }
            guard number.isComplete else { return fail() }
            // The octet does not belong to the number: it is the first one after it.
            endValue()
            return scanToken(octet)
        case .word(let lettersLeft):
            guard lettersLeft.first == octet else { return fail() }
            if lettersLeft.count == 1 { return endScalar(.word) }
            state = .word(lettersLeft: lettersLeft.dropFirst())
            return .scalar(.word)
        }
    }

    /// Scans white space between two tokens, or the first octet of a token. Returns the class of the octet.
    private mutating func scanToken(_ octet: UInt8) -> OctetClass {
        switch (octet, expectation) {
        case (ASCII.space, _), (ASCII.tab, _), (ASCII.lineFeed, _), (ASCII.carriageReturn, _):
            return .blank
        case (ASCII.openBrace, .value), (ASCII.openBrace, .valueOrEnd),
            (ASCII.openBracket, .value), (ASCII.openBracket, .valueOrEnd):
            guard openBrackets.count < Self.maximumDepth else { return fail() }
            openBrackets.append(octet)
            expectation = octet == ASCII.openBrace ? .nameOrEnd : .valueOrEnd
            return .open
        case (ASCII.closeBrace, .nameOrEnd), (ASCII.closeBrace, .commaOrEnd),
            (ASCII.closeBracket, .valueOrEnd), (ASCII.closeBracket, .commaOrEnd):
            let openingOctet = octet == ASCII.closeBrace ? ASCII.openBrace : ASCII.openBracket
            guard openBrackets.last == openingOctet else { return fail() }
            openBrackets.removeLast()
            endValue()
            return .close
        case (ASCII.comma, .commaOrEnd):
            expectation = openBrackets.last == ASCII.openBrace ? .name : .value
            return .comma
        case (ASCII.colon, .colon):
            expectation = .value
            return .colon
        case (ASCII.quote, .name), (ASCII.quote, .nameOrEnd):
            state = .string(.name)
            return .scalar(.name)
        case (_, .value), (_, .valueOrEnd): return beginScalar(octet)
        default: return fail()
        }
    }

    /// Scans the first octet of a string, a number or a word. Returns the class of the octet.
    private mutating func beginScalar(_ octet: UInt8) -> OctetClass {
        switch octet {
        case ASCII.quote:
            state = .string(.string)
            return .scalar(.string)
        case ASCII.minus:
            state = .number(.sign)
            return .scalar(.number)
        case ASCII.digits:
            state = .number(octet == ASCII.zero ? .zero : .integer)
            return .scalar(.number)
        case ASCII.t: state = .word(lettersLeft: "rue"[...].utf8)
        case ASCII.f: state = .word(lettersLeft: "alse"[...].utf8)
        case ASCII.n: state = .word(lettersLeft: "ull"[...].utf8)
        default: return fail()
        }
        return .scalar(.word)
    }

    /// Scans the last octet of a scalar or a name. Returns the class of the octet.
    private mutating func endScalar(_ kind: Kind) -> OctetClass {
        if kind == .name {
            state = .between
            expectation = .colon
        } else {
            endValue()
        }
        return .scalar(kind)
    }

    /// Sets what may follow after a complete value.
    private mutating func endValue() {
        state = .between
        expectation = openBrackets.isEmpty ? .end : .commaOrEnd
    }

    /// Enters the state in which every octet is invalid. Returns the class of the octet.
    private mutating func fail() -> OctetClass {
        state = .invalid
        return .invalid
    }
}

/// The octets of JSON's grammar.
private enum ASCII {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let plus: UInt8 = 0x2B
    static let comma: UInt8 = 0x2C
    static let minus: UInt8 = 0x2D
    static let point: UInt8 = 0x2E
    static let slash: UInt8 = 0x2F
    static let zero: UInt8 = 0x30
    static let digits: ClosedRange<UInt8> = 0x30...0x39
    static let colon: UInt8 = 0x3A
    static let upperAToF: ClosedRange<UInt8> = 0x41...0x46
    static let openBracket: UInt8 = 0x5B
    static let backslash: UInt8 = 0x5C
    static let closeBracket: UInt8 = 0x5D
    static let lowerAToF: ClosedRange<UInt8> = 0x61...0x66
    static let b: UInt8 = 0x62
    static let e: UInt8 = 0x65
    static let f: UInt8 = 0x66
    static let n: UInt8 = 0x6E
    static let r: UInt8 = 0x72
    static let t: UInt8 = 0x74
    static let u: UInt8 = 0x75
    static let openBrace: UInt8 = 0x7B
    static let closeBrace: UInt8 = 0x7D
}
