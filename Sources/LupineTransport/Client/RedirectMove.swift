// SPDX-License-Identifier: MIT

package import LupineHTTP

/// Classifies a redirect by where it leads, and decides which header fields the redirected request keeps (U-10.5).
///
/// `HTTPClient`, sessions, WebSockets and the command all use this table. It has no state and performs no I/O. Each redirect
/// filters the fields of the previous request. A configuration adds its own fields to every request of a chain of redirects. The
/// farthest move of the chain so far filters these, so that no removed field is added again.
package enum RedirectMove: Int, Sendable, CaseIterable, Comparable {
    /// The same scheme, host and port.
    case withinOrigin
    /// Another origin, without losing TLS.
    case toOtherOrigin
    /// From a secure origin to one without TLS, where everybody on the path can read the request.
    case toInsecureOrigin

    /// Creates the move between two origins; nil stands for an address that is not a web origin.
    package init(from: WebOrigin?, to: WebOrigin?) {
        if let from, let to, from == to {
            self = .withinOrigin
        } else {
            self = from?.isSecure == true && to?.isSecure != true ? .toInsecureOrigin : .toOtherOrigin
        }
    }

    package static func < (left: RedirectMove, right: RedirectMove) -> Bool { left.rawValue < right.rawValue }

    /// What happens to a field in the redirected request.
    package enum FieldTreatment: Hashable, Sendable {
        /// It is sent unchanged.
        case kept
        /// It is removed.
        case removed
        /// It is sent with this value.
        case rewritten(String)
    }

    /// Returns what happens to a field that the program has set.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - value: The field's value.
    ///   - sensitive: The names, besides those in `boundToOrigin`, of fields that are not sent to another origin.
    package func treatment(of name: FieldName, _ value: String, sensitive: Set<FieldName>) -> FieldTreatment {
        if self == .withinOrigin { return .kept }
        if Self.boundToOrigin.contains(name) || sensitive.contains(name) { return .removed }
        if self == .toInsecureOrigin { return Self.isHarmless(name) ? .kept : .removed }
        switch name {
        case .referer: return Self.originOnly(of: value).map { .rewritten($0) } ?? .removed
        case _: return Self.originField.contains(name) ? .rewritten("null") : .kept
        }
    }

    // MARK: names

    /// Returns those of the texts that are valid field names.
    package static func names(_ texts: some Sequence<String>) -> Set<FieldName> {
        Set(texts.compactMap { try? FieldName($0) })
    }

    /// The field `Origin`. Its value becomes `null` in a request to another origin, as in browsers.
    private static let originField = names(["Origin"])

    /// Fields that are meant for one origin only: credentials and the server's name.
    private static let boundToOrigin = names([
        "Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Host",
    ])

    /// Fields that describe content. A redirected request that keeps no content must not contain them (U-10.4).
    package static let contentFields = names([
        "Content-Length", "Content-Type", "Content-Encoding", "Content-Language", "Content-Location",
        "Transfer-Encoding", "Expect",
    ])

    /// Whether a field tells an eavesdropper nothing about the user: it only says what is requested, and in which form.
    private static func isHarmless(_ name: FieldName) -> Bool {
        let spelling = name.description.asciiLowercased
        return ["accept", "user-agent", "range"].contains(spelling)
            || ["accept-", "content-", "if-"].contains { spelling.hasPrefix($0) }
    }

    /// The fields in which services expect keys and tokens. By default, they are not sent to another origin.
    package static let sensitiveByDefault: Set<String> = [
        "Access-Token", "Api-Key", "Api-Token", "Apikey", "Auth-Token", "CF-Access-Client-Secret",
        "CF-Access-Token", "Client-Secret", "DD-Api-Key", "DD-Application-Key", "DPoP", "Job-Token",
        "Ocp-Apim-Subscription-Key", "Private-Token", "Session-Token", "Token", "X-Access-Token",
        "X-Amz-Security-Token", "X-Api-Key", "X-Api-Secret", "X-Api-Token", "X-Apikey", "X-App-Token",
        "X-Auth", "X-Auth-Email", "X-Auth-Key", "X-Auth-Token", "X-Authorization", "X-Client-Secret",
        "X-Consul-Token", "X-Csrf-Token", "X-Csrftoken", "X-Functions-Key", "X-Gitlab-Token",
        "X-Goog-Api-Key",
        "X-Goog-Iam-Authorization-Token", "X-Id-Token", "X-Jwt-Assertion", "X-Master-Key",
        "X-Plex-Token", "X-RapidAPI-Key", "X-Refresh-Token", "X-Secret", "X-Secret-Key", "X-Security-Token",
        "X-Session-Id", "X-Session-Token", "X-Shopify-Access-Token", "X-Storage-Token",
        "X-Subject-Token", "X-Subscription-Token", "X-Token", "X-User-Token", "X-Vault-Token", "X-Xsrf-Token",
    ]

    // MARK: the referrer

    /// Returns scheme, host and port of a referrer, without path, query and user information (RFC 9110 §10.1.3). Returns nil if
    /// the referrer is not an http or https URL.
    private static func originOnly(of referrer: String) -> String? {
        let bytes = Array(referrer.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).asciiLowercased
        let hierarchy = bytes[(colon + 1)...]
        guard scheme == "http" || scheme == "https", hierarchy.starts(with: "//".utf8) else { return nil }
        let authority = hierarchy.dropFirst(2).prefix { !"/?#\\".utf8.contains($0) }
        var server = authority
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { server = authority[(at + 1)...] }
        return server.isEmpty ? nil : "\(scheme)://\(String(decoding: server, as: UTF8.self))/"
    }
}
