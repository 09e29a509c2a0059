// SPDX-License-Identifier: MIT

public import Foundation

/// One cookie: what a server asks its client to send back, where to, and until when (RFC 6265).
///
/// Immutable, and any thread's. A domain with a leading dot stands for a host and the hosts below it, one without for
/// just that host. Whether a cookie may be stored and where it is sent is for `HTTPCookieStorage` to say.
public final class HTTPCookie: NSObject, Sendable {
    /// Which cookies a storage takes.
    public enum AcceptPolicy: UInt, Sendable {
        /// All.
        case always = 0
        /// None.
        case never = 1
        /// Those of the site that the main document is from.
        case onlyFromMainDocumentDomain = 2
    }

    /// What a cookie holds.
    struct Contents: Hashable, Sendable, Codable {
        var name: String
        var value: String
        /// In small letters; with a leading dot for a domain and all below it.
        var domain: String
        var path: String
        var expires: Date?
        var isSecure = false
        var isHTTPOnly = false
        var sameSite: String?
        var version = 0
        var comment: String?
        var commentURL: URL?
        var ports: [Int]?
        var isDiscarded = false
    }

    let contents: Contents

    /// Takes what the parser or the storage has checked.
    init(_ contents: Contents) { self.contents = contents }

    /// A cookie of these properties: name, value and path are needed, and a domain or the address that set it.
    ///
    /// Nil when one of them is missing, or when name or value could not stand in a `Cookie` field.
    public convenience init?(properties: [HTTPCookiePropertyKey: Any]) {
        guard let contents = Contents(properties: properties, now: Date()) else { return nil }
        self.init(contents)
    }

    /// The properties that make an equal cookie.
    public var properties: [HTTPCookiePropertyKey: Any]? { contents.properties }

    /// 0, or 1 if the server said so.
    public var version: Int { contents.version }
    /// The name.
    public var name: String { contents.name }
    /// The value, quotes and all.
    public var value: String { contents.value }
    /// When the cookie ends; nil for the end of the session.
    public var expiresDate: Date? { contents.expires }
    /// Whether the cookie ends with the session.
    public var isSessionOnly: Bool { contents.expires == nil }
    /// The domain: with a leading dot for a host and all below it, else just that host.
    public var domain: String { contents.domain }
    /// The path that the cookie is for, and what is below it.
    public var path: String { contents.path }
    /// Whether the cookie goes over https only.
    public var isSecure: Bool { contents.isSecure }
    /// Whether scripts of a page may not see the cookie.
    public var isHTTPOnly: Bool { contents.isHTTPOnly }
    /// Whether the cookie goes along with requests that another site caused; nil when the server did not say.
    public var sameSitePolicy: HTTPCookieStringPolicy? {
        contents.sameSite.map(HTTPCookieStringPolicy.init(rawValue:))
    }
    /// What the cookie is for.
    public var comment: String? { contents.comment }
    /// Where it is told what the cookie is for.
    public var commentURL: URL? { contents.commentURL }
    /// The ports that the cookie is for; nil for all.
    public var portList: [NSNumber]? { contents.ports.map { $0.map { NSNumber(value: $0) } } }

    /// The `Cookie` field that sends these cookies, in their order.
    public class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
        if cookies.isEmpty { return [:] }
        return ["Cookie": cookies.map { $0.name + "=" + $0.value }.joined(separator: "; ")]
    }

    /// The cookies that the header fields of a response from `url` set. Their domains are not compared with the address:
    /// storing them does that.
    ///
    /// Several `Set-Cookie` lines may stand in one value, separated by commas.
    public class func cookies(withResponseHeaderFields headerFields: [String: String], for url: URL)
        -> [HTTPCookie]
    {
        cookies(withResponseHeaderFields: headerFields, for: url, at: Date())
    }

    /// The same at another date than the machine's, which a `Max-Age` counts from.
    package static func cookies(
        withResponseHeaderFields headerFields: [String: String], for url: URL, at now: Date
    ) -> [HTTPCookie] {
        guard let origin = CookieOrigin(url) else { return [] }
        return headerFields.filter { HeaderList.isSame($0.key, "Set-Cookie") }
            .sorted { $0.key < $1.key }
            .flatMap { SetCookieSyntax.lines(in: $0.value) }
            .compactMap { SetCookieSyntax.cookie(SetCookieSyntax.unfolded($0), from: origin, now: now) }
    }

    /// Whether the other is a cookie of the same properties.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? HTTPCookie)?.contents == contents
    }

    /// Goes with `isEqual(_:)`.
    public override var hash: Int { contents.hashValue }

    /// Name, domain and path; the value may be a secret.
    public override var description: String { "<HTTPCookie \(name) for \(domain)\(path)>" }
}
