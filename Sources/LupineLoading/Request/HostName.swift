// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Canonical host names, which cookies and protection spaces compare: in lowercase except for IPv6 zones, with labels in ASCII
/// (RFC 5890), and addresses without brackets.
package enum HostName {
    /// The largest number of octets: 255 in the DNS (RFC 1035 §2.3.4), times 3 for percent-encoding or UTF-8.
    static let maxLength = 3 * 255

    /// Returns the canonical form, which is the same for all spellings of a host.
    package static func canonical(_ host: String) -> String {
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        // Interface names are case-sensitive.
        let zone = bare.utf8.contains(UInt8(ascii: ":")) ? bare.firstIndex(of: "%") : nil
        let lowercased = zone.map { bare[..<$0].lowercased() + bare[$0...] } ?? bare.lowercased()
        if lowercased.utf8.allSatisfy({ $0 < 0x80 }) { return lowercased }
        return lowercased.split(separator: ".", omittingEmptySubsequences: false)
            .map { Punycode.label(String($0)) }
            .joined(separator: ".")
    }

    /// Returns the name of the server that a canonical host names: without the trailing dot of the DNS root, and with addresses
    /// in their canonical form (RFC 5952).
    package static func server(_ host: String) -> String {
        let name = String(withoutRoot(host))
        return IPAddress(name)?.description ?? name
    }

    /// Whether a canonical name is an address, which has no parent domain and no subdomains.
    ///
    /// A name whose last label is a number counts as an address: resolvers accept `0x7f.0.0.1` and `127.1` as addresses (as the
    /// URL standard does, §3.5), and no domain has such a label.
    ///
    /// Works on octets for speed: it is called for every cookie, and a server can send long names.
    static func isAddress(_ host: String) -> Bool {
        if endsInNumber(host.utf8) { return true }
        // Only IPv6 addresses have colons, and only addresses have zones.
        guard host.utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "%") }) else {
            return false
        }
        return IPAddress(host.prefix { $0 != "%" }) != nil
    }

    /// Whether the last label is a number: in decimal digits (0x30...0x39), or after `0x` in hexadecimal ones, which also include
    /// `a` to `f` (0x61...0x66).
    private static func endsInNumber(_ host: String.UTF8View) -> Bool {
        let dot = UInt8(ascii: ".")
        let name = host.last == dot ? host.dropLast() : host[...]
        let label = name.lastIndex(of: dot).map { name[name.index(after: $0)...] } ?? name
        if label.isEmpty { return false }
        if label.starts(with: "0x".utf8) {
            return label.dropFirst(2).allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
        }
        return label.allSatisfy { 0x30...0x39 ~= $0 }
    }

    /// Returns the name without the trailing dot of the DNS root: resolvers treat `com.` and `com` alike.
    static func withoutRoot(_ host: String) -> Substring {
        host.hasSuffix(".") ? host.dropLast() : host[...]
    }

    /// Whether a canonical name has no empty label, apart from that of the DNS root.
    static func hasNoEmptyLabel(_ host: String) -> Bool {
        let dot = UInt8(ascii: ".")
        var previous = dot
        for octet in withoutRoot(host).utf8 {
            if octet == dot, previous == dot { return false }
            previous = octet
        }
        return previous != dot
    }

    /// Whether a canonical host domain-matches a domain: is equal to it or a subdomain of it (RFC 6265 §5.1.3).
    static func isSame(_ host: String, orBelow domain: String) -> Bool {
        let (hostOctets, domainOctets) = (host.utf8, domain.utf8)
        if hostOctets.count <= domainOctets.count { return host == domain }
        let start = hostOctets.index(hostOctets.endIndex, offsetBy: -domainOctets.count)
        return !domainOctets.isEmpty && hostOctets[hostOctets.index(before: start)] == UInt8(ascii: ".")
            && hostOctets[start...].elementsEqual(domainOctets) && !isAddress(host)
    }
}
