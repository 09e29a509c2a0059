// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Creates cookies from the properties that a file contains. Their lengths are limited as for a cookie that a server sets
/// (RFC 6265 §6.1).
enum CookieFromFile {
    /// The maximum number of octets of name and value together.
    private static let maximumNameAndValueLength = 4_096
    /// The maximum number of octets of a path.
    private static let maximumPathLength = 1_024
    /// The maximum number of octets of a domain.
    private static let maximumDomainLength = 255

    /// Returns the cookie with these properties; nil if it is invalid or too long.
    static func cookie(
        name: String, value: String, domain: String, path: String,
        _ otherProperties: [HTTPCookiePropertyKey: Any]
    ) -> HTTPCookie? {
        guard name.utf8.count + value.utf8.count <= maximumNameAndValueLength,
            path.utf8.count <= maximumPathLength, domain.utf8.count <= maximumDomainLength
        else { return nil }
        let properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: domain, .path: path,
        ]
        // The properties whose lengths were checked take precedence.
        let cookie = HTTPCookie(properties: properties.merging(otherProperties) { first, _ in first })
        // `HTTPCookie` converts a Unicode domain to ASCII, which may make it longer.
        return cookie.flatMap { $0.domain.utf8.count <= maximumDomainLength ? $0 : nil }
    }
}
