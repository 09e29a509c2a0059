// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Host names as cookies and protection spaces compare them: in small letters but for zones, labels in ASCII (RFC 5890),
/// addresses without brackets.
package enum HostName {
    /// The most octets of a name: 255 in the DNS (RFC 1035 §2.3.4), perhaps percent-encoded, or in letters of UTF-8.
    static let longest = 3 * 255

    /// The form in which two names of one host are the same text.
    package static func canonical(_ host: String) -> String {
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        // Interfaces that differ by their letters are two.
        let zone = bare.utf8.contains(0x3A) ? bare.firstIndex(of: "%") : nil
        let small = zone.map { bare[..<$0].lowercased() + bare[$0...] } ?? bare.lowercased()
        if small.utf8.allSatisfy({ $0 < 0x80 }) { return small }
        return small.split(separator: ".", omittingEmptySubsequences: false)
            .map { Punycode.label(String($0)) }
            .joined(separator: ".")
    }

    /// The form in which all canonical names of one server are the same text: without the dot of the root, and each address in
    /// its one spelling (RFC 5952).
    package static func server(_ host: String) -> String {
        let name = String(withoutRoot(host))
        return IPAddress(name)?.description ?? name
    }

    /// Whether a canonical name is an address: nothing is below it, and it is below nothing.
    ///
    /// A name whose last label is a number is one too: resolvers take `0x7f.0.0.1` and `127.1` for addresses (as the URL
    /// standard does, §3.5), and no domain has such a label.
    ///
    /// By octets: it is asked for every cookie, and a server decides how long the names are.
    static func isAddress(_ host: String) -> Bool {
        if endsInNumber(host.utf8) { return true }
        // Only version 6 has colons, and only addresses have zones.
        guard host.utf8.contains(where: { $0 == 0x3A || $0 == 0x25 }) else { return false }
        return IPAddress(host.prefix { $0 != "%" }) != nil
    }

    private static func endsInNumber(_ host: String.UTF8View) -> Bool {
        let name = host.last == 0x2E ? host.dropLast() : host[...]
        let label = name.lastIndex(of: 0x2E).map { name[name.index(after: $0)...] } ?? name
        if label.isEmpty { return false }
        if label.starts(with: "0x".utf8) {
            return label.dropFirst(2).allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
        }
        return label.allSatisfy { 0x30...0x39 ~= $0 }
    }

    /// The name without the dot that stands for the root of the DNS: `com.` is `com`, whoever looks it up.
    static func withoutRoot(_ host: String) -> Substring {
        host.hasSuffix(".") ? host.dropLast() : host[...]
    }

    /// Whether every label of a canonical name is there.
    static func isWhole(_ host: String) -> Bool {
        var before: UInt8 = 0x2E
        for octet in withoutRoot(host).utf8 {
            if octet == 0x2E, before == 0x2E { return false }
            before = octet
        }
        return before != 0x2E
    }

    /// Whether a canonical host is that domain, or is below it (RFC 6265 §5.1.3).
    static func isSame(_ host: String, orBelow domain: String) -> Bool {
        let (whole, end) = (host.utf8, domain.utf8)
        if whole.count <= end.count { return host == domain }
        let start = whole.index(whole.endIndex, offsetBy: -end.count)
        return !end.isEmpty && whole[whole.index(before: start)] == 0x2E
            && whole[start...].elementsEqual(end) && !isAddress(host)
    }
}
