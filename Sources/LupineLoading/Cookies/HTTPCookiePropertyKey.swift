// SPDX-License-Identifier: MIT

/// A key of the dictionary that a cookie is made of and gives back.
public struct HTTPCookiePropertyKey: RawRepresentable, Hashable, Sendable {
    /// The key's name.
    public let rawValue: String

    /// A key of that name.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// A key of that name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name.
    public static let name = HTTPCookiePropertyKey("Name")
    /// The value.
    public static let value = HTTPCookiePropertyKey("Value")
    /// The domain: with a leading dot also for the hosts below it.
    public static let domain = HTTPCookiePropertyKey("Domain")
    /// The path that the cookie is for.
    public static let path = HTTPCookiePropertyKey("Path")
    /// The address that set the cookie; stands in for the domain.
    public static let originURL = HTTPCookiePropertyKey("OriginURL")
    /// The version, `0` or `1`.
    public static let version = HTTPCookiePropertyKey("Version")
    /// When the cookie ends, a `Date` or the text of one.
    public static let expires = HTTPCookiePropertyKey("Expires")
    /// How many seconds the cookie lives; counts before `expires`.
    public static let maximumAge = HTTPCookiePropertyKey("Max-Age")
    /// Whether the cookie goes over https only, a `Bool` or `TRUE`.
    public static let secure = HTTPCookiePropertyKey("Secure")
    /// Whether scripts of a page may not see the cookie, a `Bool` or `TRUE`.
    public static let httpOnly = HTTPCookiePropertyKey("HttpOnly")
    /// Whether the cookie goes along with requests of other sites.
    public static let sameSitePolicy = HTTPCookiePropertyKey("SameSite")
    /// Whether the cookie ends with the session, a `Bool` or `TRUE`.
    public static let discard = HTTPCookiePropertyKey("Discard")
    /// What the cookie is for.
    public static let comment = HTTPCookiePropertyKey("Comment")
    /// Where it is told what the cookie is for.
    public static let commentURL = HTTPCookiePropertyKey("CommentURL")
    /// The ports that the cookie is for, separated by commas.
    public static let port = HTTPCookiePropertyKey("Port")
}

/// Whether a cookie goes along with requests that another site caused.
public struct HTTPCookieStringPolicy: RawRepresentable, Hashable, Sendable {
    /// The policy's name in small letters.
    public let rawValue: String

    /// A policy of that name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// With safe requests.
    public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")
    /// Never.
    public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
    /// Always; the cookie has to be a secure one.
    public static let sameSiteNone = HTTPCookieStringPolicy(rawValue: "none")

    /// The policy that a cookie's attribute names, in any mix of cases; nil for any other.
    init?(attribute: String) {
        let policy = HTTPCookieStringPolicy(rawValue: attribute.lowercased())
        guard [.sameSiteLax, .sameSiteStrict, .sameSiteNone].contains(policy) else { return nil }
        self = policy
    }
}
