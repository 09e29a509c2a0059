// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The cookies and header fields that `--session NAME` keeps for one origin.
struct UserSession: Codable, Hashable, Sendable {
    struct Cookie: Codable, Hashable, Sendable {
        var name: String
        var value: String
        var domain: String
        var path: String
        var expires: Double?
        var secure: Bool
        var httpOnly: Bool
    }

    struct Field: Codable, Hashable, Sendable {
        var name: String
        var value: String
    }

    var cookies: [Cookie] = []
    var headers: [Field] = []

    /// Fields that hold no secret; any other may, whatever its name.
    private static let harmlessFields: Set = ["accept", "accept-language", "user-agent"]

    /// Whether a field of that name holds no secret.
    static func isHarmless(_ name: String) -> Bool { harmlessFields.contains(name.lowercased()) }

    /// The result of splitting a session of the old format, without origin.
    struct Split {
        var sessions: [SessionOrigin: UserSession]
        /// The names of the dropped fields: the origin that they were meant for is unknown.
        var dropped: [String]
    }

    /// Splits a session of the old format, without origin. Harmless fields go to `origin`, and so do cookies that it may receive;
    /// other cookies go to the origins of their domain: only https for `Secure` cookies, otherwise https and http.
    func split(for origin: SessionOrigin) -> Split {
        let isHarmless = { (field: Field) in Self.isHarmless(field.name) }
        var sessions = [origin: UserSession(cookies: [], headers: headers.filter(isHarmless))]
        for cookie in cookies {
            var owners = [origin]
            if !origin.isWithin(cookie.domain) || (cookie.secure && origin.scheme != "https") {
                let host = cookie.domain.hasPrefix(".") ? String(cookie.domain.dropFirst()) : cookie.domain
                owners = (cookie.secure ? ["https"] : ["https", "http"]).compactMap {
                    SessionOrigin(text: SessionOrigin(scheme: $0, host: host).text)
                }
            }
            for owner in owners { sessions[owner, default: UserSession()].cookies.append(cookie) }
        }
        return Split(sessions: sessions, dropped: headers.filter { !isHarmless($0) }.map(\.name))
    }

    var storedCookies: [HTTPCookie] {
        cookies.compactMap { cookie in
            var properties: [HTTPCookiePropertyKey: Any] = [:]
            if cookie.secure { properties[.secure] = "TRUE" }
            if cookie.httpOnly { properties[.httpOnly] = "TRUE" }
            if let expires = cookie.expires { properties[.expires] = Date(timeIntervalSince1970: expires) }
            return KeptCookie.cookie(
                name: cookie.name, value: cookie.value, domain: cookie.domain, path: cookie.path, properties)
        }
    }

    /// Returns the session with the cookies of a storage, and with those header fields of a request that are kept.
    func updated(cookies: [HTTPCookie], headers added: [(name: String, value: String)]) -> UserSession {
        var session = self
        session.cookies = cookies.map {
            Cookie(
                name: $0.name, value: $0.value, domain: $0.domain, path: $0.path,
                expires: $0.expiresDate?.timeIntervalSince1970, secure: $0.isSecure, httpOnly: $0.isHTTPOnly)
        }
        for (name, value) in added {
            let lowered = name.lowercased()
            guard !lowered.hasPrefix("content-"), !lowered.hasPrefix("if-"), lowered != "cookie",
                lowered != "range"
            else { continue }
            session.headers.removeAll { $0.name.lowercased() == lowered }
            session.headers.append(Field(name: name, value: value))
        }
        return session
    }
}
