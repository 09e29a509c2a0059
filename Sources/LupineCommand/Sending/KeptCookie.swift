// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// A cookie that a file has: taken where a server could have set it, as far as its size goes (RFC 6265 §6.1).
enum KeptCookie {
    /// The most octets of name and value together, of a path, and of a domain.
    private static let (longest, longestPath, longestDomain) = (4_096, 1_024, 255)

    /// The cookie of these properties; nil where it is none, or longer than any that a server sets.
    static func cookie(
        name: String, value: String, domain: String, path: String, _ others: [HTTPCookiePropertyKey: Any]
    ) -> HTTPCookie? {
        guard name.utf8.count + value.utf8.count <= longest, path.utf8.count <= longestPath,
            domain.utf8.count <= longestDomain
        else { return nil }
        let properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: domain, .path: path,
        ]
        let cookie = HTTPCookie(properties: properties.merging(others) { first, _ in first })
        // A name in Unicode may have become longer.
        return cookie.flatMap { $0.domain.utf8.count <= longestDomain ? $0 : nil }
    }
}
