// SPDX-License-Identifier: MIT

/// Walks DER (X.690 §8, §10), strictly: definite, shortest lengths; tags of one byte. What it refuses is taken for
/// malformed, also where OpenSSL would be content with BER.
struct DERReader {
    /// One element: its tag and what is in it.
    struct Element {
        let tag: UInt8
        let content: ArraySlice<UInt8>

        /// A reader of the elements inside.
        var inside: DERReader { DERReader(content) }

        /// The value of an INTEGER that is not negative; `UInt64.max` when it is larger than that.
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

    /// Whether all has been read.
    var isAtEnd: Bool { rest.isEmpty }

    /// The next element; nil at the end and for what is no DER.
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

    /// The next element, if it has this tag.
    mutating func next(_ tag: UInt8) -> Element? {
        guard let element = next(), element.tag == tag else { return nil }
        return element
    }

    /// The content of the only element of `der`; empty when it is none.
    static func content(of der: [UInt8]) -> [UInt8] {
        var reader = DERReader(der[...])
        guard let element = reader.next() else { return [] }
        return Array(element.content)
    }
}
