// SPDX-License-Identifier: MIT

/// Reads DER (X.690 §8, §10) strictly: definite, shortest lengths and single-byte tags. Anything else counts as malformed, even
/// if OpenSSL would accept it as BER.
struct DERReader {
    /// One element: its tag and content.
    struct Element {
        let tag: UInt8
        let content: ArraySlice<UInt8>

        /// A reader of the content's elements.
        var inside: DERReader { DERReader(content) }

        /// The value of a non-negative INTEGER; `UInt64.max` when it does not fit.
        var unsigned: UInt64? {
            guard tag == DERReader.integer, let first = content.first, first & 0x80 == 0 else { return nil }
            let digits = content.drop { $0 == 0 }
            guard digits.count <= 8 else { return .max }
            return digits.reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Whether everything has been read.
    var isAtEnd: Bool { rest.isEmpty }

    /// Returns the next element; nil at the end and for malformed DER.
    mutating func next() -> Element? {
        guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let first = rest.popFirst() else { return nil }
        var count = Int(first)
        if first & 0x80 != 0 {
            let digits = Int(first & 0x7F)
            guard (1...4).contains(digits), rest.count >= digits, rest.first != 0 else { return nil }
            count = rest.prefix(digits).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(digits)
            guard count >= 0x80 else { return nil }
        }
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Element(tag: tag, content: rest.prefix(count))
    }

    /// Returns the next element if it has this tag. Advances in any case.
    mutating func next(_ tag: UInt8) -> Element? {
        guard let element = next(), element.tag == tag else { return nil }
        return element
    }

    /// Returns the content of the first element of `der`; empty when there is none.
    static func content(of der: [UInt8]) -> [UInt8] {
        var reader = DERReader(der[...])
        guard let element = reader.next() else { return [] }
        return Array(element.content)
    }
}
