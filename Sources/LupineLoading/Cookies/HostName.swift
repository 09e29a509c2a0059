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
    ///
    /// A name whose last label is a number is one too: resolvers take `0x7f.0.0.1` and `127.1` for addresses (as the URL
    /// standard does, §3.5), and no domain has such a label.
    static func isAddress(_ host: String) -> Bool {
        IPAddress(host.prefix { $0 != "%" }) != nil || endsInNumber(host)
    }

    private static func endsInNumber(_ host: String) -> Bool {
        guard
            let label = withoutRoot(host).split(separator: ".", omittingEmptySubsequences: false).last?.utf8,
            !label.isEmpty
        else { return false }
        if label.starts(with: "0x".utf8) {
            return label.dropFirst(2).allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
        }
        return label.allSatisfy { 0x30...0x39 ~= $0 }
    }

    /// The name without the dot that stands for the root of the DNS: `com.` is `com`, whoever looks it up.
    static func withoutRoot(_ host: String) -> Substring { host.hasSuffix(".") ? host.dropLast() : host[...] }

    /// Whether every label of a canonical name is there.
    static func isWhole(_ host: String) -> Bool {
        !withoutRoot(host).split(separator: ".", omittingEmptySubsequences: false).contains { $0.isEmpty }
    }

    /// Whether a canonical host is that domain, or is below it (RFC 6265 §5.1.3).
    static func isSame(_ host: String, orBelow domain: String) -> Bool {
        host == domain || (!domain.isEmpty && host.hasSuffix("." + domain) && !isAddress(host))
    }
}
