// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Creates cookies that are read from a file, if they are no longer than a cookie that a server can set (RFC 6265 §6.1).
enum KeptCookie {
    /// The maximum number of octets of name and value together, of a path, and of a domain.
    private static let (longest, longestPath, longestDomain) = (4_096, 1_024, 255)

    /// Returns the cookie with these properties; nil if it is invalid or too long.
    static func cookie(
        name: String, value: String, domain: String, path: String,
        _ otherProperties: [HTTPCookiePropertyKey: Any]
    ) -> HTTPCookie? {
        guard name.utf8.count + value.utf8.count <= longest, path.utf8.count <= longestPath,
            domain.utf8.count <= longestDomain
        else { return nil }
        let properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: domain, .path: path,
        ]
        let cookie = HTTPCookie(properties: properties.merging(otherProperties) { first, _ in first })
        // Converting a Unicode domain may make it longer.
        return cookie.flatMap { $0.domain.utf8.count <= longestDomain ? $0 : nil }
    }
}
