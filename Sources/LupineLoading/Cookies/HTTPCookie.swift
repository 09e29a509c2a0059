// SPDX-License-Identifier: MIT

public import Foundation

/// A cookie: data that a server asks its client to send back, with the URLs and the time for which it is valid (RFC 6265).
///
/// Immutable; any thread may use it. A domain with a leading dot covers a host and the hosts below it; a domain without one
/// covers only that host. `HTTPCookieStorage` decides whether a cookie may be stored and where it is sent.
public final class HTTPCookie: NSObject, Sendable {
    /// The cookies that a storage accepts from responses.
    public enum AcceptPolicy: UInt, Sendable {
        /// All cookies.
        case always = 0
        /// No cookies.
        case never = 1
        /// Cookies of the main document's site.
        case onlyFromMainDocumentDomain = 2
    }

    /// The properties of a cookie.
    struct Contents: Hashable, Sendable, Codable {
        var name: String
        var value: String
        /// The domain in lowercase, with a leading dot if the cookie is for the hosts below it too.
        var domain: String
        var path: String
        /// The date when the cookie expires; nil for the end of the session.
        var expires: Date?
        var isSecure = false
        var isHTTPOnly = false
        /// The raw value of the `HTTPCookieStringPolicy`; nil if the server did not set one.
        var sameSite: String?
        /// 1 for a cookie with `Version=1` (RFC 2109), otherwise 0.
        var version = 0
        var comment: String?
        var commentURL: URL?
        /// The ports to which the cookie is sent; nil for all.
        var ports: [Int]?
        /// Whether the cookie has the attribute `Discard`, and so expires with the session.
        var isDiscarded = false
    }

    let contents: Contents

    /// Creates a cookie from contents that `SetCookieSyntax` or another caller has checked.
    init(_ contents: Contents) { self.contents = contents }

    /// Creates a cookie from properties: name, value, path, and a domain or the URL that set the cookie are required.
    ///
    /// Fails if a required property is missing, or if name or value cannot be sent in a `Cookie` field.
    public convenience init?(properties: [HTTPCookiePropertyKey: Any]) {
        guard let contents = Contents(properties: properties, now: Date()) else { return nil }
        self.init(contents)
    }

    /// The properties from which `init(properties:)` creates an equal cookie.
    public var properties: [HTTPCookiePropertyKey: Any]? { contents.properties }

    /// 1 if the server set `Version=1` (RFC 2109), otherwise 0.
    public var version: Int { contents.version }
    /// The name.
    public var name: String { contents.name }
    /// The value, including any quotes.
    public var value: String { contents.value }
    /// The date when the cookie expires; nil for the end of the session.
    public var expiresDate: Date? { contents.expires }
    /// Whether the cookie expires with the session.
    public var isSessionOnly: Bool { contents.expires == nil }
    /// The domain: with a leading dot for a host and all hosts below it, otherwise only that host.
    public var domain: String { contents.domain }
    /// The path for which the cookie is sent, including the paths below it.
    public var path: String { contents.path }
    /// Whether the cookie is sent over secure connections only.
    public var isSecure: Bool { contents.isSecure }
    /// Whether the cookie is hidden from a page's scripts.
    public var isHTTPOnly: Bool { contents.isHTTPOnly }
    /// Whether the cookie is sent with cross-site requests; nil if the server did not say.
    public var sameSitePolicy: HTTPCookieStringPolicy? {
        contents.sameSite.map(HTTPCookieStringPolicy.init(rawValue:))
    }
    /// The purpose of the cookie.
    public var comment: String? { contents.comment }
    /// The URL of a description of the cookie's purpose.
    public var commentURL: URL? { contents.commentURL }
    /// The ports to which the cookie is sent; nil for all.
    public var portList: [NSNumber]? { contents.ports.map { $0.map { NSNumber(value: $0) } } }

    /// Returns the `Cookie` field that sends these cookies, in this order.
    public class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
        if cookies.isEmpty { return [:] }
        return ["Cookie": cookies.map { $0.name + "=" + $0.value }.joined(separator: "; ")]
    }

    /// Returns the cookies that the header fields of a response from `url` set. `HTTPCookieStorage` checks their domains when it
    /// stores them.
    ///
    /// One value may contain several `Set-Cookie` lines, separated by commas.
    public class func cookies(withResponseHeaderFields headerFields: [String: String], for url: URL)
        -> [HTTPCookie]
    {
        cookies(withResponseHeaderFields: headerFields, for: url, at: Date())
    }

    /// Does the same as `cookies(withResponseHeaderFields:for:)`; `Max-Age` counts from the date `now`.
    package static func cookies(
        withResponseHeaderFields headerFields: [String: String], for url: URL, at now: Date
    ) -> [HTTPCookie] {
        guard let origin = CookieOrigin(url) else { return [] }
        // Sorts the names, which may differ in case, because the order of a dictionary is random.
        return headerFields.filter { HeaderList.isSame($0.key, "Set-Cookie") }
            .sorted { $0.key < $1.key }
            .flatMap { SetCookieSyntax.lines(in: $0.value) }
            .compactMap { SetCookieSyntax.cookie(SetCookieSyntax.unfolded($0), from: origin, now: now) }
    }

    /// Whether the other object is a cookie with the same properties.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? HTTPCookie)?.contents == contents
    }

    /// Consistent with `isEqual(_:)`.
    public override var hash: Int { contents.hashValue }

    /// Contains name, domain and path; not the value, which may be secret.
    public override var description: String { "<HTTPCookie \(name) for \(domain)\(path)>" }
}
