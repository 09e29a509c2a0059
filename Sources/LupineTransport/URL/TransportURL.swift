// SPDX-License-Identifier: MIT

import LupineHTTP

/// An `http`, `https` or `http+unix` URL, parsed strictly according to RFC 3986: the target of a request.
///
/// It is not a general URL type. Path and query keep their spelling, including percent-encoding and dot segments. Scheme and host
/// are lowercased. A fragment is checked and dropped, because it is never sent. In an `http+unix` URL, the percent-encoded path
/// of the socket replaces the host: `http+unix://%2Frun%2Fdaemon.sock/info`.
///
/// An empty path is equivalent to `/`, except for OPTIONS, for which it means the server as a whole (RFC 9110 §4.2.3, §9.3.7).
public struct TransportURL: Sendable {
    /// The transport to the origin.
    public enum Scheme: String, Hashable, Sendable {
        /// Over TCP.
        case http
        /// Over TCP and TLS.
        case https
        /// Over a Unix-domain socket.
        case httpUnix = "http+unix"

        /// The port if the URL names none; 0 for a Unix-domain socket.
        public var defaultPort: UInt16 {
            switch self {
            case .http: 80
            case .https: 443
            case .httpUnix: 0
            }
        }
    }

    /// The length of the longest URL that is parsed, in bytes.
    public static let longestText = 64 * 1024
    /// The capacity of `sun_path` without its final NUL.
    static let longestSocketPath = 107

    /// The authority component (RFC 3986 §3.2), or the socket that replaces it.
    private struct Authority: Hashable {
        /// The host in lower case, without brackets and zone.
        var host: String
        /// The decoded zone of an IPv6 address.
        var zone: String?
        var isIPv6 = false
        var port: UInt16
        /// The path of the socket of an `http+unix` URL.
        var unixPath: String?
    }

    /// The URL's scheme.
    public let scheme: Scheme
    private let authority: Authority
    /// The path as it is sent; never empty.
    public let path: String
    /// The query without its `?`; `nil` if there is none.
    public let query: String?
    /// Whether the URL was written with a path; if not, `path` is `/`.
    private let hasPath: Bool

    /// The host in lower case: a name, or an address without brackets and zone. `localhost` for `http+unix`.
    public var host: String { authority.host }
    /// The zone of an IPv6 address, percent-decoded: the interface that a link-local address belongs to. `nil` without a zone.
    public var zone: String? { authority.zone }
    /// The port to connect to: that of the URL or, if it has none, of the scheme. 0 for `http+unix`.
    public var port: UInt16 { authority.port }
    /// The socket's path of an `http+unix` URL; `nil` for any other URL.
    public var unixPath: String? { authority.unixPath }

    /// The request target in origin form (RFC 9112 §3.2.1).
    public var target: String { query.map { "\(path)?\($0)" } ?? path }

    /// Returns the request target for a method: `*` for OPTIONS if the URL has neither path nor query.
    func target(of method: Method) -> RequestTarget {
        let namesServer = !hasPath && query == nil
        return method == .options && namesServer ? .asterisk : .origin(target)
    }

    /// The value of the Host field (RFC 9112 §3.2): the host, and the port if it is not the scheme's. An IPv6 address is in
    /// brackets and without its zone (RFC 6874 §3).
    public var hostField: String {
        let name = authority.isIPv6 ? "[\(host)]" : host
        return port == scheme.defaultPort ? name : "\(name):\(port)"
    }

    /// Parses an absolute URL. Throws if the scheme is not supported, or at the first violation of the syntax.
    public init(_ text: String) throws(TransportURLError) {
        let bytes = try Self.validatedBytes(of: text)
        try self.init(URIReference(bytes))
    }

    /// Creates a URL from the components of an absolute URL; throws if one of them is invalid or missing.
    private init(_ reference: URIReference) throws(TransportURLError) {
        guard let schemeBytes = reference.scheme else { throw .missingScheme }
        let schemeName = String(decoding: schemeBytes, as: UTF8.self).asciiLowercased
        guard let scheme = Scheme(rawValue: schemeName) else { throw .unsupportedScheme(schemeName) }
        guard let authority = reference.authority else {
            throw .missingAuthority(offset: reference.path.startIndex)
        }
        try Self.validate(reference)
        self.init(
            scheme: scheme, authority: try Self.parseAuthority(authority, scheme: scheme),
            path: reference.path, query: reference.query)
    }

