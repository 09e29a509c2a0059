// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// Parses `Set-Cookie` fields as draft-ietf-httpbis-rfc6265bis §5.6 does (U-13.1 to U-13.9).
///
/// Pure: this type only parses; `CookieAdmission` decides whether a cookie may be stored. An invalid line yields no cookie; an
/// invalid attribute is ignored.
enum SetCookieSyntax {
    /// The largest number of octets of name and value together.
    static let longest = 4_096
    /// The largest number of octets of an attribute's value; a longer attribute is ignored.
    private static let longestAttribute = 1_024
    /// The largest number of attributes; a line with more yields no cookie.
    private static let mostAttributes = 64
    /// The largest number of ports of a cookie.
    private static let mostPorts = 64

    /// Splits a joined value into lines, without white space around them: a comma ends a line if a name and `=` follow it, with
    /// optional white space or line breaks in between. So commas in dates do not split a line.
    ///
    /// Works on Unicode scalars, because a carriage return followed by a line feed is one `Character`.
    static func lines(in value: String) -> [String] {
        var lines: [String] = []
        let scalars = value.unicodeScalars
        var start = scalars.startIndex
        var index = start
        while let comma = scalars[index...].firstIndex(of: ",") {
            index = scalars.index(after: comma)
            let rest = scalars[index...].drop { $0.properties.isWhitespace }
            let name = rest.prefix { $0.isASCII && isTokenOctet(UInt8(truncatingIfNeeded: $0.value)) }
            guard !name.isEmpty, rest[name.endIndex...].first == "=" else { continue }
            lines.append(line(scalars[start..<comma]))
            start = index
        }
        lines.append(line(scalars[start...]))
        return lines
    }

