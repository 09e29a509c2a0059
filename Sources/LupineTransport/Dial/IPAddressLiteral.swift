// SPDX-License-Identifier: MIT

/// An IP address written in text, as the bytes it stands for: RFC 3986 §3.2.2 `IPv4address` and `IPv6address`.
///
/// Strict: four decimal octets without leading zeros, IPv6 with at most one `::`. Zones are the caller's to strip.
package enum IPAddressLiteral: Hashable, Sendable {
    /// Four bytes.
    case v4([UInt8])
    /// Sixteen bytes.
    case v6([UInt8])

    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        if let octets = Self.v4(bytes[...]) {
            self = .v4(octets)
        } else if let groups = Self.v6(bytes) {
            self = .v6(groups)
        } else {
            return nil
        }
    }

    /// The address in network order.
    package var bytes: [UInt8] {
        switch self {
        case .v4(let bytes), .v6(let bytes): bytes
        }
    }

    /// The IPv4 address inside an IPv4-mapped IPv6 one (RFC 4291 §2.5.5.2), itself otherwise.
    package var unmapped: IPAddressLiteral {
        guard case .v6(let bytes) = self, bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF,
            bytes[11] == 0xFF
        else { return self }
        return .v4(Array(bytes[12...]))
    }

    private static func v4(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count <= 15 else { return nil }
        let parts = text.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var octets: [UInt8] = []
        for part in parts {
            guard (1...3).contains(part.count), part.count == 1 || part.first != 0x30 else { return nil }
            var value = 0
            for digit in part {
                guard digit >= 0x30, digit <= 0x39 else { return nil }
                value = value * 10 + Int(digit - 0x30)
            }
            guard let octet = UInt8(exactly: value) else { return nil }
            octets.append(octet)
        }
        return octets
    }

    private static func v6(_ text: [UInt8]) -> [UInt8]? {
        guard (2...45).contains(text.count) else { return nil }
        var head: [UInt8] = []
        var tail: [UInt8] = []
        var isCompressed = false
        var rest = text[...]
        if rest.starts(with: [0x3A, 0x3A]) {
            isCompressed = true
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 0x3A) ?? rest.endIndex
            let group = rest[rest.startIndex..<end]
            guard !group.isEmpty else { return nil }
            let parsed: [UInt8]
            if end == rest.endIndex, group.contains(0x2E) {
                guard let octets = v4(group) else { return nil }
                parsed = octets
            } else {
                guard let value = hexGroup(group) else { return nil }
                parsed = [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)]
            }
            if isCompressed { tail += parsed } else { head += parsed }
            guard end < rest.endIndex else { break }
            rest = rest[(end + 1)...]
            if rest.first == 0x3A {
                guard !isCompressed else { return nil }
                isCompressed = true
                rest = rest.dropFirst()
            } else if rest.isEmpty {
                return nil
            }
        }
        let missing = 16 - head.count - tail.count
        guard isCompressed ? missing >= 2 : missing == 0 else { return nil }
        return head + [UInt8](repeating: 0, count: missing) + tail
    }

    private static func hexGroup(_ text: ArraySlice<UInt8>) -> UInt16? {
        guard text.count <= 4 else { return nil }
        var value: UInt16 = 0
        for byte in text {
            guard let digit = hexDigit(byte) else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    /// The value of a hexadecimal digit in either case.
    static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        case _: nil
        }
    }
}
