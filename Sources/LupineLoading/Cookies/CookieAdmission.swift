// SPDX-License-Identifier: MIT

internal import Foundation

/// Decides whether a cookie that a response sets may be stored: by its domain, its attributes, the prefix of its name and the
/// accept policy (draft-ietf-httpbis-rfc6265bis §5.7; U-13.6, U-13.7, U-13.9, U-13.13). Has no state.
struct CookieAdmission: Sendable {
    /// The origin of the response.
    let origin: CookieOrigin
    /// The host of the main document for which the request was made; nil for none.
    let mainDocumentHost: String?
    /// The session's accept policy.
    let policy: HTTPCookie.AcceptPolicy
    /// The public suffix list; nil for the system's list, which is read when it is first needed.
    var suffixList: PublicSuffixList?

    /// The public suffix list to use.
    private var suffixes: PublicSuffixList { suffixList ?? .system }

    /// Whether the policy accepts any cookies of this response.
    var acceptsCookies: Bool {
        switch policy {
        case .always: return true
        case .never: return false
        case .onlyFromMainDocumentDomain: return isSameSite
        }
    }

    /// Whether the main document belongs to the origin's site. True if there is no main document.
    private var isSameSite: Bool {
        guard let mainDocumentHost else { return true }
        return suffixes.registrableDomain(of: mainDocumentHost) == suffixes.registrableDomain(of: origin.host)
    }

    /// Returns the cookie to store for a cookie that the response sets; nil if it may not be stored. The stored cookie differs
    /// from `cookie` if the domain of `cookie` is a public suffix: it is then for the origin's host alone.
    func cookieToStore(for cookie: HTTPCookie) -> HTTPCookie? {
        var contents = cookie.contents
        // A leading dot means that the cookie is for the domain and the hosts below it.
        if contents.domain.hasPrefix(".") {
            let domain = String(contents.domain.dropFirst())
            guard HostName.hasNoEmptyLabel(domain), HostName.isSame(origin.host, orBelow: domain) else {
                return nil
            }
            if suffixes.contains(domain) {
                // A host whose name is a public suffix may set cookies for itself, but not for the hosts below it.
                guard domain == origin.host else { return nil }
                contents.domain = domain
            } else {
                // Refuses a domain above the site, even if it is no public suffix: it has sites of other owners below it.
                // `withoutRoot` removes the trailing dot of the DNS root, which a registrable domain does not have.
                let site = suffixes.registrableDomain(of: origin.host)
                guard HostName.isSame(String(HostName.withoutRoot(domain)), orBelow: site) else { return nil }
            }
        } else if contents.domain != origin.host {
            return nil
        }
        if contents.isSecure, !origin.isSecure { return nil }
        guard satisfiesSameSite(contents) else { return nil }
        switch CookiePrefix(of: contents.name) {
        case .none: break
        case .secure: guard contents.isSecure else { return nil }
        case .host:
            // Checks the domain that is stored, from which the code above may have removed the leading dot.
            guard contents.isSecure, contents.path == "/", !contents.domain.hasPrefix(".") else { return nil }
        }
        return contents == cookie.contents ? cookie : HTTPCookie(contents)
    }

    /// Returns false for `SameSite=Strict` and `Lax` after a cross-site request, and for `SameSite=None` without `Secure`.
    private func satisfiesSameSite(_ contents: HTTPCookie.Contents) -> Bool {
        switch contents.sameSite.map(HTTPCookieStringPolicy.init(rawValue:)) {
        case .sameSiteStrict?, .sameSiteLax?: isSameSite
        case .sameSiteNone?: contents.isSecure
        default: true
        }
    }
}
