// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Converts host names to their canonical form and compares canonical names, for cookies and protection spaces. A canonical name
/// is in lowercase except for the zone of an IPv6 address, has its labels in ASCII (RFC 5890), and an address has no brackets.
package enum HostName {
    /// The maximum number of octets of a host in a URL: 255 in the DNS (RFC 1035 §2.3.4). Percent-encoding and UTF-8 may spell
    /// one octet of a DNS name in three octets of the URL.
    static let maxLength = 3 * 255

    /// Returns the canonical form, which is the same for all spellings of a host.
    package static func canonical(_ host: String) -> String {
        let hasBrackets = host.hasPrefix("[") && host.hasSuffix("]")
        let bare = hasBrackets ? String(host.dropFirst().dropLast()) : host
        // The zone of an IPv6 address is the name of an interface, which is case-sensitive.
        let zoneStart = bare.utf8.contains(UInt8(ascii: ":")) ? bare.firstIndex(of: "%") : nil
        let lowercased = zoneStart.map { bare[..<$0].lowercased() + bare[$0...] } ?? bare.lowercased()
        if lowercased.utf8.allSatisfy({ $0 < 0x80 }) { return lowercased }
        return lowercased.split(separator: ".", omittingEmptySubsequences: false)
            .map { Punycode.label(String($0)) }
            .joined(separator: ".")
    }

    /// Returns the form of a canonical name in which servers are compared: a domain name without the trailing dot of the DNS
    /// root, an address in the form of RFC 5952.
    package static func server(_ host: String) -> String {
        let name = String(withoutRoot(host))
        return IPAddress(name)?.description ?? name
    }

    /// Returns whether a canonical name is an address, which has no parent domain and no subdomains.
    ///
    /// A name whose last label is a number counts as an address: resolvers accept `0x7f.0.0.1` and `127.1` as addresses (as the
    /// URL standard does, §3.5), and no domain has such a label.
    ///
    /// Compares octets, which is faster than comparing characters: this function is called for every cookie, and a server can
    /// send long names.
    static func isAddress(_ host: String) -> Bool {
        if endsInNumber(host.utf8) { return true }
        // Only IPv6 addresses have colons, and only addresses have zones.
        guard host.utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "%") }) else {
            return false
        }
        return IPAddress(host.prefix { $0 != "%" }) != nil
    }

    /// Returns whether the last label is a number: decimal digits (0x30...0x39), or `0x` and hexadecimal digits (0x30...0x39 and
    /// `a` to `f`, 0x61...0x66).
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

    /// Returns the name without the trailing dot of the DNS root: for resolvers, `com.` and `com` are the same name.
    static func withoutRoot(_ host: String) -> Substring {
        host.hasSuffix(".") ? host.dropLast() : host[...]
    }

    /// Returns whether a canonical name has no empty label, apart from that of the DNS root after a trailing dot.
    static func hasNoEmptyLabel(_ host: String) -> Bool {
        let dot = UInt8(ascii: ".")
        // As if a dot preceded the name, so that a dot at its beginning ends an empty label.
        var previous = dot
        for octet in withoutRoot(host).utf8 {
            if octet == dot, previous == dot { return false }
            previous = octet
        }
        return previous != dot
    }

    /// Returns whether a canonical host domain-matches a domain: whether it is equal to the domain or a subdomain of it (RFC 6265
    /// §5.1.3).
    static func isSame(_ host: String, orBelow domain: String) -> Bool {
        let (hostOctets, domainOctets) = (host.utf8, domain.utf8)
        // A host that is not longer than the domain can only be equal to it.
        if hostOctets.count <= domainOctets.count { return host == domain }
        let start = hostOctets.index(hostOctets.endIndex, offsetBy: -domainOctets.count)
        return !domainOctets.isEmpty && hostOctets[hostOctets.index(before: start)] == UInt8(ascii: ".")
            && hostOctets[start...].elementsEqual(domainOctets) && !isAddress(host)
    }
}
