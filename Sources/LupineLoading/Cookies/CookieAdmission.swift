// SPDX-License-Identifier: MIT

internal import Foundation

/// Whether a cookie that a response sets may be stored (draft-ietf-httpbis-rfc6265bis §5.7, U-13.6, U-13.7, U-13.9,
/// U-13.13). Pure.
struct CookieAdmission: Sendable {
    /// The address that set the cookie.
    let origin: CookieOrigin
    /// The host of the document that the request belongs to, if it belongs to one.
    let mainDocumentHost: String?
    /// The session's accept policy.
    let policy: HTTPCookie.AcceptPolicy
    /// The public suffix list; nil means the system's, which is read only when it is needed.
    var ownSuffixes: PublicSuffixList?

    private var suffixes: PublicSuffixList { ownSuffixes ?? .system }

    /// Whether the policy accepts cookies of this response at all.
    var isWanted: Bool {
        switch policy {
        case .always: return true
        case .never: return false
        case .onlyFromMainDocumentDomain: return isSameSite
        }
    }

    /// Whether the request belongs to a document of the origin's own site, or to none.
    private var isSameSite: Bool {
        guard let mainDocumentHost else { return true }
        return suffixes.registrableDomain(of: mainDocumentHost) == suffixes.registrableDomain(of: origin.host)
    }

    /// Returns the cookie as it is to be stored; nil if it may not be stored.
    func admitted(_ cookie: HTTPCookie) -> HTTPCookie? {
        var contents = cookie.contents
        if contents.domain.hasPrefix(".") {
            let domain = String(contents.domain.dropFirst())
            guard HostName.isWhole(domain), HostName.isSame(origin.host, orBelow: domain) else { return nil }
            if suffixes.contains(domain) {
                // A public suffix may have cookies of its own, but only for the host itself.
                guard domain == origin.host else { return nil }
                contents.domain = domain
            } else {
                // A domain above the host's public suffix is not a suffix itself, but other owners' hosts are below it.
                let own = suffixes.registrableDomain(of: origin.host)
                guard HostName.isSame(String(HostName.withoutRoot(domain)), orBelow: own) else { return nil }
            }
        } else if contents.domain != origin.host {
            return nil
        }
        if contents.isSecure, !origin.isSecure { return nil }
        guard isForThisSite(contents) else { return nil }
        switch CookiePrefix(of: contents.name) {
        case .none: break
        case .secure: guard contents.isSecure else { return nil }
        case .host:
            // Checked on the domain as it will be stored: a public suffix as domain was reduced to the host above.
            guard contents.isSecure, contents.path == "/", !contents.domain.hasPrefix(".") else { return nil }
        }
        return contents == cookie.contents ? cookie : HTTPCookie(contents)
    }

    /// Rejects `SameSite=Strict` and `Lax` from a cross-site request, and `SameSite=None` without `Secure`.
    private func isForThisSite(_ contents: HTTPCookie.Contents) -> Bool {
        switch contents.sameSite.map(HTTPCookieStringPolicy.init(rawValue:)) {
        case .sameSiteStrict?, .sameSiteLax?: isSameSite
        case .sameSiteNone?: contents.isSecure
        default: true
        }
    }
}
