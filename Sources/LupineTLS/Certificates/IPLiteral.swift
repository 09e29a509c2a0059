// SPDX-License-Identifier: MIT

/// Parses and formats IP addresses (RFC 3986 §3.2.2, RFC 4291 §2.2). Parsing is strict: four decimal numbers without leading
/// zeros, or groups of up to four hexadecimal digits with at most one `::` and optionally an IPv4 address at the end.
package enum IPLiteral {
    /// Returns the 4 or 16 bytes of an address without brackets and zone; nil for an invalid one.
    package static func bytes(of text: some StringProtocol) -> [UInt8]? {
        let text = Array(text.utf8)
        return text.contains(colon) ? parseIPv6(text[...]) : parseIPv4(text[...])
    }

    /// Formats an address of 4 or 16 bytes, without abbreviating zeros to `::`. Formats other bytes, which are no address, in
    /// hexadecimal.
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

    /// Parses four decimal numbers separated by dots. 0x30 to 0x39 are the ASCII digits.
    private static func parseIPv4(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let numbers = text.split(separator: dot, omittingEmptySubsequences: false)
        guard numbers.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for digits in numbers {
            let hasLeadingZero = digits.count > 1 && digits.first == UInt8(ascii: "0")
            guard (1...3).contains(digits.count), !hasLeadingZero,
                digits.allSatisfy({ (0x30...0x39).contains($0) }),
                let value = UInt8(exactly: digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
            else { return nil }
            bytes.append(value)
        }
        return bytes
    }

    /// Parses an address with or without the abbreviation `::`, here called the gap.
    private static func parseIPv6(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count <= longestIPv6 else { return nil }
        guard let gap = text.indices.dropLast().first(where: { text[$0] == colon && text[$0 + 1] == colon })
        else {
            guard let bytes = parseGroups(text), bytes.count == 16 else { return nil }
            return bytes
        }
        // A second gap is refused, because `parseGroups` accepts no empty group. The gap stands for at least one group of two
        // bytes, so the other groups have at most 14 of the 16 bytes.
        guard let left = parseGroups(text[..<gap], mayEndInIPv4: false),
            let right = parseGroups(text[(gap + 2)...]),
            left.count + right.count <= 14
        else { return nil }
        return left + [UInt8](repeating: 0, count: 16 - left.count - right.count) + right
    }

    /// Parses groups of hexadecimal digits separated by colons, and returns two bytes for each; an empty text has no groups. With
    /// `mayEndInIPv4`, the last may be an IPv4 address of four bytes.
    private static func parseGroups(_ text: ArraySlice<UInt8>, mayEndInIPv4: Bool = true) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var bytes: [UInt8] = []
        let groups = text.split(separator: colon, omittingEmptySubsequences: false)
        for (index, group) in groups.enumerated() {
            if mayEndInIPv4, index == groups.count - 1, group.contains(dot) {
                guard let address = parseIPv4(group) else { return nil }
                bytes += address
            } else {
                guard (1...4).contains(group.count) else { return nil }
                var value = 0
                for character in group {
                    guard let digit = Hexadecimal.value(character) else { return nil }
                    value = value << 4 | Int(digit)
                }
                bytes += [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
            }
        }
        return bytes
    }
}
