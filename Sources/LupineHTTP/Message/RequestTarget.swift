// SPDX-License-Identifier: MIT

/// A request target, in one of the four forms of RFC 9112 §3.2.
public enum RequestTarget: Hashable, Sendable, CustomStringConvertible {
    /// The origin form, `/path?query`: sent to an origin server.
    case origin(String)
    /// The absolute form, `http://host/path?query`: sent to a proxy.
    case absolute(String)
    /// The authority form, `host:port`: sent with CONNECT.
    case authority(Authority)
    /// The asterisk form, `*`: sent with OPTIONS for the server as a whole.
    case asterisk

    /// The target as it is sent.
    public var description: String {
        switch self {
        case .origin(let text), .absolute(let text): text
        case .authority(let authority): authority.hostAndPort
        case .asterisk: "*"
        }
    }

    /// Throws `HTTPError.invalidTarget` if the target is not valid in a request line of that method. A valid target is visible
    /// ASCII, follows the syntax of its form, and has a form that the method allows.
    package func validate(for method: Method) throws(HTTPError) {
        let isValid =
            switch self {
            case .origin(let text):
                method != .connect && text.utf8.first == UInt8(ascii: "/") && Self.hasOnlyTargetOctets(text)
            case .absolute(let text):
                method != .connect && Self.isAbsolute(text) && Self.hasOnlyTargetOctets(text)
            case .authority: method == .connect
            case .asterisk: method == .options
            }
        if !isValid { throw .invalidTarget(Self.excerpt(description)) }
    }

    /// Parses a received target, which `StartLineParser` has found to be visible ASCII. Throws `HTTPError.malformedTarget` if the
    /// target has none of the forms, or one that the method does not allow.
    package static func parse(_ text: String, method: Method) throws(HTTPError) -> RequestTarget {
        if method == .connect { return .authority(try Authority(parsing: text)) }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw .malformedTarget(excerpt(text)) }
        if text.utf8.first == UInt8(ascii: "/") { return .origin(text) }
        if text == "*", method == .options { return .asterisk }
        guard isAbsolute(text) else { throw .malformedTarget(excerpt(text)) }
        return .absolute(text)
    }

    /// Returns a target for an error, without parts that may be secrets: its query, and everything before an `@`, which may be
    /// user information.
    private static func excerpt(_ text: String) -> Excerpt {
        var shownOctets = text.utf8.prefix { $0 != UInt8(ascii: "?") }
        let hasQuery = shownOctets.endIndex != text.utf8.endIndex
        let lastAtSign = shownOctets.lastIndex(of: UInt8(ascii: "@"))
        if let lastAtSign { shownOctets = shownOctets[lastAtSign...] }
        let prefix = lastAtSign == nil ? "" : "..."
        return Excerpt(prefix + String(Substring(shownOctets)) + (hasQuery ? "?..." : ""))
    }

    /// Whether a text begins with a scheme and a colon (RFC 3986 §3.1).
    private static func isAbsolute(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: Octet.colon) else { return false }
        let octets = text.utf8[..<colon]
        // The first octet is a letter: 0x61 is "a", and octets below it wrap around to large numbers.
        guard let first = octets.first, Octet.lowercased(first) &- 0x61 < 26 else { return false }
        return octets.allSatisfy { octet in
            switch octet {
            // Digits, capitals and lower-case letters.
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
            default: false
            }
        }
    }

    /// Whether a text consists of visible ASCII without `#`, which would begin a fragment: fragments are not sent (RFC 9112
    /// §3.2).
    private static func hasOnlyTargetOctets(_ text: String) -> Bool {
        let octets = text.utf8.span
        for index in octets.indices {
            let octet = octets[index]
            guard OctetClass.contains(octet, OctetClass.target), octet != UInt8(ascii: "#") else {
                return false
            }
        }
        return true
    }
}

/// A host and port, as in `Host` and in the target of CONNECT (RFC 9110 §7.2).
public struct Authority: Sendable {
    /// A name, an IPv4 address, or an IPv6 address without brackets, possibly with a zone, as in `fe80::1%eth0`.
    public let host: String
    /// The port, also if it is the default port, which `Host` omits.
    public let port: UInt16
    /// The default port of the scheme, such as 443; nil if `Host` never omits the port.
    public let defaultPort: UInt16?
    /// The octets of the line `Host: description CRLF`. They are stored, because every request to this authority contains them.
    let hostLine: [UInt8]

    /// Creates an authority. Throws `HTTPError.invalidAuthority` if the host is empty or has octets that are not allowed.
    public init(host: String, port: UInt16, defaultPort: UInt16? = nil) throws(HTTPError) {
        guard let bare = Self.bareHost(host) else { throw .invalidAuthority(Excerpt(host)) }
        self.init(bare, port, defaultPort)
    }

    /// An authority whose host has been validated, and has no brackets.
    private init(_ bareHost: String, _ port: UInt16, _ defaultPort: UInt16?) {
        host = bareHost
        self.port = port
        self.defaultPort = defaultPort
        let hostInURI = Self.hostInURI(bareHost)
        let value = port == defaultPort ? hostInURI : hostInURI + ":" + String(port)
        hostLine = Array("Host: \(value)\r\n".utf8)
    }

