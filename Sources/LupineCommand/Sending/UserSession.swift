// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// What `--session NAME` keeps for one origin: cookies and header fields.
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

    /// Fields that hold no secret; any other may, whatever its name is.
    private static let harmlessFields: Set = ["accept", "accept-language", "user-agent"]

    /// Whether a field of that name holds no secret.
    static func isHarmless(_ name: String) -> Bool { harmlessFields.contains(name.lowercased()) }

    /// What a session of an origin that nobody noted is split into.
    struct Split {
        var sessions: [SessionOrigin: UserSession]
        /// The names of the fields that are given up: nobody knows for whom they were meant.
        var dropped: [String]
    }

    /// Splits a session of an origin that nobody noted. Harmless fields are those of the origin that asks; cookies go to it where
    /// they are for its host, else to the origins that their domain has by its scheme.
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

    /// The same with the cookies of a storage, and the header fields of a request that are worth keeping.
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
