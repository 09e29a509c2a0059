// SPDX-License-Identifier: MIT

/// The reason why a proxy's URL cannot be used. Offsets count bytes of the URL. The error contains no part of the URL that may be
/// a password.
public enum ProxyURLError: Error, Hashable, Sendable {
    /// The scheme is not that of a supported proxy.
    case unsupportedScheme(String)
    /// The host is empty.
    case emptyHost
    /// The host is malformed.
    case malformedHost(offset: Int)
    /// The port is not a number from 1 to 65535.
    case malformedPort(offset: Int)
    /// A `%` is not followed by two hexadecimal digits.
    case malformedPercentEncoding(offset: Int)
    /// A path, query or fragment follows the proxy's address.
    case trailingText(offset: Int)
    /// A byte is not allowed in a URL.
    case illegalByte(offset: Int)
}

extension ProxyURLError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unsupportedScheme(let scheme):
            "the scheme \(Excerpt(scheme)) is none of a proxy: http, https and socks5 are"
        case .emptyHost: "there is no host"
        case .malformedHost(let offset): "what stands for a host at octet \(offset) is none"
        case .malformedPort(let offset): "the port at octet \(offset) is no number from 1 to 65535"
        case .malformedPercentEncoding(let offset):
            "the % at octet \(offset) has no two hexadecimal digits behind it"
        case .trailingText(let offset): "nothing may stand behind the port, as it does at octet \(offset)"
        case .illegalByte(let offset):
            "the octet at \(offset) cannot stand in a URL as it is: percent-encode it"
        }
    }
}

extension ProxyServer {
    /// Parses `[scheme://][user[:password]@]host[:port][/]`. The scheme is `http` (the default), `https`, `socks5` or `socks5h`.
    /// With `socks5` as with `socks5h`, the proxy resolves names. User and password are percent-decoded.
    package init(url: String) throws(ProxyURLError) {
        let bytes = Array(url.utf8)
        // Control characters, blanks, and bytes that are not ASCII are not allowed.
        if let offset = bytes.firstIndex(where: { $0 <= 0x20 || $0 >= 0x7F }) {
            throw .illegalByte(offset: offset)
        }
        var start = 0
        var kind = Kind.http
        if let end = bytes.indices.first(where: { bytes[$0...].starts(with: "://".utf8) }) {
            let scheme = String(decoding: bytes[..<end], as: UTF8.self).asciiLowercased
            switch scheme {
            case "http": kind = .http
            case "https": kind = .https
            case "socks5", "socks5h": kind = .socks5
            case _: throw .unsupportedScheme(scheme)
            }
            start = end + 3
        }
        // The address ends at a slash (0x2F), `?` (0x3F) or `#` (0x23). Only a single slash may follow it.
        let end = bytes[start...].firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? bytes.count
        if end < bytes.count, bytes[end...] != [0x2F] { throw .trailingText(offset: end) }

        var credentials: Credentials?
        // The last `@` (0x40) ends the credentials, and the first colon (0x3A) ends the user.
        if let atSign = bytes[start..<end].lastIndex(of: 0x40) {
            let colon = bytes[start..<atSign].firstIndex(of: 0x3A)
            let user = try Self.decoded(bytes[start..<(colon ?? atSign)])
            var password: [UInt8] = []
            if let colon { password = try Self.decoded(bytes[(colon + 1)..<atSign]) }
            credentials = Credentials(user: user, password: password)
            start = atSign + 1
        }
        let (host, portStart) = try Self.host(bytes[start..<end])
        var port = kind.defaultPort
        // A colon is at `portStart` unless the address ends there.
        if portStart < end {
            let digits = bytes[(portStart + 1)..<end]
            // The last condition is needed because `UInt16` also accepts a plus sign.
            guard digits.count <= 5, let number = UInt16(String(decoding: digits, as: UTF8.self)), number > 0,
                digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
            else { throw .malformedPort(offset: portStart + 1) }
            port = number
        }
        self.init(kind: kind, host: host, port: port, credentials: credentials)
    }

    /// Returns the host at the start of `text`, and the index of its end: a colon or the end of `text`.
    private static func host(_ text: ArraySlice<UInt8>) throws(ProxyURLError) -> (String, Int) {
        // An IPv6 literal in brackets, which end the host or precede a colon.
        if text.first == UInt8(ascii: "[") {
            guard let bracket = text.firstIndex(of: UInt8(ascii: "]")) else {
                throw .malformedHost(offset: text.startIndex)
            }
            let literal = String(decoding: text[(text.startIndex + 1)..<bracket], as: UTF8.self)
            let end = bracket + 1
            guard IPv6Address(literal) != nil, end == text.endIndex || text[end] == UInt8(ascii: ":")
            else {
                throw .malformedHost(offset: text.startIndex)
            }
            return (literal, end)
        }
        let end = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        let name = text[text.startIndex..<end]
        guard !name.isEmpty else { throw .emptyHost }
        if let offset = name.firstIndex(where: { !URIByte.isUnreserved($0) }) {
            throw .malformedHost(offset: offset)
        }
        return (String(decoding: name, as: UTF8.self), end)
    }

    /// Returns the percent-decoded text.
    private static func decoded(_ text: ArraySlice<UInt8>) throws(ProxyURLError) -> [UInt8] {
        switch URIByte.percentDecoded(text) {
        case .success(let bytes): return bytes
        case .failure(let fault): throw .malformedPercentEncoding(offset: fault.offset)
        }
    }
}

extension ProxyServer.Kind {
    /// The port of a proxy whose URL names none.
    fileprivate var defaultPort: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        case .socks5: 1080
        }
    }
}
