// SPDX-License-Identifier: MIT

/// Checks whether a certificate is valid for a host (RFC 9525).
///
/// Only subject alternative names are used, never the common name. Names are compared without case; a wildcard must be the
/// complete left-most label, stands for exactly one label, and has at least two after it. An IP literal matches only an address
/// with the same bytes. Non-ASCII hosts must be given as A-labels: a U-label matches nothing.
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
            case (.address(let wanted), .ip(let bytes)): bytes == wanted
            case (.labels(let wanted), .dns(let text)): matches(wanted, presented: text)
            case (.address, _), (.labels, _): false
            }
        }
    }

    /// The names that `matches` compares, as text for error messages. A peer may put anything into a name, even line breaks or
    /// terminal commands, so other bytes than printable ASCII are shown in hexadecimal.
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

    /// The reference identity of RFC 9525: what the client expects the certificate to contain.
    private enum Reference {
        case address([UInt8])
        case labels([[UInt8]])

        /// Nil for a host that no certificate can match: with an empty label, with a character that host names cannot have, or
        /// with a numeric last label although it is no IP address.
        init?(_ host: String) {
            var bytes = Array(host.utf8)
            if bytes.first == UInt8(ascii: "[") {
                guard bytes.last == UInt8(ascii: "]"), bytes.contains(UInt8(ascii: ":")) else { return nil }
                bytes = Array(bytes.dropFirst().dropLast())
            } else if bytes.last == UInt8(ascii: "."), !bytes.contains(UInt8(ascii: ":")) {
                // The trailing dot marks a name as complete; certificates contain none.
                bytes.removeLast()
            }
            if bytes.contains(UInt8(ascii: ":")) {
                // The zone of a link-local address selects an interface; it does not identify the peer.
                let parts = bytes.split(
                    separator: UInt8(ascii: "%"), maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 1 || !parts[1].isEmpty,
                    let address = IPLiteral.bytes(of: String(decoding: parts[0], as: UTF8.self))
                else { return nil }
                self = .address(address)
            } else if let address = IPLiteral.bytes(of: String(decoding: bytes, as: UTF8.self)) {
                self = .address(address)
            } else {
                guard let labels = PeerIdentity.labels(of: bytes), let last = labels.last,
                    !last.allSatisfy({ (0x30...0x39).contains($0) })
                else { return nil }
                self = .labels(labels)
            }
        }
    }

    /// Whether a DNS name of the certificate, possibly a wildcard, matches these labels.
    private static func matches(_ wanted: [[UInt8]], presented text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.starts(with: wildcard) else { return labels(of: bytes) == wanted }
        guard let suffix = labels(of: Array(bytes.dropFirst(wildcard.count))), suffix.count >= 2 else {
            return false
        }
        return wanted.count == suffix.count + 1 && suffix.elementsEqual(wanted.dropFirst())
    }

    private static let wildcard = Array("*.".utf8)

    /// The labels of a name in lower case; nil when it is no host name. Underscores are accepted because such names are in use.
    private static func labels(of name: [UInt8]) -> [[UInt8]]? {
        guard name.count <= 253 else { return nil }
        var labels: [[UInt8]] = []
        for label in name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard (1...63).contains(label.count) else { return nil }
            var lowered: [UInt8] = []
            for character in label {
                switch character {
                case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "_"): lowered.append(character)
                case 0x41...0x5A: lowered.append(character | 0x20)
                default: return nil
                }
            }
            labels.append(lowered)
        }
        return labels
    }
}
