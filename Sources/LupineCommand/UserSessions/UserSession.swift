// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The cookies and header fields that `--session NAME` keeps for one origin.
struct UserSession: Codable, Hashable, Sendable {
    /// A cookie as it is stored in the file.
    struct Cookie: Codable, Hashable, Sendable {
        var name: String
        var value: String
        var domain: String
        var path: String
        /// The expiry in seconds since 1970; nil for a session cookie.
        var expires: Double?
        var secure: Bool
        var httpOnly: Bool
    }

    /// A header field as it is stored in the file.
    struct Field: Codable, Hashable, Sendable {
        var name: String
        var value: String
    }

    var cookies: [Cookie] = []
    var headers: [Field] = []

    /// The names of fields whose value is no secret. The value of any other field may be one.
    private static let harmlessFields: Set = ["accept", "accept-language", "user-agent"]

    /// Whether the value of a field with this name is no secret.
    static func isHarmless(_ name: String) -> Bool { harmlessFields.contains(name.lowercased()) }

    /// The result of splitting a session of the old file format, which has no origins.
    struct Split {
        var sessions: [SessionOrigin: UserSession]
        /// The names of the fields that are dropped, since the origin to which they may be sent is unknown.
        var droppedFields: [String]
    }

    /// Splits a session of the old file format, which has no origins.
    ///
    /// The session of `origin` gets the harmless fields and the cookies that may be sent to `origin`. Each other cookie is
    /// added to the https session of its domain, and to the http session unless the cookie is `Secure`.
    func split(for origin: SessionOrigin) -> Split {
        let isHarmless = { (field: Field) in Self.isHarmless(field.name) }
        var sessions = [origin: UserSession(cookies: [], headers: headers.filter(isHarmless))]
        for cookie in cookies {
            var cookieOrigins = [origin]
            if !origin.domainMatches(cookie.domain) || (cookie.secure && origin.scheme != "https") {
                let host = cookie.domain.hasPrefix(".") ? String(cookie.domain.dropFirst()) : cookie.domain
                cookieOrigins = (cookie.secure ? ["https"] : ["https", "http"]).compactMap {
                    // Parsing the text again drops an invalid host.
                    SessionOrigin(text: SessionOrigin(scheme: $0, host: host).text)
                }
            }
            for cookieOrigin in cookieOrigins {
                sessions[cookieOrigin, default: UserSession()].cookies.append(cookie)
            }
        }
        return Split(sessions: sessions, droppedFields: headers.filter { !isHarmless($0) }.map(\.name))
    }

    /// The cookies for a cookie storage, without invalid ones.
    var storedCookies: [HTTPCookie] {
        cookies.compactMap { cookie in
            var properties: [HTTPCookiePropertyKey: Any] = [:]
            if cookie.secure { properties[.secure] = "TRUE" }
            if cookie.httpOnly { properties[.httpOnly] = "TRUE" }
            if let expires = cookie.expires { properties[.expires] = Date(timeIntervalSince1970: expires) }
            return CookieFromFile.cookie(
                name: cookie.name, value: cookie.value, domain: cookie.domain, path: cookie.path, properties)
        }
    }

    /// Returns the session with other cookies and header fields.
    ///
    /// - Parameters:
    ///   - cookies: The cookies, which replace the session's cookies.
    ///   - newHeaders: The header fields of a request, which replace fields of the same name. Fields that belong to the content,
    ///     a condition or a range of this request are ignored.
    func updated(cookies: [HTTPCookie], headers newHeaders: [(name: String, value: String)]) -> UserSession {
        var session = self
        session.cookies = cookies.map {
            Cookie(
                name: $0.name, value: $0.value, domain: $0.domain, path: $0.path,
                expires: $0.expiresDate?.timeIntervalSince1970, secure: $0.isSecure, httpOnly: $0.isHTTPOnly)
        }
        for (name, value) in newHeaders {
            let lowered = name.lowercased()
            let isOfThisRequest =
                lowered.hasPrefix("content-") || lowered.hasPrefix("if-") || lowered == "range"
            // Cookies are kept only in `cookies`, never as a field.
            guard !isOfThisRequest, lowered != "cookie" else { continue }
            session.headers.removeAll { $0.name.lowercased() == lowered }
            session.headers.append(Field(name: name, value: value))
        }
        return session
    }
}
