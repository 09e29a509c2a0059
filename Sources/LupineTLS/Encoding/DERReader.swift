// SPDX-License-Identifier: MIT

/// Reads DER (X.690 §8, §10) strictly: each length is definite and encoded in as few bytes as possible, each tag is a single
/// byte. Everything else counts as malformed, even if OpenSSL would accept it as BER.
struct DERReader {
    /// One element of DER.
    struct Element {
        /// The class and number of the type, such as `DERReader.integer`.
        let tag: UInt8
        let content: ArraySlice<UInt8>

        /// A reader for the elements in the content.
        var contentReader: DERReader { DERReader(content) }

        /// The value of a non-negative INTEGER, `UInt64.max` when it does not fit; nil for any other element.
        var unsignedValue: UInt64? {
            // The highest bit of the first byte is the sign.
            guard tag == DERReader.integer, let first = content.first, first & 0x80 == 0 else { return nil }
            let digits = content.drop { $0 == 0 }
            guard digits.count <= 8 else { return .max }
            return digits.reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    // The tags of the types that callers read.
    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30

    /// The bytes that have not been read yet.
    private var remaining: ArraySlice<UInt8>

    /// Creates a reader for the elements in these bytes.
    init(_ bytes: ArraySlice<UInt8>) { remaining = bytes }

    /// Whether everything has been read.
    var isAtEnd: Bool { remaining.isEmpty }

    /// Returns the next element; nil at the end and for malformed DER.
    mutating func next() -> Element? {
        // A tag whose low five bits are all set continues in further bytes, which is not supported.
        guard let tag = remaining.popFirst(), tag & 0x1F != 0x1F, let lengthByte = remaining.popFirst() else {
            return nil
        }
        var count = Int(lengthByte)
        // The long form: the low seven bits are the number of bytes that contain the length. DER allows it for lengths of 0x80
        // and more, without leading zeros.
        if lengthByte & 0x80 != 0 {
            let byteCount = Int(lengthByte & 0x7F)
            guard (1...4).contains(byteCount), remaining.count >= byteCount, remaining.first != 0 else {
                return nil
            }
            count = remaining.prefix(byteCount).reduce(0) { $0 << 8 | Int($1) }
            remaining = remaining.dropFirst(byteCount)
            guard count >= 0x80 else { return nil }
        }
        guard count <= remaining.count else { return nil }
        defer { remaining = remaining.dropFirst(count) }
        return Element(tag: tag, content: remaining.prefix(count))
    }

    /// Reads the next element, and returns it if it has this tag. Returns nil for an element with another tag, which counts as
    /// read too.
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