    private init(
        scheme: Scheme, authority: Authority, path: some Collection<UInt8>, query: (some Collection<UInt8>)?
    ) {
        self.scheme = scheme
        self.authority = authority
        self.path = path.isEmpty ? "/" : String(decoding: path, as: UTF8.self)
        hasPath = !path.isEmpty
        self.query = query.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Resolves `reference`, a URL or a relative reference, against this URL (RFC 3986 §5.2).
    public func resolving(_ reference: String) throws(TransportURLError) -> TransportURL {
        let bytes = try Self.validatedBytes(of: reference)
        let parsed = URIReference(bytes)
        // The base is only path and query. The code below takes scheme and authority from this URL if `reference` has none.
        let (pathOctets, queryOctets) = (Array(writtenPath.utf8), query.map { Array($0.utf8) })
        let target = parsed.resolved(against: URIReference(path: pathOctets[...], query: queryOctets?[...]))
        if parsed.scheme != nil {
            // Creating `absolute` throws if a component is invalid. The path is taken from `target`, where the dot segments have
            // been removed.
            let absolute = try TransportURL(parsed)
            return TransportURL(
                scheme: absolute.scheme, authority: absolute.authority, path: target.path, query: target.query
            )
        }
        try Self.validate(parsed)
        let newAuthority = try parsed.authority.map { text throws(TransportURLError) in
            try Self.parseAuthority(text, scheme: scheme)
        }
        return TransportURL(
            scheme: scheme, authority: newAuthority ?? authority, path: target.path, query: target.query)
    }

    /// Resolves the value of a Location field, which servers often write incorrectly. Spaces, bytes outside ASCII, a `%` that
    /// begins no triplet and the few printable bytes that RFC 3986 excludes are percent-encoded first, as browsers and curl do.
    /// Control characters are errors.
    public func resolving(location: String) throws(TransportURLError) -> TransportURL {
        var repaired: [UInt8] = []
        let bytes = Array(location.utf8)
        guard bytes.count <= Self.longestText else {
            throw .tooLong(length: bytes.count, limit: Self.longestText)
        }
        var isInQuery = false
        // Each case names its bytes by their code.
        for (index, byte) in bytes.enumerated() {
            switch byte {
            // Space, " < > \ ^ ` { | } and bytes outside ASCII.
            case 0x20, 0x22, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7B...0x7D, 0x80...:
                repaired += URIByte.percentEncoded(byte)
            // [ and ] in the query. Before it, they delimit an IPv6 address.
            case 0x5B where isInQuery, 0x5D where isInQuery:
                repaired += URIByte.percentEncoded(byte)
            // A % that begins no triplet: two hexadecimal digits do not follow it.
            case 0x25 where URIByte.malformedTriplet(in: bytes[index..<min(index + 3, bytes.count)]) == index:
                repaired += URIByte.percentEncoded(byte)
            case _:
                if byte == UInt8(ascii: "?") { isInQuery = true }
                repaired.append(byte)
            }
        }
        return try resolving(String(decoding: repaired, as: UTF8.self))
    }

    /// The path as written, possibly empty.
    private var writtenPath: String { hasPath ? path : "" }

    // MARK: parsing

    /// Returns the bytes of the text. Throws if the text is too long or contains a byte that is not printable ASCII.
    private static func validatedBytes(of text: String) throws(TransportURLError) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count <= longestText else { throw .tooLong(length: bytes.count, limit: longestText) }
        for (index, byte) in bytes.enumerated() where byte <= 0x20 || byte >= 0x7F {
            throw .illegalByte(byte, offset: index)
        }
        return bytes
    }

    /// Throws if path, query or fragment contains a byte that RFC 3986 does not allow there.
    private static func validate(_ reference: URIReference) throws(TransportURLError) {
        try validateComponent(reference.path, URIByte.isPath)
        if let query = reference.query { try validateComponent(query, URIByte.isQuery) }
        if let fragment = reference.fragment { try validateComponent(fragment, URIByte.isQuery) }
    }

    /// Throws if a component contains a byte that is not allowed, or a `%` without two hexadecimal digits.
    private static func validateComponent(
        _ text: ArraySlice<UInt8>, _ isAllowed: (UInt8) -> Bool
    ) throws(TransportURLError) {
        for index in text.indices where text[index] != UInt8(ascii: "%") && !isAllowed(text[index]) {
            throw .illegalByte(text[index], offset: index)
        }
        if let index = URIByte.malformedTriplet(in: text) { throw .malformedPercentEncoding(offset: index) }
    }

    /// Parses an authority: a name, an IPv4 or IPv6 address, or the path of a socket; then the port.
    private static func parseAuthority(
        _ text: ArraySlice<UInt8>, scheme: Scheme
    ) throws(TransportURLError) -> Authority {
        if text.contains(UInt8(ascii: "@")) { throw .userinfo(offset: text.startIndex) }
        if scheme == .httpUnix { return try parseSocketAuthority(text) }
        guard text.first != UInt8(ascii: "[") else {
            return try parseIPLiteralAuthority(text, scheme: scheme)
        }
        let nameEnd = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        let name = text[text.startIndex..<nameEnd]
        guard !name.isEmpty else { throw .emptyHost(offset: text.startIndex) }
        for index in name.indices
        where !URIByte.isUnreserved(name[index]) && !URIByte.isSubDelimiter(name[index]) {
            if name[index] == UInt8(ascii: "%") { throw .percentEncodedHost(offset: index) }
            throw .illegalByte(name[index], offset: index)
        }
        return Authority(
            host: String(decoding: name, as: UTF8.self).asciiLowercased,
            port: try parsePort(text[nameEnd...], scheme: scheme))
    }