    /// Parses a received `host:port`, of which the port is required. Throws `HTTPError.malformedTarget` if the text has another
    /// form, or if the host or the port is invalid.
    init(parsing text: String) throws(HTTPError) {
        guard let colon = text.utf8.lastIndex(of: Octet.colon),
            let port = Self.parsePort(
                text.utf8.span.extracting(
                    droppingFirst: text.utf8.distance(from: text.utf8.startIndex, to: colon) + 1))
        else { throw .malformedTarget(Excerpt(text)) }
        let host = String(text[..<colon])
        // A host that contains a colon is an IPv6 address, which must be in brackets.
        guard !host.utf8.contains(Octet.colon) || host.utf8.first == UInt8(ascii: "["),
            let bare = Self.bareHost(host)
        else { throw .malformedTarget(Excerpt(text)) }
        self.init(bare, port, nil)
    }

    /// Calls `body` with the octets of the `Host` value.
    package func withField<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The value is between `Host: `, 6 octets, and CRLF.
        try body(hostLine.span.extracting(6..<(hostLine.count - 2)))
    }

    /// `host:port`, also for the default port.
    var hostAndPort: String { Self.hostInURI(host) + ":" + String(port) }

    /// Returns the host as in a URI: an IPv6 address in brackets, without its zone, which is meaningful only on this machine and
    /// must not be sent (RFC 6874 §4).
    private static func hostInURI(_ host: String) -> String {
        host.utf8.contains(Octet.colon) ? "[" + host.prefix { $0 != "%" } + "]" : host
    }

    /// Whether the value of a `Host` field is well-formed: a host with an optional port, or empty.
    package static func isHostField(_ value: Span<UInt8>) -> Bool {
        guard !value.isEmpty else { return true }
        // The end of the host.
        var end = 0
        if value[0] == UInt8(ascii: "[") {
            while end < value.count, value[end] != UInt8(ascii: "]") { end += 1 }
            guard end < value.count, bareHost(value.text(0..<end + 1)) != nil else { return false }
            end += 1
        } else {
            while end < value.count, isNameOctet(value[end]) { end += 1 }
            guard end > 0 else { return false }
        }
        guard end < value.count else { return true }
        return value[end] == Octet.colon && isPort(value.extracting(droppingFirst: end + 1))
    }

    /// Returns a host without the brackets of an IPv6 address, or nil if the host is invalid. Only an IPv6 address may be in
    /// brackets.
    private static func bareHost(_ host: String) -> String? {
        let octets = host.utf8
        if octets.first == UInt8(ascii: "["), octets.last == UInt8(ascii: "]"), octets.count > 2 {
            return isIPv6Address(octets.dropFirst().dropLast()) ? String(host.dropFirst().dropLast()) : nil
        }
        return isName(octets[...]) || isIPv6Address(octets[...]) ? host : nil
    }

    /// Whether the octets after the colon are a port, or empty (RFC 3986 §3.2.3).
    private static func isPort(_ digits: Span<UInt8>) -> Bool {
        digits.isEmpty || parsePort(digits) != nil
    }

    /// Parses one to five decimal digits. Returns nil for anything else, and for a number above 65,535.
    private static func parsePort(_ digits: Span<UInt8>) -> UInt16? {
        guard !digits.isEmpty, digits.count <= 5 else { return nil }
        var number: UInt32 = 0
        for index in digits.indices {
            guard let digit = Octet.decimal(digits[index]) else { return nil }
            number = number * 10 + UInt32(digit)
        }
        return UInt16(exactly: number)
    }

    /// Whether a host has only octets that RFC 3986 §3.2.2 allows in a registered name: letters, digits, and `-._~!$&'()*+,;=%`.
    private static func isName(_ octets: Substring.UTF8View) -> Bool {
        !octets.isEmpty && octets.allSatisfy(isNameOctet)
    }

    private static func isNameOctet(_ octet: UInt8) -> Bool {
        switch octet {
        // Digits, capitals and lower-case letters; - . _ ~ %
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x25: true
        // The sub-delims: ! $ & ' ( ) * + , ; =
        case 0x21, 0x24, 0x26...0x2C, Octet.semicolon, Octet.equals: true
        default: false
        }
    }

    /// Whether the octets look like an IPv6 address, possibly with a zone. Checks only the characters and the colons; the
    /// resolver decides whether the address is valid.
    private static func isIPv6Address(_ octets: Substring.UTF8View) -> Bool {
        let address = octets.prefix { $0 != UInt8(ascii: "%") }
        let colonCount = address.count { $0 == Octet.colon }
        let hasDoubleColon = zip(address, address.dropFirst())
            .contains { $0 == Octet.colon && $1 == Octet.colon }
        // Without `::` there are seven colons, or six before an IPv4 address.
        guard colonCount >= 6 || hasDoubleColon else { return false }
        let dot = UInt8(ascii: ".")
        guard address.allSatisfy({ Octet.hexadecimal($0) != nil || $0 == Octet.colon || $0 == dot }) else {
            return false
        }
        // The zone begins with the percent sign.
        let zone = octets.dropFirst(address.count)
        return zone.isEmpty || (zone.count > 1 && isName(zone))
    }
}

/// Two authorities are equal if their hosts, ports and default ports are. `hostLine` is not compared, because it depends only on
/// these three properties.
extension Authority: Hashable {
    public static func == (left: Authority, right: Authority) -> Bool {
        left.host == right.host && left.port == right.port && left.defaultPort == right.defaultPort
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(defaultPort)
    }
}

/// `host` or `host:port`, as in `Host`.
extension Authority: CustomStringConvertible {
    public var description: String { port == defaultPort ? Self.hostInURI(host) : hostAndPort }
}
