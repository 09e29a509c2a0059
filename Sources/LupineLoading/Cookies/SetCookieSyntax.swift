// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// Parses `Set-Cookie` fields as draft-ietf-httpbis-rfc6265bis §5.6 does (U-13.1 to U-13.9).
///
/// This type only parses; `CookieAdmission` decides whether a cookie may be stored. An invalid line yields no cookie; an invalid
/// attribute is ignored.
enum SetCookieSyntax {
    /// The most octets of name and value together; a longer cookie is rejected.
    static let maxOctets = 4_096
    /// The most octets of an attribute's value; a longer attribute is ignored.
    private static let maxAttributeOctets = 1_024
    /// The most attributes; a line with more yields no cookie.
    private static let maxAttributes = 64
    /// The most ports of a cookie; a longer list is ignored.
    private static let maxPorts = 64

    /// Splits a value in which commas join several lines, and trims white space from each line. A comma ends a line if a name and
    /// `=` follow it, with optional white space or line breaks between comma and name. The comma in a date does not end a line.
    ///
    /// Works on Unicode scalars, because a carriage return followed by a line feed is one `Character`.
    static func lines(in value: String) -> [String] {
        var lines: [String] = []
        let scalars = value.unicodeScalars
        var start = scalars.startIndex
        var index = start
        while let comma = scalars[index...].firstIndex(of: ",") {
            index = scalars.index(after: comma)
            let next = scalars[index...].drop { $0.properties.isWhitespace }
            let name = next.prefix { $0.isASCII && isTokenOctet(UInt8(truncatingIfNeeded: $0.value)) }
            guard !name.isEmpty, next[name.endIndex...].first == "=" else { continue }
            lines.append(line(scalars[start..<comma]))
            start = index
        }
        lines.append(line(scalars[start...]))
        return lines
    }

