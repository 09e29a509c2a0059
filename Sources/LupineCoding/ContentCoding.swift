// SPDX-License-Identifier: MIT

/// A content coding that can be decoded (RFC 9110 §8.4.1), with the syntax of the fields `Content-Encoding` and
/// `Accept-Encoding`.
public enum ContentCoding: String, Hashable, Sendable, CaseIterable {
    /// Brotli (RFC 7932).
    case br
    /// Gzip (RFC 1952), with one member or several. Servers also call it `x-gzip`.
    case gzip
    /// Deflate in the zlib format (RFC 1950). The decoder also recognizes raw deflate (RFC 1951), which some servers send under
    /// this name. Servers also call the coding `x-deflate`.
    case deflate
    /// No coding.
    case identity

    /// The maximum number of codings of a body. It is small, because senders use at most two, and each coding needs the memory of
    /// a decoder. curl has the same limit.
    public static let maximumStack = 5

    /// The codings that can be decoded, in order of preference.
    public static let decodable: [ContentCoding] = [.br, .gzip, .deflate]

    /// Creates the coding with this name, which is compared case-insensitively; nil if the name is unknown.
    public init?(name: some StringProtocol) {
        let matches: (StaticString) -> Bool = { Self.isEqual(name.utf8, lowercased: $0) }
        if matches("gzip") || matches("x-gzip") {
            self = .gzip
        } else if matches("br") {
            self = .br
        } else if matches("deflate") || matches("x-deflate") {
            self = .deflate
        } else if matches("identity") {
            self = .identity
        } else {
            return nil
        }
    }

    /// Parses the value of a `Content-Encoding` field: a list of names without parameters, separated by commas.
    ///
    /// - Returns: The codings in the order in which they were applied, the outermost last. `identity` and empty elements are
    ///   skipped.
    /// - Throws: ``CodingError/unknownCoding(name:)`` for the first unknown name, and ``CodingError/tooManyCodings(limit:)`` for
    ///   more than ``ContentCoding/maximumStack`` codings.
    public static func list(_ value: some StringProtocol) throws(CodingError) -> [ContentCoding] {
        try list([value])
    }

    /// Parses all `Content-Encoding` field lines of a message, in order, as one list. See ``list(_:)``.
    public static func list(_ lines: some Sequence<some StringProtocol>) throws(CodingError)
        -> [ContentCoding]
    {
        var codings: [ContentCoding] = []
        for line in lines {
            for element in String(line).utf8.split(separator: UInt8(ascii: ",")) {
                let name = String(decoding: trimmed(element), as: UTF8.self)
                if name.isEmpty { continue }
                guard let coding = ContentCoding(name: name) else {
                    throw .unknownCoding(name: String(decoding: name.utf8.prefix(64), as: UTF8.self))
                }
                if coding == .identity { continue }
                guard codings.count < maximumStack else { throw .tooManyCodings(limit: maximumStack) }
                codings.append(coding)
            }
        }
        return codings
    }

    /// Returns the value of an `Accept-Encoding` field (RFC 9110 §12.5.3) for these codings, the most preferred first. For the
    /// default it is `br;q=1.0, gzip;q=0.9, deflate;q=0.8`.
    public static func acceptEncoding(_ codings: [ContentCoding] = decodable) -> String {
        var elements: [String] = []
        for (index, coding) in codings.enumerated() {
            // The tenth coding and all later ones have the least quality of one digit that is not zero.
            let quality = index == 0 ? "1.0" : "0.\(max(10 - index, 1))"
            elements.append("\(coding.rawValue);q=\(quality)")
        }
        return elements.joined(separator: ", ")
    }

    /// Returns whether the bytes are equal to `lowercased`, compared case-insensitively.
    private static func isEqual(_ bytes: some Collection<UInt8>, lowercased: StaticString) -> Bool {
        let isUppercase: (UInt8) -> Bool = { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        // In ASCII, the bit 0x20 makes a letter lowercase.
        return bytes.lazy.map { isUppercase($0) ? $0 | 0x20 : $0 }
            .elementsEqual(lowercased.description.utf8)
    }

    /// Returns the bytes without spaces and tabs around them (OWS, RFC 9110 §5.6.3).
    private static func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let withoutLeadingSpaces = bytes.drop(while: isSpace)
        guard let last = withoutLeadingSpaces.lastIndex(where: { !isSpace($0) }) else {
            return withoutLeadingSpaces[withoutLeadingSpaces.endIndex...]
        }
        return withoutLeadingSpaces[...last]
    }
}

extension ContentCoding: CustomStringConvertible {
    public var description: String { rawValue }
}
