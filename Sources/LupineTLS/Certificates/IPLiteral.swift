// SPDX-License-Identifier: MIT

/// Parses and formats IP addresses (RFC 3986 §3.2.2, RFC 4291 §2.2). Parsing is strict: four decimal numbers without leading
/// zeros, or groups of up to four hexadecimal digits with at most one `::` and optionally an IPv4 address at the end.
package enum IPLiteral {
    /// Returns the 4 or 16 bytes of an address without brackets and zone; nil for an invalid one.
    package static func bytes(of text: some StringProtocol) -> [UInt8]? {
        let text = Array(text.utf8)
        return text.contains(colon) ? parseIPv6(text[...]) : parseIPv4(text[...])
    }

    /// Formats an address without `::`. Formats bytes that are no address, because there are not 4 or 16, in hexadecimal.
    package static func text(of bytes: [UInt8]) -> String {
        switch bytes.count {
        case 4: bytes.map(String.init).joined(separator: ".")
        case 16:
            stride(from: 0, to: 16, by: 2)
                .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }
                .joined(separator: ":")
        default: Hexadecimal.lowercase(bytes)
        }
    }

    private static let colon = UInt8(ascii: ":")
    private static let dot = UInt8(ascii: ".")
    /// The length of an IPv6 address with six groups of four digits and an IPv4 address of 15 characters.
    private static let longestIPv6 = 45

    private static func parseIPv4(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let parts = text.split(separator: dot, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.count), part.first != UInt8(ascii: "0") || part.count == 1,
                part.allSatisfy({ (0x30...0x39).contains($0) }),
                let value = UInt8(exactly: part.reduce(0) { $0 * 10 + Int($1 - 0x30) })
            else { return nil }
            bytes.append(value)
        }
        return bytes
    }

    private static func parseIPv6(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count <= longestIPv6 else { return nil }
        guard let gap = text.indices.dropLast().first(where: { text[$0] == colon && text[$0 + 1] == colon })
        else {
            guard let bytes = parseGroups(text), bytes.count == 16 else { return nil }
            return bytes
        }
        // Everything to the right of the gap must be groups, so a second gap is refused. The gap stands for at least one group,
        // which has two of the 16 bytes.
        guard let left = parseGroups(text[..<gap], mayEndInIPv4: false),
            let right = parseGroups(text[(gap + 2)...]),
            left.count + right.count <= 14
        else { return nil }
        return left + [UInt8](repeating: 0, count: 16 - left.count - right.count) + right
    }

    /// Parses groups separated by colons; an empty text has none.
    private static func parseGroups(_ text: ArraySlice<UInt8>, mayEndInIPv4: Bool = true) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: colon, omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if mayEndInIPv4, index == parts.count - 1, part.contains(dot) {
                guard let end = parseIPv4(part) else { return nil }
                bytes += end
            } else {
                guard (1...4).contains(part.count) else { return nil }
                var value = 0
                for character in part {
                    guard let digit = Hexadecimal.value(character) else { return nil }
                    value = value << 4 | Int(digit)
                }
                bytes += [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
            }
        }
        return bytes
    }
}
