// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Reads and writes cookies in Netscape's format, one per line, as curl does.
enum NetscapeCookieFile {
    /// The latest expiry, in seconds since 1970: the last second of the year 9999.
    private static let latestExpiry = 253_402_300_799.0

    /// Parses the cookies of a file. Only a line feed ends a line, and lines that are not valid cookies are skipped.
    static func cookies(_ text: String) -> [HTTPCookie] {
        text.unicodeScalars.split(separator: "\n").compactMap { line in
            var line = line
            // The line of a cookie that the library accepts from a server is shorter.
            guard Substring(line).utf8.count <= 8_192 else { return nil }
            if line.last == "\r" { line.removeLast() }
            let prefix = "#HttpOnly_".unicodeScalars
            let isHTTPOnly = line.starts(with: prefix)
            if isHTTPOnly { line = line.dropFirst(prefix.count) }
            // The fields: domain, whether the domain includes subdomains, path, whether the cookie is secure, expiry, name and
            // value.
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard line.first != "#", fields.count == 7, let expiry = Double(fields[4]), expiry.isFinite else {
                return nil
            }
            let includesSubdomains = fields[1] == "TRUE"
            let host = beginsWithDot(fields[0]) ? String(fields[0].unicodeScalars.dropFirst()) : fields[0]
            // No host begins with `#` or `.`. When the cookie is written again, `#` would make its line a comment, and `.` would
            // change the domain.
            if let first = host.unicodeScalars.first, first == "." || first == "#" { return nil }
            var properties: [HTTPCookiePropertyKey: Any] = [:]
            if fields[3] == "TRUE" { properties[.secure] = "TRUE" }
            if isHTTPOnly { properties[.httpOnly] = "TRUE" }
            // The expiry 0 stands for a session cookie.
            if expiry > 0 { properties[.expires] = Date(timeIntervalSince1970: min(expiry, latestExpiry)) }
            return CookieFromFile.cookie(
                name: fields[5], value: fields[6], domain: includesSubdomains ? "." + host : host,
                path: fields[2], properties)
        }
    }

    /// Returns the text of a file with these cookies, without cookies that have a control character: these could be read back as
    /// several fields or lines.
    static func text(_ cookies: [HTTPCookie]) -> String {
        let rows = cookies.compactMap { cookie -> String? in
            let includesSubdomains = beginsWithDot(cookie.domain)
            let expiry = cookie.expiresDate.map { "\(seconds($0))" } ?? "0"
            let fields = [
                cookie.domain, includesSubdomains ? "TRUE" : "FALSE", cookie.path,
                cookie.isSecure ? "TRUE" : "FALSE", expiry, cookie.name, cookie.value,
            ]
            let hasControls = fields.contains { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } }
            if hasControls { return nil }
            return (cookie.isHTTPOnly ? "#HttpOnly_" : "") + fields.joined(separator: "\t")
        }
        return (["# Netscape HTTP Cookie File", "# Written by lupine. Edit at your own risk.", ""] + rows)
            .joined(separator: "\n") + "\n"
    }

    /// Whether a domain begins with a dot, and so includes its subdomains. The code compares octets and not characters, since a
    /// dot and a combining mark together are another character.
    private static func beginsWithDot(_ domain: String) -> Bool { domain.utf8.first == UInt8(ascii: ".") }

    /// Returns the expiry in seconds since 1970, at least 1, since 0 stands for a session cookie.
    private static func seconds(_ date: Date) -> Int64 {
        let seconds = date.timeIntervalSince1970
        return seconds.isFinite ? Int64(min(max(seconds, 1), latestExpiry)) : 1
    }
}
