// SPDX-License-Identifier: MIT

/// The host of a connection, and the name that a client sends in the server name extension (SNI, RFC 6066 §3). That extension
/// allows host names only, without a trailing dot.
struct ServerName: Hashable {
    /// The name without a trailing dot, or the IP literal without brackets.
    let host: String
    /// The name to send in the extension; nil for an IP literal.
    let indication: String?

    /// Parses a host: a name or an IP literal, with or without brackets.
    ///
    /// - Throws: `TLSError.configuration(.host)` if it is empty, longer than 253 octets, or not visible ASCII.
    init(_ text: String) throws(TLSError) {
        let octets = text.utf8.span
        // The range of the host in the text: without brackets, and later without the trailing dot.
        var name = 0..<octets.count
        if name.count > 1, octets[0] == UInt8(ascii: "["), octets[name.upperBound - 1] == UInt8(ascii: "]") {
            name = 1..<name.upperBound - 1
        }
        var isAddress = Self.endsInNumber(octets, name)
        var isVisibleASCII = true
        for index in name {
            // Only IPv6 addresses contain colons.
            if octets[index] == UInt8(ascii: ":") { isAddress = true }
            if octets[index] <= 0x20 || octets[index] >= 0x7F { isVisibleASCII = false }
        }
        if !isAddress, !name.isEmpty, octets[name.upperBound - 1] == UInt8(ascii: ".") {
            name = name.lowerBound..<name.upperBound - 1
        }
        guard !name.isEmpty, name.count <= 253, isVisibleASCII else { throw .configuration(.host(text)) }
        // The common case, in which nothing has been removed, copies no text.
        host =
            name.count == octets.count
            ? text : String(Substring(text.utf8.dropFirst(name.lowerBound).prefix(name.count)))
        indication = isAddress ? nil : host
    }

    /// Whether the last label, ignoring trailing dots, consists of digits. No top-level domain does, so the host is an IPv4
    /// address.
    private static func endsInNumber(_ octets: Span<UInt8>, _ name: Range<Int>) -> Bool {
        let dot = UInt8(ascii: ".")
        var end = name.upperBound
        while end > name.lowerBound, octets[end - 1] == dot { end -= 1 }
        var digits = 0
        while end > name.lowerBound, octets[end - 1] != dot {
            guard octets[end - 1] >= UInt8(ascii: "0"), octets[end - 1] <= UInt8(ascii: "9") else {
                return false
            }
            digits += 1
            end -= 1
        }
        return digits > 0
    }
}
