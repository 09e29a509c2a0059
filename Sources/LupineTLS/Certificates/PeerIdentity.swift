// SPDX-License-Identifier: MIT

/// Checks whether a certificate is valid for a host (RFC 9525).
///
/// Only subject alternative names count, never the common name. Names are compared without case. A wildcard must be the complete
/// left-most label; it stands for exactly one label, and at least two labels follow it. An IP literal matches only an address
/// with the same bytes. An internationalized host must be in its ASCII form (A-labels, `xn--`): Unicode labels match nothing.
package enum PeerIdentity {
    /// Whether the certificate is valid for the host: a name or an IP literal, with or without brackets.
    package static func matches(host: String, certificate: Certificate) -> Bool {
        matches(host: host, names: certificate.subjectAlternativeNames)
    }

    /// Whether a certificate with these names is valid for the host.
    package static func matches(host: String, names: [SubjectAlternativeName]) -> Bool {
        guard let reference = Reference(host) else { return false }
        return names.contains { name in
            switch (reference, name) {
            case (.address(let address), .ip(let bytes)): bytes == address
            case (.labels(let labels), .dns(let text)): matches(labels, presented: text)
            case (.address, _), (.labels, _): false
            }
        }
    }

    /// Returns the names that `matches` compares, as text for error messages. A peer may put anything into a name, even line
    /// breaks or terminal commands, so bytes that are not printable ASCII appear in hexadecimal.
    package static func names(of certificate: Certificate) -> [String] {
        certificate.subjectAlternativeNames.compactMap { name in
            switch name {
            case .dns(let text): printable(text)
            case .ip(let bytes): IPLiteral.text(of: bytes)
            case .email, .uri, .other: nil
            }
        }
    }

    private static let printableASCII: ClosedRange<UInt8> = 0x21...0x7E

    /// Returns the text with all bytes that are not printable ASCII in hexadecimal, such as `\x1b`.
    private static func printable(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ printableASCII.contains($0) }) else { return text }
        return text.utf8.reduce(into: "") { shown, byte in
            if printableASCII.contains(byte) {
                shown.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                shown += "\\x" + Hexadecimal.lowercase([byte])
            }
        }
    }

    /// The reference identity of RFC 9525: the address or name that the client expects in the certificate.
    private enum Reference {
        /// The 4 or 16 bytes of an IP address.
        case address([UInt8])
        /// The labels of a host name, in lower case.
        case labels([[UInt8]])

        /// Parses a host. Nil for a host that no certificate can match: one with an empty label, with a character that host names
        /// cannot have, or with a numeric last label although it is no IP address.
        init?(_ host: String) {
            var bytes = Array(host.utf8)
            if bytes.first == UInt8(ascii: "[") {
                guard bytes.last == UInt8(ascii: "]"), bytes.contains(UInt8(ascii: ":")) else { return nil }
                bytes = Array(bytes.dropFirst().dropLast())
            } else if bytes.last == UInt8(ascii: "."), !bytes.contains(UInt8(ascii: ":")) {
                // The trailing dot marks a name as complete; names in certificates have none.
                bytes.removeLast()
            }
            if bytes.contains(UInt8(ascii: ":")) {
                // The zone of a link-local address, after `%`, selects an interface. It does not identify the peer.
                let addressAndZone = bytes.split(
                    separator: UInt8(ascii: "%"), maxSplits: 1, omittingEmptySubsequences: false)
                guard addressAndZone.count == 1 || !addressAndZone[1].isEmpty,
                    let address = IPLiteral.bytes(of: String(decoding: addressAndZone[0], as: UTF8.self))
                else { return nil }
                self = .address(address)
            } else if let address = IPLiteral.bytes(of: String(decoding: bytes, as: UTF8.self)) {
                self = .address(address)
            } else {
                // 0x30 to 0x39 are the ASCII digits.
                guard let labels = PeerIdentity.labels(of: bytes), let last = labels.last,
                    !last.allSatisfy({ (0x30...0x39).contains($0) })
                else { return nil }
                self = .labels(labels)
            }
        }
    }

    /// Whether a DNS name that the certificate presents, possibly a wildcard, matches the labels of the host.
    private static func matches(_ hostLabels: [[UInt8]], presented text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.starts(with: wildcard) else { return labels(of: bytes) == hostLabels }
        guard let suffix = labels(of: Array(bytes.dropFirst(wildcard.count))), suffix.count >= 2 else {
            return false
        }
        return hostLabels.count == suffix.count + 1 && suffix.elementsEqual(hostLabels.dropFirst())
    }

    private static let wildcard = Array("*.".utf8)

    /// Returns the labels of a name in lower case; nil when it is no host name (at most 253 octets, labels of 1 to 63 octets).
    /// Underscores are accepted because names with underscores are in use.
    private static func labels(of name: [UInt8]) -> [[UInt8]]? {
        guard name.count <= 253 else { return nil }
        var labels: [[UInt8]] = []
        for label in name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard (1...63).contains(label.count) else { return nil }
            var lowercaseLabel: [UInt8] = []
            for character in label {
                switch character {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    lowercaseLabel.append(character)
                case UInt8(ascii: "A")...UInt8(ascii: "Z"): lowercaseLabel.append(character | 0x20)
                default: return nil
                }
            }
            labels.append(lowercaseLabel)
        }
        return labels
    }
}
