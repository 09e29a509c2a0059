// SPDX-License-Identifier: MIT

/// The host of a connection, and the form of it that a server is told (RFC 6066 §3): names only, without the root's dot.
struct ServerName: Hashable {
    /// The name or the IP literal, without brackets and without the root's dot.
    let host: String
    /// What is sent; nil for an IP literal.
    let indication: String?

    init(_ text: String) throws(TLSError) {
        var name = text[...]
        if name.hasPrefix("[") && name.hasSuffix("]") { name = name.dropFirst().dropLast() }
        let isAddress = name.utf8.contains(UInt8(ascii: ":")) || Self.endsInNumber(name)
        if !isAddress && name.hasSuffix(".") { name = name.dropLast() }
        let isSendable = name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard !name.isEmpty, name.utf8.count <= 253, isSendable else { throw .configuration(.host(text)) }
        host = String(name)
        indication = isAddress ? nil : host
    }

    /// No top-level domain is a number: what ends in one is an IPv4 address.
    private static func endsInNumber(_ name: Substring) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let last = name.split(separator: ".", omittingEmptySubsequences: true).last else {
            return false
        }
        return last.utf8.allSatisfy(digits.contains)
    }
}
