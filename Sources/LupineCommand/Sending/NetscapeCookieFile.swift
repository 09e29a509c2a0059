// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Cookies in Netscape's format, one per line, as curl reads and writes them.
enum NetscapeCookieFile {
    /// The cookies of a text. Lines that are none are passed over.
    static func cookies(_ text: String) -> [HTTPCookie] {
        text.split(whereSeparator: \.isNewline).compactMap { line in
            var line = line
            let isHTTPOnly = line.hasPrefix("#HttpOnly_")
            if isHTTPOnly { line = line.dropFirst("#HttpOnly_".count) }
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard !line.hasPrefix("#"), fields.count == 7, let expiry = Double(fields[4]) else { return nil }
            let isWide = fields[1] == "TRUE"
            let host = fields[0].hasPrefix(".") ? String(fields[0].dropFirst()) : fields[0]
            var properties: [HTTPCookiePropertyKey: Any] = [
                .domain: isWide ? "." + host : host, .path: fields[2], .name: fields[5], .value: fields[6],
            ]
            if fields[3] == "TRUE" { properties[.secure] = "TRUE" }
            if isHTTPOnly { properties[.httpOnly] = "TRUE" }
            if expiry > 0 { properties[.expires] = Date(timeIntervalSince1970: expiry) }
            return HTTPCookie(properties: properties)
        }
    }

    /// The text for cookies.
    static func text(_ cookies: [HTTPCookie]) -> String {
        let rows = cookies.map { cookie in
            let isWide = cookie.domain.hasPrefix(".")
            let expiry = cookie.expiresDate.map { "\(Int64($0.timeIntervalSince1970))" } ?? "0"
            let row = [
                cookie.domain, isWide ? "TRUE" : "FALSE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
                expiry,
                cookie.name, cookie.value,
            ].joined(separator: "\t")
            return (cookie.isHTTPOnly ? "#HttpOnly_" : "") + row
        }
        return (["# Netscape HTTP Cookie File", "# Written by lupine. Edit at your own risk.", ""] + rows)
            .joined(separator: "\n") + "\n"
    }
}
