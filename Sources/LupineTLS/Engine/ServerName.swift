// SPDX-License-Identifier: MIT

/// The host of a connection, and the form of it that a server is told (RFC 6066 §3): names only, without the root's dot.
struct ServerName: Hashable {
    /// The name or the IP literal, without brackets and without the root's dot.
    let host: String
    /// What is sent; nil for an IP literal.
    let indication: String?

    init(_ text: String) throws(TLSError) {
        var name = text.utf8[...]
        if name.first == UInt8(ascii: "["), name.count > 1, name.last == UInt8(ascii: "]") {
            name = name.dropFirst().dropLast()
        }
        let isAddress = name.contains(UInt8(ascii: ":")) || Self.endsInNumber(name)
        if !isAddress, name.last == UInt8(ascii: ".") { name = name.dropLast() }
        let isSendable = name.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard !name.isEmpty, name.count <= 253, isSendable else { throw .configuration(.host(text)) }
        host = name.count == text.utf8.count ? text : String(Substring(name))
        indication = isAddress ? nil : host
    }

    /// No top-level domain is a number: what ends in one is an IPv4 address. Dots behind it do not count.
    private static func endsInNumber(_ name: Substring.UTF8View) -> Bool {
        let dot = UInt8(ascii: ".")
        var last = name
        while last.last == dot { last = last.dropLast() }
        var digits = 0
        while let byte = last.last, byte != dot {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return false }
            digits += 1
            last = last.dropLast()
        }
        return digits > 0
    }
}
