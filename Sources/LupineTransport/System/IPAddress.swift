// SPDX-License-Identifier: MIT

/// An IPv4 address, as one number: `127.0.0.1` is `0x7f000001`.
///
/// Parses and prints the dotted form of four decimal numbers without leading zeros (RFC 3986 section 3.2.2). The shorthands of
/// `inet_aton`, which programs interpret differently, are not accepted.
public struct IPv4Address: Hashable, Sendable {
    /// The four octets, the first one most significant.
    public let rawValue: UInt32

    /// Creates an address from its number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Parses `a.b.c.d`; nil for anything else.
    public init?(_ text: some StringProtocol) {
        var value: UInt32 = 0
        var octet: UInt32 = 0
        var digitCount = 0
        var dotCount = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                // At most three digits, and no leading zero.
                guard digitCount < 3, digitCount == 0 || octet != 0 else { return nil }
                octet = octet * 10 + UInt32(byte - UInt8(ascii: "0"))
                guard octet <= 255 else { return nil }
                digitCount += 1
            case UInt8(ascii: "."):
                guard digitCount > 0, dotCount < 3 else { return nil }
                value = value << 8 | octet
                octet = 0
                digitCount = 0
                dotCount += 1
            default: return nil
            }
        }
        guard digitCount > 0, dotCount == 3 else { return nil }
        rawValue = value << 8 | octet
    }

    /// 127.0.0.1
    public static let loopback = IPv4Address(rawValue: 0x7f00_0001)
    /// 0.0.0.0
    public static let any = IPv4Address(rawValue: 0)
}

extension IPv4Address: CustomStringConvertible {
    public var description: String {
        "\(rawValue >> 24).\(rawValue >> 16 & 255).\(rawValue >> 8 & 255).\(rawValue & 255)"
    }
}

/// An IPv6 address, as two halves. The zone of a link-local address is not included; it is part of `SocketAddress`.
///
/// Parses the forms of RFC 4291 section 2.2 (`::` at most once, an IPv4 address at the end) and prints the form of RFC 5952.
public struct IPv6Address: Hashable, Sendable {
    /// The first eight octets.
    public let high: UInt64
    /// The last eight octets.
    public let low: UInt64

