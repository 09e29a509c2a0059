// SPDX-License-Identifier: MIT

/// Why a text is not a URL that a transport can request. Offsets count bytes of the text.
public enum TransportURLError: Error, Hashable, Sendable {
    /// Longer than `limit` bytes.
    case tooLong(length: Int, limit: Int)
    /// A control, a space, a byte outside ASCII, or one that RFC 3986 does not allow in its place.
    case illegalByte(UInt8, offset: Int)
    /// It does not begin with a scheme and a colon.
    case missingScheme
    /// Not `http`, `https` or `http+unix`.
    case unsupportedScheme(String)
    /// No `//` follows the scheme.
    case missingAuthority(offset: Int)
    /// A user or password stands before the host. They are refused: what looks like a host may be a user, and
    /// credentials in a URL end in logs.
    case userinfo(offset: Int)
    /// There is nothing where the host would stand.
    case emptyHost(offset: Int)
    /// What stands in brackets is no IPv6 address.
    case malformedIPLiteral(offset: Int)
    /// The zone of an IPv6 address is empty or not written as `%25` and a name (RFC 6874).
    case malformedZone(offset: Int)
    /// A `%` that two hexadecimal digits do not follow.
    case malformedPercentEncoding(offset: Int)
    /// A host name is percent-encoded: its meaning would depend on who decodes it.
    case percentEncodedHost(offset: Int)
    /// Not a number from 1 to 65535.
    case malformedPort(offset: Int)
    /// The socket's path of an `http+unix` URL is empty, not UTF-8, contains a NUL, or has a port.
    case malformedSocketPath(offset: Int)
    /// The socket's path does not fit in a socket address.
    case socketPathTooLong(length: Int, limit: Int)
}