    /// Returns the scalars as a text, without white space around them.
    private static func line(_ scalars: Substring.UnicodeScalarView) -> String {
        Substring(scalars).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Removes line breaks that white space follows (obs-fold, RFC 9112 §5.2). Other line breaks stay and make the line invalid.
    static func unfolded(_ line: String) -> String {
        var text = String.UnicodeScalarView()
        var unread = line.unicodeScalars[...]
        while !unread.isEmpty {
            let lineText = unread.prefix { $0 != "\r" && $0 != "\n" }
            text.append(contentsOf: lineText)
            unread = unread[lineText.endIndex...]
            let lineBreaks = unread.prefix { $0 == "\r" || $0 == "\n" }
            unread = unread[lineBreaks.endIndex...]
            if unread.first != " ", unread.first != "\t" { text.append(contentsOf: lineBreaks) }
        }
        return String(text)
    }

    /// Parses one line: a name and a value, then attributes, separated by `;`. Returns nil if the line is not a valid cookie.
    static func cookie(_ line: String, from origin: CookieOrigin, now: Date) -> HTTPCookie? {
        guard !line.utf8.contains(where: { isControl($0) && $0 != UInt8(ascii: "\t") }),
            line.utf8.count(where: { $0 == UInt8(ascii: ";") }) <= maxAttributes
        else { return nil }
        let parts = line.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        let name = trimmed(pair[..<equals])
        let value = trimmed(pair[pair.index(after: equals)...])
        guard canBeSent(name: name, value: value), name.utf8.count + value.utf8.count <= maxOctets else {
            return nil
        }
        var contents = HTTPCookie.Contents(
            name: name, value: value, domain: origin.host, path: origin.defaultPath)
        // `Max-Age` and `Domain` are applied after the loop.
        var expiryByMaxAge: Date?
        var hasPath = false
        var domainText = ""
        for part in parts.dropFirst() {
            let equals = part.firstIndex(of: "=")
            let attribute = trimmed(part[..<(equals ?? part.endIndex)]).lowercased()
            let value = equals.map { trimmed(part[part.index(after: $0)...]) }
            guard (value ?? "").utf8.count <= maxAttributeOctets else { continue }
            switch attribute {
            case "max-age":
                // An invalid `Max-Age` does not replace an earlier one.
                expiryByMaxAge = value.flatMap { expiry(maximumAge: $0, now: now) } ?? expiryByMaxAge
            case "domain": domainText = value ?? ""
            case "path":
                hasPath = true
                apply(attribute, value, to: &contents, origin)
            default: apply(attribute, value, to: &contents, origin)
            }
        }
        // Only the last `Domain` counts (rfc6265bis §5.7), so the loop has not parsed the earlier ones.
        guard domainText.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        contents.domain = domain(domainText) ?? origin.host
        // The prefix `__Host-` requires a `Path`, and no `Domain`. `CookieAdmission` checks that the domain has no leading dot.
        // It cannot check the rest: an `HTTPCookie` does not tell whether its line had a path, or an IP address as domain.
        if CookiePrefix(of: name) == .host,
            !hasPath || domain(domainText).map(HostName.isAddress) ?? false
        {
            return nil
        }
        // `Max-Age` takes precedence over `Expires`.
        contents.expires = contents.isDiscarded ? nil : expiryByMaxAge ?? contents.expires
        return HTTPCookie(contents)
    }

    /// Sets the property for an attribute other than `Domain` and `Max-Age`, which `cookie(_:from:now:)` reads itself.
    private static func apply(
        _ attribute: String, _ value: String?, to contents: inout HTTPCookie.Contents, _ origin: CookieOrigin
    ) {
        let text = value ?? ""
        switch attribute {
        case "expires": contents.expires = HTTPDate.date(from: text) ?? contents.expires
        case "path": contents.path = text.hasPrefix("/") ? text : origin.defaultPath
        case "secure": contents.isSecure = true
        case "httponly": contents.isHTTPOnly = true
        case "samesite": contents.sameSite = HTTPCookieStringPolicy(attribute: text)?.rawValue
        case "version": contents.version = unquoted(text) == "1" ? 1 : 0
        case "comment": contents.comment = unquoted(text)
        case "commenturl":
            // A URI is ASCII (RFC 3986 §2). For other characters `URL` would do IDNA processing, which is slow.
            let address = unquoted(text)
            contents.commentURL = address.utf8.allSatisfy { $0 < 0x80 } ? URL(string: address) : nil
        case "port": contents.ports = ports(text)
        case "discard": contents.isDiscarded = true
        default: break
        }
    }

    // MARK: values of attributes

    /// Returns the date when a cookie with this `Max-Age` in seconds expires; nil if the text is not a number. A cookie with zero
    /// or less has expired already.
    static func expiry(maximumAge: String, now: Date) -> Date? {
        let isNegative = maximumAge.hasPrefix("-")
        let digits = isNegative ? maximumAge.dropFirst() : maximumAge[...]
        // 0x30...0x39 are the digits.
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        // A number too large for `Int` means the longest possible time.
        let seconds = Int(digits) ?? .max
        guard !isNegative, seconds > 0 else { return .distantPast }
        return min(now.addingTimeInterval(TimeInterval(seconds)), .distantFuture)
    }

    /// Parses a list of ports, with or without quotes around it. Returns nil if a port is invalid, or if there are too many.
    static func ports(_ text: String) -> [Int]? {
        guard text.utf8.count(where: { $0 == UInt8(ascii: ",") }) < maxPorts else { return nil }
        var ports: [Int] = []
        for part in unquoted(text).split(separator: ",", omittingEmptySubsequences: false) {
            guard let port = Int(trimmed(part)), (0...65_535).contains(port) else { return nil }
            ports.append(port)
        }
        return ports
    }

    /// Returns the value of a `Domain` attribute in the form of `HTTPCookie.domain`: in lowercase ASCII, with a leading dot
    /// unless it is an IP address. Returns nil for an empty value: the cookie is then for the response's host alone.
    private static func domain(_ text: String) -> String? {
        let bareDomain = HostName.canonical(text.hasPrefix(".") ? String(text.dropFirst()) : text)
        if bareDomain.isEmpty { return nil }
        return HostName.isAddress(bareDomain) ? bareDomain : "." + bareDomain
    }

    /// Removes the quotes around a text, if there are any.
    private static func unquoted(_ text: String) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast())
    }

    /// The characters that `trimmed(_:)` removes.
    private static let blanks = CharacterSet(charactersIn: " \t")

    /// Removes spaces and tabs around a text.
    private static func trimmed(_ text: Substring) -> String {
        text.trimmingCharacters(in: blanks)
    }

    // MARK: valid octets

    /// Whether a server that receives `name=value` in a `Cookie` field reads the same name and value: neither has control
    /// characters or `;`, and the name has no `=`.
    static func canBeSent(name: String, value: String) -> Bool {
        let (semicolon, equals) = (UInt8(ascii: ";"), UInt8(ascii: "="))
        return !name.isEmpty && !name.utf8.contains { isControl($0) || $0 == semicolon || $0 == equals }
            && !value.utf8.contains { isControl($0) || $0 == semicolon }
    }

    /// Whether the octet is a control character.
    private static func isControl(_ octet: UInt8) -> Bool { octet < 0x20 || octet == 0x7F }

    /// Whether a `token` may contain the octet: digits, letters, and the characters ! # $ % & ' * + - . ^ _ ` | ~ (RFC 9110
    /// §5.6.2).
    private static func isTokenOctet(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
