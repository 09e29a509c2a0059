// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// What `--session NAME` keeps: cookies and header fields, in a file that nobody else can read.
struct UserSession: Codable, Sendable {
    struct Cookie: Codable, Sendable {
        var name: String
        var value: String
        var domain: String
        var path: String
        var expires: Double?
        var secure: Bool
        var httpOnly: Bool
    }

    struct Field: Codable, Sendable {
        var name: String
        var value: String
    }

    var cookies: [Cookie] = []
    var headers: [Field] = []

    /// Where the session of that name for a host lies; a name with a slash is a path.
    static func path(_ name: String, host: String, _ surroundings: Surroundings) -> String {
        if name.contains("/") { return surroundings.path(name) }
        let data = surroundings.environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let root = data ?? surroundings.home + "/.local/share"
        let safe = { (text: String) in
            String(text.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" })
        }
        return "\(root)/lupine/sessions/\(safe(host))/\(safe(name)).json"
    }

    /// What a file holds; empty when there is none.
    static func read(_ path: String) throws -> UserSession {
        guard FileManager.default.fileExists(atPath: path) else { return UserSession() }
        do {
            return try JSONDecoder().decode(
                UserSession.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw CommandFailure(
                .read,
                "Cannot read the session \(path): it is not what this command writes. Remove the file, or use another name."
            )
        }
    }

    func write(_ path: String) throws {
        do {
            let folder = (path as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try PrivateFile.write(try encoder.encode(self), to: path)
        } catch { throw CommandFailure.unwritable(path, error) }
    }

    var storedCookies: [HTTPCookie] {
        cookies.compactMap { cookie in
            var properties: [HTTPCookiePropertyKey: Any] = [
                .name: cookie.name, .value: cookie.value, .domain: cookie.domain, .path: cookie.path,
            ]
            if cookie.secure { properties[.secure] = "TRUE" }
            if cookie.httpOnly { properties[.httpOnly] = "TRUE" }
            if let expires = cookie.expires { properties[.expires] = Date(timeIntervalSince1970: expires) }
            return HTTPCookie(properties: properties)
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
