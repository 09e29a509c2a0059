// SPDX-License-Identifier: MIT

/// A key in the dictionary of a cookie's properties.
public struct HTTPCookiePropertyKey: RawRepresentable, Hashable, Sendable {
    /// The key's name.
    public let rawValue: String

    /// Creates a key with this name.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Creates a key with this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name.
    public static let name = HTTPCookiePropertyKey("Name")
    /// The value.
    public static let value = HTTPCookiePropertyKey("Value")
    /// The domain; with a leading dot it includes the hosts below it.
    public static let domain = HTTPCookiePropertyKey("Domain")
    /// The path for which the cookie is sent.
    public static let path = HTTPCookiePropertyKey("Path")
    /// The URL that set the cookie; used when there is no domain.
    public static let originURL = HTTPCookiePropertyKey("OriginURL")
    /// The version, `0` or `1`.
    public static let version = HTTPCookiePropertyKey("Version")
    /// The date when the cookie expires: a `Date` or its text.
    public static let expires = HTTPCookiePropertyKey("Expires")
    /// The number of seconds for which the cookie is valid; takes precedence over `expires`.
    public static let maximumAge = HTTPCookiePropertyKey("Max-Age")
    /// Whether the cookie is sent over secure connections only: a `Bool` or `TRUE`.
    public static let secure = HTTPCookiePropertyKey("Secure")
    /// Whether the cookie is hidden from a page's scripts: a `Bool` or `TRUE`.
    public static let httpOnly = HTTPCookiePropertyKey("HttpOnly")
    /// Whether the cookie is sent with cross-site requests.
    public static let sameSitePolicy = HTTPCookiePropertyKey("SameSite")
    /// Whether the cookie expires with the session: a `Bool` or `TRUE`.
    public static let discard = HTTPCookiePropertyKey("Discard")
    /// The purpose of the cookie.
    public static let comment = HTTPCookiePropertyKey("Comment")
    /// The URL of a description of the cookie's purpose.
    public static let commentURL = HTTPCookiePropertyKey("CommentURL")
    /// The ports to which the cookie is sent, separated by commas.
    public static let port = HTTPCookiePropertyKey("Port")
}

/// Whether a cookie is sent with cross-site requests.
public struct HTTPCookieStringPolicy: RawRepresentable, Hashable, Sendable {
    /// The policy's name in lowercase.
    public let rawValue: String

    /// Creates a policy with this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The cookie is sent with same-site requests, and with cross-site requests whose method is safe, such as GET.
    public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")
    /// The cookie is sent with same-site requests only.
    public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
    /// The cookie is sent with all requests; it must be `Secure`.
    public static let sameSiteNone = HTTPCookieStringPolicy(rawValue: "none")

    /// Creates the policy that a cookie's attribute names, in any case. Fails for an unknown name.
    init?(attribute: String) {
        let policy = HTTPCookieStringPolicy(rawValue: attribute.lowercased())
        guard [.sameSiteLax, .sameSiteStrict, .sameSiteNone].contains(policy) else { return nil }
        self = policy
    }
}
