// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// Converts cookies from and to dictionaries of properties (U-13.16).
extension HTTPCookie.Contents {
    /// Reads a dictionary of properties. Fails if a required property is missing or invalid.
    init?(properties: [HTTPCookiePropertyKey: Any], now: Date) {
        guard let name = properties[.name] as? String, let value = properties[.value] as? String,
            let path = properties[.path] as? String,
            SetCookieSyntax.canBeSent(name: name, value: value)
        else { return nil }
        let origin = Self.url(properties[.originURL]).flatMap { CookieOrigin($0) }
        let explicitDomain = (properties[.domain] as? String)?.lowercased() ?? ""
        guard let domain = explicitDomain.isEmpty ? origin?.host : explicitDomain else { return nil }
        // A path that does not begin with a slash counts as missing.
        self.init(
            name: name, value: value, domain: domain,
            path: path.hasPrefix("/") ? path : origin?.defaultPath ?? "/")
        expires = Self.expiry(properties, now: now)
        isDiscarded = Self.flag(properties[.discard])
        // `Discard` makes the cookie expire with the session.
        if isDiscarded { expires = nil }
        isSecure = Self.flag(properties[.secure])
        isHTTPOnly = Self.flag(properties[.httpOnly])
        sameSite = Self.policy(properties[.sameSitePolicy])?.rawValue
        version = Self.number(properties[.version]) == 1 ? 1 : 0
        comment = properties[.comment] as? String
        commentURL = Self.url(properties[.commentURL])
        ports = Self.ports(properties[.port])
    }

    /// The properties from which `init(properties:now:)` creates equal contents.
    var properties: [HTTPCookiePropertyKey: Any] {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: domain, .path: path, .version: String(version),
        ]
        properties[.expires] = expires
        properties[.comment] = comment
        properties[.commentURL] = commentURL
        properties[.sameSitePolicy] = sameSite
        properties[.port] = ports.map { $0.map(String.init).joined(separator: ",") }
        if isSecure { properties[.secure] = "TRUE" }
        if isHTTPOnly { properties[.httpOnly] = "TRUE" }
        if isDiscarded { properties[.discard] = "TRUE" }
        return properties
    }

    /// Returns the date of `maximumAge`; if that property is missing or invalid, the date of `expires`. Nil if neither is valid.
    private static func expiry(_ properties: [HTTPCookiePropertyKey: Any], now: Date) -> Date? {
        switch properties[.maximumAge] {
        case let text as String:
            if let expiry = SetCookieSyntax.expiry(maximumAge: text, now: now) { return expiry }
        case let other:
            if let seconds = number(other) {
                return SetCookieSyntax.expiry(maximumAge: String(seconds), now: now)
            }
        }
        switch properties[.expires] {
        case let date as Date: return date
        case let text as String: return HTTPDate.date(from: text)
        default: return nil
        }
    }

    /// Reads a property that is a `Bool`, or the text `TRUE`; false for anything else.
    private static func flag(_ property: Any?) -> Bool {
        switch property {
        case let flag as Bool: flag
        case let text as String: text.uppercased() == "TRUE"
        default: false
        }
    }

    /// Reads a property that is a number or its text.
    private static func number(_ property: Any?) -> Int? {
        switch property {
        case let number as Int: number
        case let number as NSNumber: number.intValue
        case let text as String: Int(text)
        default: nil
        }
    }

    /// Reads a property that is a URL or its text.
    private static func url(_ property: Any?) -> URL? {
        switch property {
        case let url as URL: url
        case let text as String: URL(string: text)
        default: nil
        }
    }

    /// Reads a property that is a policy or its name.
    private static func policy(_ property: Any?) -> HTTPCookieStringPolicy? {
        switch property {
        case let policy as HTTPCookieStringPolicy: HTTPCookieStringPolicy(attribute: policy.rawValue)
        case let text as String: HTTPCookieStringPolicy(attribute: text)
        default: nil
        }
    }

    /// Reads a property that is an array of ports, or their text, separated by commas.
    private static func ports(_ property: Any?) -> [Int]? {
        switch property {
        case let text as String: SetCookieSyntax.ports(text)
        case let numbers as [NSNumber]:
            SetCookieSyntax.ports(numbers.map { String($0.intValue) }.joined(separator: ","))
        default: nil
        }
    }
}
