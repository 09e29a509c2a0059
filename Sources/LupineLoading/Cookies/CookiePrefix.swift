// SPDX-License-Identifier: MIT

/// The guarantees that a cookie's name prefix gives to the server (draft-ietf-httpbis-rfc6265bis §4.1.3).
enum CookiePrefix: Hashable, Sendable {
    /// No guarantees.
    case none
    /// `__Secure-`: the cookie was set with `Secure`, over a secure connection.
    case secure
    /// `__Host-`: in addition, it was set by this host, for this host alone and for all its paths.
    case host

    /// Detects the prefix in any case and after any leading white space: a server that strips white space from names must not see
    /// a prefix that was not checked here.
    init(of name: String) {
        let small = String(String.UnicodeScalarView(name.unicodeScalars.drop { $0.properties.isWhitespace }))
            .lowercased()
        self = small.hasPrefix("__secure-") ? .secure : small.hasPrefix("__host-") ? .host : .none
    }
}
