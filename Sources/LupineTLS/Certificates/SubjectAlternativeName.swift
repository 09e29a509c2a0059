// SPDX-License-Identifier: MIT

/// One of the names that a certificate is for (RFC 5280 §4.2.1.6), as it stands there.
public enum SubjectAlternativeName: Sendable, Hashable {
    /// A host name or a wildcard; bytes outside of UTF-8 are U+FFFD.
    case dns(String)
    /// An address: 4 bytes, 16, or what else stands there.
    case ip([UInt8])
    /// An e-mail address.
    case email(String)
    /// A URI.
    case uri(String)
    /// Another kind of name.
    case other(String)

    /// The text of a URI.
    var uri: String? {
        switch self {
        case .uri(let text): text
        case .dns, .ip, .email, .other: nil
        }
    }
}
