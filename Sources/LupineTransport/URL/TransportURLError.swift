// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The reason why a text is not a URL that the transport can request. Offsets are in bytes of the text.
public enum TransportURLError: Error, Hashable, Sendable {
    /// The text is longer than `limit` bytes.
    case tooLong(length: Int, limit: Int)
    /// The text contains a control character, a space, a byte outside ASCII, or a byte that RFC 3986 does not allow at that
    /// position.
    case illegalByte(UInt8, offset: Int)
    /// The text does not begin with a scheme and a colon.
    case missingScheme
    /// The scheme is not `http`, `https` or `http+unix`.
    case unsupportedScheme(String)
    /// No `//` follows the scheme.
    case missingAuthority(offset: Int)
    /// There is a user or password before the host. URLs must not contain them, because a user name can look like a host, and
    /// because credentials in URLs get into logs.
    case userinfo(offset: Int)
    /// The host is empty.
    case emptyHost(offset: Int)
    /// The text in brackets is not an IPv6 address.
    case malformedIPLiteral(offset: Int)
    /// The zone of an IPv6 address is empty or not written as `%25` and a name (RFC 6874).
    case malformedZone(offset: Int)
    /// A `%` is not followed by two hexadecimal digits.
    case malformedPercentEncoding(offset: Int)
    /// The host name is percent-encoded. Programs that decode it and programs that do not would see different hosts.
    case percentEncodedHost(offset: Int)
    /// The port is not a number from 1 to 65535.
    case malformedPort(offset: Int)
    /// The socket's path of an `http+unix` URL is empty, not UTF-8, contains a NUL, or has a port.
    case malformedSocketPath(offset: Int)
    /// The socket's path does not fit in a socket address.
    case socketPathTooLong(length: Int, limit: Int)
}

extension TransportURLError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooLong(let length, let limit): "it has \(length) octets, and \(limit) are taken"
        case .illegalByte(let octet, let offset):
            "the octet 0x\(String(octet, radix: 16)) at \(offset) cannot stand in a URL as it is: percent-encode it"
        case .missingScheme: "it has no scheme: it is to begin with https:// or http://"
        case .unsupportedScheme(let scheme):
            "the scheme \(Excerpt(scheme)) is not supported: http, https and http+unix are"
        case .missingAuthority(let offset): "// is missing at octet \(offset), behind the scheme"
        case .userinfo(let offset):
            "a user name or password stands at octet \(offset): give it by other means"
        case .emptyHost(let offset): "there is no host at octet \(offset)"
        case .malformedIPLiteral(let offset): "what stands in brackets at octet \(offset) is no IPv6 address"
        case .malformedZone(let offset): "the zone at octet \(offset) is not %25 and a name"
        case .malformedPercentEncoding(let offset):
            "the % at octet \(offset) has no two hexadecimal digits behind it"
        case .percentEncodedHost(let offset): "the host at octet \(offset) is percent-encoded"
        case .malformedPort(let offset): "the port at octet \(offset) is no number from 1 to 65535"
        case .malformedSocketPath(let offset): "the socket's path at octet \(offset) cannot be used"
        case .socketPathTooLong(let length, let limit):
            "the socket's path has \(length) octets, and \(limit) fit in a socket's address"
        }
    }
}
