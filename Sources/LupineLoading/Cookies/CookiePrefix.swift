// SPDX-License-Identifier: MIT

/// The guarantees that the prefix of a cookie's name gives to the server (draft-ietf-httpbis-rfc6265bis §4.1.3).
enum CookiePrefix: Hashable, Sendable {
    /// No guarantees.
    case none
    /// `__Secure-`: the cookie was set with `Secure`, over a secure connection.
    case secure
    /// `__Host-`: in addition, the host set the cookie for itself alone and for all its paths.
    case host

    /// Detects the prefix in any case and after any leading white space. Otherwise a server that removes white space from names
    /// could see a prefix whose guarantees nobody has checked.
    init(of name: String) {
        let scalars = name.unicodeScalars.drop { $0.properties.isWhitespace }
        let lowercased = String(String.UnicodeScalarView(scalars)).lowercased()
        if lowercased.hasPrefix("__secure-") {
            self = .secure
        } else if lowercased.hasPrefix("__host-") {
            self = .host
        } else {
            self = .none
        }
    }
}