    /// Creates an address from its halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Parses an address without brackets and without zone; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let fields = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        // "::" has three fields, "::2:3:4:5:6:7:8" nine. The longest text is 45 octets: six groups and an IPv4 address.
        guard (3...9).contains(fields.count), text.utf8.count <= 45 else { return nil }
        var groups: [UInt16] = []
        /// The number of groups before "::"; nil until "::" is found.
        var gap: Int?
        var index = 0
        while index < fields.count {
            let field = fields[index]
            if field.isEmpty {
                // An empty field comes from "::". At the start or the end of the text, "::" makes two empty fields.
                let isAtStart = index == 0
                let isAtEnd = index == fields.count - 1
                if isAtStart {
                    // A single ":" at the start is invalid. The second empty field is skipped.
                    guard fields[1].isEmpty else { return nil }
                    index += 1
                }
                // A single ":" at the end is invalid: the field before must be the first of the two empty fields.
                if isAtEnd, !(gap == groups.count && fields[index - 1].isEmpty) { return nil }
                if !isAtEnd {
                    // "::" may occur once.
                    guard gap == nil else { return nil }
                    gap = groups.count
                }
                index += 1
                continue
            }
            if index == fields.count - 1, field.contains(UInt8(ascii: ".")) {
                // The last four octets may have the form of an IPv4 address; they are two groups.
                guard let address = IPv4Address(String(decoding: field, as: UTF8.self)) else { return nil }
                groups.append(UInt16(truncatingIfNeeded: address.rawValue >> 16))
                groups.append(UInt16(truncatingIfNeeded: address.rawValue))
            } else {
                guard let group = Self.group(field) else { return nil }
                groups.append(group)
            }
            index += 1
        }
        if let gap {
            // "::" stands for at least one group of zeros.
            guard groups.count < 8 else { return nil }
            groups.insert(contentsOf: repeatElement(0, count: 8 - groups.count), at: gap)
        }
        guard groups.count == 8 else { return nil }
        high = groups[..<4].reduce(0) { $0 << 16 | UInt64($1) }
        low = groups[4...].reduce(0) { $0 << 16 | UInt64($1) }
    }

    /// Parses one group of up to four hexadecimal digits.
    private static func group(_ field: some Collection<UInt8>) -> UInt16? {
        guard (1...4).contains(field.count) else { return nil }
        var value: UInt16 = 0
        for byte in field {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt16(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                value = value << 4 | UInt16(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"):
                value = value << 4 | UInt16(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return value
    }

    /// ::1
    public static let loopback = IPv6Address(high: 0, low: 1)
    /// ::
    public static let any = IPv6Address(high: 0, low: 0)

    /// Whether the address is link-local (fe80::/10: its first ten bits are compared), and so meaningful only with a zone.
    public var isLinkLocal: Bool { high >> 54 == 0xfe80 >> 6 }

    /// The eight groups of 16 bits.
    private var groups: [UInt16] {
        (0..<8).map { UInt16(truncatingIfNeeded: ($0 < 4 ? high : low) >> (48 - 16 * UInt64($0 % 4))) }
    }

    /// The longest run of zero groups, which the text form writes as "::"; nil if no run has two groups or more. If several runs
    /// are the longest, the first one is used (RFC 5952 section 4.2).
    private var compressedRange: Range<Int>? {
        let groups = groups
        var longest = 0..<0
        var runStart: Int?
        // The index 8, after the last group, ends a run there.
        for index in 0...8 {
            if index < 8, groups[index] == 0 {
                runStart = runStart ?? index
            } else if let start = runStart {
                if index - start > longest.count { longest = start..<index }
                runStart = nil
            }
        }
        return longest.count > 1 ? longest : nil
    }
}

extension IPv6Address: CustomStringConvertible {
    public var description: String {
        // An IPv4-mapped address ends in the form of an IPv4 address (RFC 5952 section 5).
        if high == 0, low >> 32 == 0xffff {
            return "::ffff:\(IPv4Address(rawValue: UInt32(truncatingIfNeeded: low)))"
        }
        let texts = groups.map { String($0, radix: 16) }
        guard let gap = compressedRange else { return texts.joined(separator: ":") }
        return texts[..<gap.lowerBound].joined(separator: ":") + "::"
            + texts[gap.upperBound...].joined(separator: ":")
    }
}

/// An address of either family, without port and zone.
public enum IPAddress: Hashable, Sendable {
    /// An IPv4 address.
    case v4(IPv4Address)
    /// An IPv6 address.
    case v6(IPv6Address)

    /// Parses an address of either family, without brackets and without zone; nil for anything else.
    public init?(_ text: some StringProtocol) {
        if let address = IPv4Address(text) {
            self = .v4(address)
        } else if let address = IPv6Address(text) {
            self = .v6(address)
        } else {
            return nil
        }
    }

    /// Whether this is an IPv6 address.
    package var isIPv6: Bool {
        switch self {
        case .v6: true
        case .v4: false
        }
    }

    /// The bytes of the address in network order: four or sixteen.
    package var octets: [UInt8] {
        func bigEndianBytes(_ value: some FixedWidthInteger) -> [UInt8] {
            stride(from: value.bitWidth - 8, through: 0, by: -8).map {
                UInt8(truncatingIfNeeded: value >> $0)
            }
        }
        return switch self {
        case .v4(let address): bigEndianBytes(address.rawValue)
        case .v6(let address): bigEndianBytes(address.high) + bigEndianBytes(address.low)
        }
    }

    /// The IPv4 address that an IPv4-mapped IPv6 address contains (RFC 4291 section 2.5.5.2); for any other address, the address
    /// itself.
    package var unmapped: IPAddress {
        guard case .v6(let address) = self, address.high == 0, address.low >> 32 == 0xffff else {
            return self
        }
        return .v4(IPv4Address(rawValue: UInt32(truncatingIfNeeded: address.low)))
    }
}

extension IPAddress: CustomStringConvertible {
    public var description: String {
        switch self {
        case .v4(let address): address.description
        case .v6(let address): address.description
        }
    }
}
