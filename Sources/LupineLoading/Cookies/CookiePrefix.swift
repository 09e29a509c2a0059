// SPDX-License-Identifier: MIT

/// What the name of a cookie promises to the server that reads it (draft-ietf-httpbis-rfc6265bis §4.1.3).
enum CookiePrefix: Hashable, Sendable {
    /// Nothing.
    case none
    /// `__Secure-`: it was set with `Secure`, over a secure connection.
    case secure
    /// `__Host-`: besides, by this host, for this host alone and for all of it.
    case host

    /// Of any case. Servers that take white space away from names must not see a prefix that was not checked here, so white
    /// space before it does not count, of whatever kind.
    init(of name: String) {
        let small = String(String.UnicodeScalarView(name.unicodeScalars.drop { $0.properties.isWhitespace }))
            .lowercased()
        self = small.hasPrefix("__secure-") ? .secure : small.hasPrefix("__host-") ? .host : .none
    }
}
