// SPDX-License-Identifier: MIT

/// Reads DER (X.690 §8, §10) strictly: lengths are definite and as short as possible, tags are single bytes. Everything else
/// counts as malformed, even if OpenSSL would accept it as BER.
struct DERReader {
    /// One element: its tag and content.
    struct Element {
        let tag: UInt8
        let content: ArraySlice<UInt8>

        /// A reader for the elements in the content.
        var contentReader: DERReader { DERReader(content) }

        /// The value of a non-negative INTEGER, `UInt64.max` when it does not fit; nil for any other element.
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

    private var remaining: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { remaining = bytes }

    /// Whether everything has been read.
    var isAtEnd: Bool { remaining.isEmpty }

    /// Returns the next element; nil at the end and for malformed DER.
    mutating func next() -> Element? {
        // A tag whose low five bits are all set continues in further bytes.
        guard let tag = remaining.popFirst(), tag & 0x1F != 0x1F, let first = remaining.popFirst() else {
            return nil
        }
        var count = Int(first)
        // The long form: the low seven bits are the number of length bytes. It is allowed for lengths of 0x80 and more.
        if first & 0x80 != 0 {
            let digits = Int(first & 0x7F)
            guard (1...4).contains(digits), remaining.count >= digits, remaining.first != 0 else {
                return nil
            }
            count = remaining.prefix(digits).reduce(0) { $0 << 8 | Int($1) }
            remaining = remaining.dropFirst(digits)
            guard count >= 0x80 else { return nil }
        }
        guard count <= remaining.count else { return nil }
        defer { remaining = remaining.dropFirst(count) }
        return Element(tag: tag, content: remaining.prefix(count))
    }

    /// Returns the next element if it has this tag; an element with another tag is skipped, and the result is nil.
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
