// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Host names as cookies and protection spaces compare them: in small letters, labels in ASCII (RFC 5890), addresses
/// without brackets.
enum HostName {
    /// The form in which two names of one host are the same text.
    static func canonical(_ host: String) -> String {
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        let small = bare.lowercased()
        if small.utf8.allSatisfy({ $0 < 0x80 }) { return small }
        return small.split(separator: ".", omittingEmptySubsequences: false)
            .map { Punycode.label(String($0)) }
            .joined(separator: ".")
    }

    /// Whether a canonical name is an address: nothing is below it, and it is below nothing.
    static func isAddress(_ host: String) -> Bool {
        IPAddress(host.prefix { $0 != "%" }) != nil
    }

    /// Whether a canonical host is that domain, or is below it (RFC 6265 §5.1.3).
    static func isSame(_ host: String, orBelow domain: String) -> Bool {
        host == domain || (!domain.isEmpty && host.hasSuffix("." + domain) && !isAddress(host))
    }
}