    /// Parses an authority whose host is an IPv6 address in brackets, perhaps with a zone (RFC 6874).
    private static func parseIPLiteralAuthority(
        _ text: ArraySlice<UInt8>, scheme: Scheme
    ) throws(TransportURLError) -> Authority {
        let start = text.startIndex + 1
        guard let bracket = text.firstIndex(of: UInt8(ascii: "]")) else {
            throw .malformedIPLiteral(offset: text.startIndex)
        }
        let percent = text[start..<bracket].firstIndex(of: UInt8(ascii: "%")) ?? bracket
        let literal = String(decoding: text[start..<percent], as: UTF8.self).asciiLowercased
        guard IPv6Address(literal) != nil else { throw .malformedIPLiteral(offset: start) }
        var zone: String?
        if percent < bracket {
            // `%25` is the percent-encoded `%` before the zone. The zone must be printable ASCII.
            let encoded = text[percent..<bracket]
            guard encoded.starts(with: "%25".utf8),
                case .success(let decoded) = URIByte.percentDecoded(encoded.dropFirst(3)), !decoded.isEmpty,
                decoded.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { throw .malformedZone(offset: percent) }
            zone = String(decoding: decoded, as: UTF8.self)
        }
        return Authority(
            host: literal, zone: zone, isIPv6: true,
            port: try parsePort(text[(bracket + 1)...], scheme: scheme))
    }

    /// Parses the percent-encoded path of a socket, which has no port.
    private static func parseSocketAuthority(
        _ text: ArraySlice<UInt8>
    ) throws(TransportURLError) -> Authority {
        for index in text.indices
        where text[index] != UInt8(ascii: "%") && !URIByte.isUnreserved(text[index])
            && !URIByte.isSubDelimiter(text[index])
        {
            if text[index] == UInt8(ascii: ":") { throw .malformedSocketPath(offset: index) }
            throw .illegalByte(text[index], offset: index)
        }
        switch URIByte.percentDecoded(text) {
        case .failure(let fault):
            throw .malformedPercentEncoding(offset: fault.offset)
        case .success(let decoded):
            guard !decoded.isEmpty else { throw .emptyHost(offset: text.startIndex) }
            guard decoded.count <= longestSocketPath else {
                throw .socketPathTooLong(length: decoded.count, limit: longestSocketPath)
            }
            guard !decoded.contains(0), let path = String(validating: decoded, as: UTF8.self) else {
                throw .malformedSocketPath(offset: text.startIndex)
            }
            return Authority(host: "localhost", port: 0, unixPath: path)
        }
    }

    /// Parses the text after the host: empty, or a colon and a number. Without a number the port is the scheme's.
    private static func parsePort(
        _ text: ArraySlice<UInt8>, scheme: Scheme
    ) throws(TransportURLError) -> UInt16 {
        guard let colon = text.first else { return scheme.defaultPort }
        guard colon == UInt8(ascii: ":") else { throw .illegalByte(colon, offset: text.startIndex) }
        let digits = text.dropFirst()
        if digits.isEmpty { return scheme.defaultPort }
        var number = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else {
                throw .malformedPort(offset: digits.startIndex)
            }
            // The number is limited to a value above every port, so that any number of digits causes no overflow.
            number = min(number * 10 + Int(digit - UInt8(ascii: "0")), 1 << 20)
        }
        guard let port = UInt16(exactly: number), port > 0 else {
            throw .malformedPort(offset: digits.startIndex)
        }
        return port
    }
}

/// URLs are equal if they address the same resource: an empty path equals `/`.
extension TransportURL: Hashable {
    public static func == (left: TransportURL, right: TransportURL) -> Bool {
        left.scheme == right.scheme && left.authority == right.authority && left.path == right.path
            && left.query == right.query
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        hasher.combine(authority)
        hasher.combine(path)
        hasher.combine(query)
    }
}

extension TransportURL: CustomStringConvertible {
    /// The normalised URL, without the default port and the fragment.
    public var description: String {
        if let unixPath {
            let encoded = unixPath.utf8.flatMap {
                URIByte.isUnreserved($0) ? [$0] : URIByte.percentEncoded($0)
            }
            return "\(scheme.rawValue)://\(String(decoding: encoded, as: UTF8.self))\(target)"
        }
        var name = host
        if authority.isIPv6 {
            let encodedZone = (zone ?? "").utf8.flatMap {
                URIByte.isUnreserved($0) ? [$0] : URIByte.percentEncoded($0)
            }
            let zoneSuffix = zone == nil ? "" : "%25" + String(decoding: encodedZone, as: UTF8.self)
            name = "[\(host)\(zoneSuffix)]"
        }
        let portSuffix = port == scheme.defaultPort ? "" : ":\(port)"
        return "\(scheme.rawValue)://\(name)\(portSuffix)\(target)"
    }
}
