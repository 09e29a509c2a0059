// SPDX-License-Identifier: MIT

/// A content coding that can be decoded (RFC 9110 §8.4.1), and the two header fields that name codings.
///
/// Not a general list parser: elements of `Content-Encoding` have no parameters and no quotes.
public enum ContentCoding: String, Hashable, Sendable, CaseIterable {
    /// Brotli (RFC 7932).
    case br
    /// Gzip (RFC 1952), one member or several. Also sent as `x-gzip`.
    case gzip
    /// Deflate in the zlib wrapping (RFC 1950); the raw form (RFC 1951), which some servers send under this name, is recognized
    /// too. Also sent as `x-deflate`.
    case deflate
    /// No coding.
    case identity

    /// The maximum number of codings of a body. Senders use at most two, and each costs a decoder's memory, so the number is
    /// small. curl has the same limit.
    public static let maximumStack = 5

    /// The codings that can be decoded, in order of preference.
    public static let decodable: [ContentCoding] = [.br, .gzip, .deflate]

    /// The coding with this name, compared case-insensitively, or nil if it is unknown.
    public init?(name: some StringProtocol) {
        let matches: (StaticString) -> Bool = { Self.equal(name.utf8, $0) }
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

    /// Parses the value of a `Content-Encoding` field; several field lines are one list, joined by commas.
    ///
    /// - Returns: the codings in the order in which they were applied, the outermost last. `identity` and empty elements are
    ///   skipped.
    /// - Throws: ``CodingError/unknownCoding(name:)`` for the first unknown name, and ``CodingError/tooManyCodings(limit:)``.
    public static func list(_ value: some StringProtocol) throws(CodingError) -> [ContentCoding] {
        try list([value])
    }

    /// Parses all `Content-Encoding` field lines of a message, in order. See ``list(_:)``.
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

    /// Returns the value of an `Accept-Encoding` field (RFC 9110 §12.5.3) for these codings, the most preferred first: `br;q=1.0,
    /// gzip;q=0.9, deflate;q=0.8`.
    public static func acceptEncoding(_ codings: [ContentCoding] = decodable) -> String {
        codings.enumerated()
            .map { "\($1.rawValue);q=\($0 == 0 ? "1.0" : "0.\(max(10 - $0, 1))")" }
            .joined(separator: ", ")
    }

    private static func equal(_ bytes: some Collection<UInt8>, _ lowercased: StaticString) -> Bool {
        bytes.lazy.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
            .elementsEqual(lowercased.description.utf8)
    }

    /// Returns the bytes without spaces and tabs around them (OWS, RFC 9110 §5.6.3).
    private static func trimmed<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let front = bytes.drop(while: isSpace)
        guard let last = front.lastIndex(where: { !isSpace($0) }) else { return front[front.endIndex...] }
        return front[...last]
    }
}

extension ContentCoding: CustomStringConvertible {
    public var description: String { rawValue }
}
