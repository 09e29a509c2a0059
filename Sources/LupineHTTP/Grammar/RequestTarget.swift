// SPDX-License-Identifier: MIT

/// What a request asks for, in one of the four forms of RFC 9112 §3.2.
public enum RequestTarget: Hashable, Sendable, CustomStringConvertible {
    /// `/path?query`: to an origin server.
    case origin(String)
    /// `http://host/path?query`: to a proxy.
    case absolute(String)
    /// `host:port`: CONNECT.
    case authority(Authority)
    /// `*`: OPTIONS for the server as a whole.
    case asterisk

    /// The octets on the wire.
    public var description: String {
        switch self {
        case .origin(let text), .absolute(let text): text
        case .authority(let authority): authority.withPort
        case .asterisk: "*"
        }
    }

    /// Throws `HTTPError.invalidTarget` unless the target can stand in a request line of that method, where the
    /// server tells its form by: visible ASCII, the authority for CONNECT alone, the asterisk for OPTIONS alone.
    func validate(for method: Method) throws(HTTPError) {
        let isValid =
            switch self {
            case .origin(let text): method != .connect && text.utf8.first == 0x2F && Self.isVisible(text)
            case .absolute(let text): method != .connect && Self.hasScheme(text) && Self.isVisible(text)
            case .authority: method == .connect
            case .asterisk: method == .options
            }
        guard isValid else { throw .invalidTarget(Excerpt(description)) }
    }

    /// The form that a parsed target has; the parser has seen it to be visible ASCII.
    static func parsed(_ text: String, method: Method) throws(HTTPError) -> RequestTarget {
        if method == .connect { return .authority(try Authority(parsing: text)) }
        if text.utf8.first == 0x2F { return .origin(text) }
        if text == "*", method == .options { return .asterisk }
        guard hasScheme(text) else { throw .invalidTarget(Excerpt(text)) }
        return .absolute(text)
    }

    /// scheme ":" (RFC 3986 §3.1)
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: Octet.colon), let first = text.utf8.first else {
            return false
        }
        return Octet.lowercased(first) &- 0x61 < 26
            && text.utf8[..<colon].allSatisfy { OctetClass.contains($0, OctetClass.token) && $0 != 0x5F }
    }

    private static func isVisible(_ text: String) -> Bool {
        text.utf8.allSatisfy { OctetClass.contains($0, OctetClass.target) && $0 != 0x23 }
    }
}

/// A host and a port as they stand in `Host` and in the target of CONNECT (RFC 9110 §7.2).
public struct Authority: Hashable, Sendable, CustomStringConvertible {
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    public let host: String
    public let port: UInt16
    /// The port that goes without saying, which `Host` leaves out.
    public let defaultPort: UInt16?

    /// Throws `HTTPError.invalidAuthority` when the host is empty or holds what a host cannot.
    public init(host: String, port: UInt16, defaultPort: UInt16? = nil) throws(HTTPError) {
        let bare = Self.withoutBrackets(host)
        guard Self.isHost(bare) else { throw .invalidAuthority(Excerpt(host)) }
        self.host = bare
        self.port = port
        self.defaultPort = defaultPort
    }

    /// Reads `host:port`, the port being required.
    init(parsing text: String) throws(HTTPError) {
        guard let colon = text.utf8.lastIndex(of: Octet.colon),
            let port = Self.port(text.utf8[text.utf8.index(after: colon)...])
        else { throw .invalidTarget(Excerpt(text)) }
        let host = String(text[..<colon])
        // A colon left in the host is an address, and addresses stand in brackets.
        guard !host.utf8.contains(Octet.colon) || host.utf8.first == 0x5B else {
            throw .invalidTarget(Excerpt(text))
        }
        try self.init(host: host, port: port)
    }

    /// `host` or `host:port`, as `Host` has it.
    public var description: String { port == defaultPort ? bracketed : withPort }

    /// `host:port`, whatever the port.
    var withPort: String { bracketed + ":" + String(port) }

    private var bracketed: String { host.utf8.contains(Octet.colon) ? "[" + host + "]" : host }

    /// Whether a received `Host` value is well-formed: a host, perhaps a port, or nothing at all.
    static func isHostField(_ value: String) -> Bool {
        guard !value.isEmpty else { return true }
        let octets = value.utf8
        if octets.first == 0x5B {
            guard let bracket = octets.firstIndex(of: 0x5D) else { return false }
            let rest = octets[octets.index(after: bracket)...]
            guard rest.isEmpty || (rest.first == Octet.colon && isPort(rest.dropFirst())) else {
                return false
            }
            return isHost(withoutBrackets(String(value[...bracket])))
        }
        guard let colon = octets.firstIndex(of: Octet.colon) else { return isHost(value) }
        return isHost(String(value[..<colon])) && isPort(octets[octets.index(after: colon)...])
    }

    private static func withoutBrackets(_ host: String) -> String {
        host.utf8.first == 0x5B && host.utf8.last == 0x5D ? String(host.dropFirst().dropLast()) : host
    }

    private static func isPort(_ digits: Substring.UTF8View.SubSequence) -> Bool {
        digits.isEmpty || port(digits) != nil
    }

    private static func port(_ digits: Substring.UTF8View.SubSequence) -> UInt16? {
        guard !digits.isEmpty, digits.count <= 5 else { return nil }
        var number: UInt32 = 0
        for octet in digits {
            guard let digit = Octet.decimal(octet) else { return nil }
            number = number * 10 + UInt32(digit)
        }
        return UInt16(exactly: number)
    }

    /// RFC 3986 §3.2.2 without its generosity: letters, digits, and `-._~!$&'()*+,;=%`; colons for addresses.
    private static func isHost(_ host: String) -> Bool {
        guard !host.isEmpty else { return false }
        let isAddress = host.utf8.contains(Octet.colon)
        return host.utf8.allSatisfy { octet in
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x25: true
            case 0x21, 0x24, 0x26...0x2C, Octet.semicolon, Octet.equals: !isAddress
            case Octet.colon: true
            default: false
            }
        }
    }
}
