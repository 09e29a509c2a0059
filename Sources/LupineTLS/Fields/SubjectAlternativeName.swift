// SPDX-License-Identifier: MIT

/// A subject alternative name of a certificate (RFC 5280 §4.2.1.6), as it is in the certificate.
public enum SubjectAlternativeName: Sendable, Hashable {
    /// A host name or a wildcard; bytes that are not UTF-8 are replaced by U+FFFD.
    case dns(String)
    /// An IP address: 4 or 16 bytes, or any other number if malformed.
    case ip([UInt8])
    /// An e-mail address.
    case email(String)
    /// A URI.
    case uri(String)
    /// A name of another kind, of which only the kind is known, such as "directory name".
    case other(String)

    /// The text of a URI; nil for other names.
    var uri: String? {
        switch self {
        case .uri(let text): text
        case .dns, .ip, .email, .other: nil
        }
    }
}
