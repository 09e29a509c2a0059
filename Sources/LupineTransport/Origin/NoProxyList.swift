// SPDX-License-Identifier: MIT

/// The origins that are reached without a proxy: the value of the variable `no_proxy`, parsed as curl parses it.
///
/// Entries are separated by commas or blanks. `*` alone matches everything. A name, with or without a leading dot or `*.`,
/// matches itself and every name under it. An address matches itself. A network such as `10.0.0.0/8` or `fe80::/10` matches its
/// addresses. Each entry may end in `:port`; an IPv6 address is then in brackets. Case and a trailing dot are ignored. Names are
/// not resolved, so a name never matches an address. Any other entry matches nothing.
package struct NoProxyList: Hashable, Sendable {
    private enum Rule: Hashable {
        case everything
        /// A name without its leading dot; matches itself and every name under it.
        case name(String, port: UInt16?)
        /// The addresses whose first `prefix` bits are those of this address.
        case network(IPAddress, prefix: Int, port: UInt16?)
    }

    private let rules: [Rule]

    /// Reads the value of `no_proxy`; malformed entries are ignored.
    package init(_ text: String) {
        // The separators are comma, space and tab.
        rules = text.asciiLowercased.utf8
            .split { $0 == 0x2C || $0 == 0x20 || $0 == 0x09 }
            .compactMap { Self.rule(String(Substring($0))) }
    }

    /// Returns true if the origin is reached directly. `host` is a name or an address without brackets and zone.
    package func matches(host: String, port: UInt16) -> Bool {
        let name = Self.withoutTrailingDot(host.asciiLowercased)
        // An IPv4 address in IPv6 notation (`::ffff:192.0.2.1`) counts as IPv4.
        let address = IPAddress(name)?.unmapped
        return rules.contains { rule in
            switch rule {
            case .everything:
                return true
            case .name(let suffix, let rulePort):
                guard rulePort == nil || rulePort == port, address == nil else { return false }
                let isSubdomain = name.utf8.count > suffix.utf8.count && name.hasSuffix("." + suffix)
                return name == suffix || isSubdomain
            case .network(let network, let prefix, let rulePort):
                guard rulePort == nil || rulePort == port, let address else { return false }
                return Self.contains(network, prefix, address)
            }
        }
    }

    /// Parses one entry; returns nil if it is malformed.
    private static func rule(_ entry: String) -> Rule? {
        if entry == "*" { return .everything }
        // A whole entry may be an IPv6 address without brackets, whose colons do not begin a port.
        if let rule = network(entry, port: nil) { return rule }
        var host = Substring(entry)
        var port: UInt16?
        if !entry.hasSuffix("]"), let colon = entry.lastIndex(of: ":") {
            guard let number = UInt16(entry[entry.index(after: colon)...]) else { return nil }
            port = number
            host = entry[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            guard IPv6Address(host.dropFirst().dropLast()) != nil else { return nil }
            return network(String(host.dropFirst().dropLast()), port: port)
        }
        if let rule = network(String(host), port: port) { return rule }
        if host.hasPrefix("*.") { host = host.dropFirst(2) }
        host = host.drop { $0 == "." }
        let name = withoutTrailingDot(String(host))
        // A name contains no slash, colon or asterisk.
        guard !name.isEmpty, !name.utf8.contains(where: { $0 == 0x2F || $0 == 0x3A || $0 == 0x2A }) else {
            return nil
        }
        return .name(name, port: port)
    }

    /// Parses an address or a network; returns nil if the text is neither.
    private static func network(_ text: String, port: UInt16?) -> Rule? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first) else { return nil }
        let width = address.octets.count * 8
        // Without a slash, the text is one address: a network whose prefix has all bits.
        guard parts.count == 2 else {
            let unmapped = address.unmapped
            return .network(unmapped, prefix: unmapped.octets.count * 8, port: port)
        }
        // `Int` would accept a plus sign (0x2B).
        guard let prefix = Int(parts[1]), (0...width).contains(prefix), parts[1].utf8.first != 0x2B else {
            return nil
        }
        return .network(address, prefix: prefix, port: port)
    }

    /// Returns whether the network contains the address.
    private static func contains(_ network: IPAddress, _ prefix: Int, _ address: IPAddress) -> Bool {
        // An IPv4 network contains no IPv6 address, and conversely.
        guard network.octets.count == address.octets.count else { return false }
        var remainingBits = prefix
        for (left, right) in zip(network.octets, address.octets) {
            if remainingBits <= 0 { return true }
            // All bits of the octet, or only the first `remainingBits`.
            let mask = remainingBits >= 8 ? UInt8.max : ~(UInt8.max >> UInt8(remainingBits))
            if left & mask != right & mask { return false }
            remainingBits -= 8
        }
        return true
    }

    /// Returns a name without the dot of the root domain at its end.
    private static func withoutTrailingDot(_ name: String) -> String {
        name.utf8.count > 1 && name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