    private static func line(_ scalars: Substring.UnicodeScalarView) -> String {
        Substring(scalars).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Removes line breaks that white space follows (obs-fold, RFC 9112 §5.2). Other line breaks stay and make the line invalid.
    static func unfolded(_ line: String) -> String {
        var text = String.UnicodeScalarView()
        var rest = line.unicodeScalars[...]
        while !rest.isEmpty {
            let plain = rest.prefix { $0 != "\r" && $0 != "\n" }
            text.append(contentsOf: plain)
            rest = rest[plain.endIndex...]
            let breaks = rest.prefix { $0 == "\r" || $0 == "\n" }
            rest = rest[breaks.endIndex...]
            if rest.first != " ", rest.first != "\t" { text.append(contentsOf: breaks) }
        }
        return String(text)
    }

    /// Parses one line; returns nil if it is not a cookie.
    static func cookie(_ line: String, from origin: CookieOrigin, now: Date) -> HTTPCookie? {
        guard !line.utf8.contains(where: { isControl($0) && $0 != 0x09 }),
            line.utf8.count(where: { $0 == 0x3B }) <= mostAttributes
        else { return nil }
        let parts = line.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        let name = trimmed(pair[..<equals])
        let value = trimmed(pair[pair.index(after: equals)...])
        guard canBeSent(name: name, value: value), name.utf8.count + value.utf8.count <= longest else {
            return nil
        }
        var contents = HTTPCookie.Contents(
            name: name, value: value, domain: origin.host, path: origin.defaultPath)
        var maximumAge: Date?
        var (hasPath, domainText) = (false, "")
        for part in parts.dropFirst() {
            let equals = part.firstIndex(of: "=")
            let attribute = trimmed(part[..<(equals ?? part.endIndex)]).lowercased()
            let value = equals.map { trimmed(part[part.index(after: $0)...]) }
            guard (value ?? "").utf8.count <= longestAttribute else { continue }
            switch attribute {
            case "path": hasPath = true
            case "domain": domainText = value ?? ""
            default: break
            }
            switch attribute {
            case "max-age": maximumAge = value.flatMap { end(maximumAge: $0, now: now) } ?? maximumAge
            default: apply(attribute, value, to: &contents, origin)
            }
        }
        // The last `Domain` counts, and only that one is parsed.
        guard domainText.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        contents.domain = domain(domainText) ?? origin.host
        // `__Host-` is checked here, because the cookie does not tell whether its line had a path, or an address as domain.
        if CookiePrefix(of: name) == .host,
            !hasPath || domain(domainText).map(HostName.isAddress) ?? false
        {
            return nil
        }
        contents.expires = contents.isDiscarded ? nil : maximumAge ?? contents.expires
        return HTTPCookie(contents)
    }

    private static func apply(
        _ attribute: String, _ value: String?, to contents: inout HTTPCookie.Contents, _ origin: CookieOrigin
    ) {
        let text = value ?? ""
        switch attribute {
        case "expires": contents.expires = HTTPDate.moment(of: text) ?? contents.expires
        case "path": contents.path = text.hasPrefix("/") ? text : origin.defaultPath
        case "secure": contents.isSecure = true
        case "httponly": contents.isHTTPOnly = true
        case "samesite": contents.sameSite = HTTPCookieStringPolicy(attribute: text)?.rawValue
        case "version": contents.version = unquoted(text) == "1" ? 1 : 0
        case "comment": contents.comment = unquoted(text)
        case "commenturl":
            // A URI is ASCII (RFC 3986 §2); a name in other characters would go through IDNA processing, which takes long.
            let address = unquoted(text)
            contents.commentURL = address.utf8.allSatisfy { $0 < 0x80 } ? URL(string: address) : nil
        case "port": contents.ports = ports(text)
        case "discard": contents.isDiscarded = true
        default: break
        }
    }

    // MARK: values of attributes

    /// Returns when a cookie with this `Max-Age` expires; nil if it is not a number. Zero and less expire at once.
    static func end(maximumAge: String, now: Date) -> Date? {
        let isNegative = maximumAge.hasPrefix("-")
        let digits = isNegative ? maximumAge.dropFirst() : maximumAge[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        // A number too large for `Int` means the longest possible time.
        let seconds = Int(digits) ?? .max
        guard !isNegative, seconds > 0 else { return .distantPast }
        return min(now.addingTimeInterval(TimeInterval(seconds)), .distantFuture)
    }

    /// Parses a list of ports, quoted or not; returns nil if one is invalid or there are too many.
    static func ports(_ text: String) -> [Int]? {
        guard text.utf8.count(where: { $0 == 0x2C }) < mostPorts else { return nil }
        var ports: [Int] = []
        for part in unquoted(text).split(separator: ",", omittingEmptySubsequences: false) {
            guard let port = Int(trimmed(part)), (0...65_535).contains(port) else { return nil }
            ports.append(port)
        }
        return ports
    }

    /// Returns a domain in the form that cookies use: in lowercase ASCII, with a leading dot unless it is an address. Returns nil
    /// for an empty domain, which means the host alone.
    private static func domain(_ text: String) -> String? {
        let bare = HostName.canonical(text.hasPrefix(".") ? String(text.dropFirst()) : text)
        if bare.isEmpty { return nil }
        return HostName.isAddress(bare) ? bare : "." + bare
    }

    private static func unquoted(_ text: String) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast())
    }

    /// The only characters that are trimmed.
    private static let blanks = CharacterSet(charactersIn: " \t")

    private static func trimmed(_ text: Substring) -> String {
        text.trimmingCharacters(in: blanks)
    }

    // MARK: what can stand in a Cookie field

    /// Whether `name=value` can be sent without being misinterpreted.
    static func canBeSent(name: String, value: String) -> Bool {
        !name.isEmpty && !name.utf8.contains { isControl($0) || $0 == 0x3B || $0 == 0x3D }
            && !value.utf8.contains { isControl($0) || $0 == 0x3B }
    }

    private static func isControl(_ octet: UInt8) -> Bool { octet < 0x20 || octet == 0x7F }

    /// `token` of RFC 9110 §5.6.2.
    private static func isTokenOctet(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
