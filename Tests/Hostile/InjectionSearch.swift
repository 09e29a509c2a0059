// SPDX-License-Identifier: MIT

/// Searches the bytes received on a connection for anything that a hostile string could have added: a line, a request, or a
/// character that some parser takes for the end of a line.
///
/// It shares no code with the codec, and implements just enough HTTP to skip bodies.
struct InjectionSearch {
    /// The beginning of an injected line, in lowercase.
    static let injected = "x-injected"

    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A description of what was injected; nil if nothing was.
    var finding: String? {
        // Splits at every character that some parser takes for the end of a line, in heads and in bodies.
        for line in bytes.split(whereSeparator: { $0 == 0x0D || $0 == 0x0A }) {
            let text = String(decoding: line, as: UTF8.self).drop { $0 == " " || $0 == "\t" }.lowercased()
            if text.hasPrefix(Self.injected) { return "an injected line: \(text)" }
            if text.hasPrefix("get /smuggled") { return "an injected request" }
        }
        return malformedHead
    }

    /// A description of the first malformed head; nil if all are well-formed.
    private var malformedHead: String? {
        var unparsed = bytes[...]
        while !unparsed.isEmpty {
            guard let end = unparsed.firstRange(of: Array("\r\n\r\n".utf8)) else {
                return "a head that does not end: \(Self.excerpt(unparsed))"
            }
            let head = unparsed[..<end.lowerBound]
            let lines = head.split(separator: Array("\r\n".utf8), omittingEmptySubsequences: false)
            for line in lines {
                if let octet = line.first(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) {
                    return "octet \(octet) in \(Self.excerpt(line))"
                }
            }
            let start = lines[0].split(separator: 0x20, omittingEmptySubsequences: false)
            guard start.count == 3, start[2].elementsEqual("HTTP/1.1".utf8) else {
                return "a start line of \(start.count) parts: \(Self.excerpt(lines[0]))"
            }
            var fields: [String: String] = [:]
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex,
                    line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
                else { return "a malformed field: \(Self.excerpt(line))" }
                let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
                fields[name] = String(decoding: line[(colon + 1)...].drop { $0 == 0x20 }, as: UTF8.self)
            }
            unparsed = unparsed[end.upperBound...]
            if fields["upgrade"] != nil || start[0].elementsEqual("CONNECT".utf8) { return nil }
            if let length = fields["content-length"].flatMap({ Int($0) }) {
                unparsed = unparsed.dropFirst(length)
            } else if fields["transfer-encoding"] != nil {
                guard let last = unparsed.firstRange(of: Array("\r\n0\r\n\r\n".utf8)) else { return nil }
                unparsed = unparsed[last.upperBound...]
            }
        }
        return nil
    }

    private static func excerpt(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.prefix(120), as: UTF8.self).debugDescription
    }
}
