// SPDX-License-Identifier: MIT

internal import Foundation

/// Whether a cookie that a response sets may be stored (draft-ietf-httpbis-rfc6265bis §5.7, U-13.6, U-13.7, U-13.9,
/// U-13.13). Pure.
struct CookieAdmission: Sendable {
    /// The address that set the cookie.
    let origin: CookieOrigin
    /// The host of the document that the request belongs to, if it belongs to one.
    let mainDocumentHost: String?
    /// Which cookies are wanted.
    let policy: HTTPCookie.AcceptPolicy
    /// What no cookie may be set for; nil stands for the system's list, which is read only when it is needed.
    var ownSuffixes: PublicSuffixList?

    private var suffixes: PublicSuffixList { ownSuffixes ?? .system }

    /// Whether cookies of this response are wanted at all.
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

    /// The cookie as it is to be stored; nil when it may not be.
    func admitted(_ cookie: HTTPCookie) -> HTTPCookie? {
        var contents = cookie.contents
        if contents.domain.hasPrefix(".") {
            let domain = String(contents.domain.dropFirst())
            guard HostName.isWhole(domain), HostName.isSame(origin.host, orBelow: domain) else { return nil }
            if suffixes.contains(domain) {
                // A registry may have cookies of its own, but only for itself.
                guard domain == origin.host else { return nil }
                contents.domain = domain
            } else {
                // What stands above the host's registry is no suffix itself, and has the hosts of all others there below it.
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
            // A cookie for just this host, as it is now: a domain that is a public suffix says nothing more.
            guard contents.isSecure, contents.path == "/", !contents.domain.hasPrefix(".") else { return nil }
        }
        return contents == cookie.contents ? cookie : HTTPCookie(contents)
    }

    /// What is for its own site alone is not set by another site's request; `None` says nothing without `Secure`.
    private func isForThisSite(_ contents: HTTPCookie.Contents) -> Bool {
        switch contents.sameSite.map(HTTPCookieStringPolicy.init(rawValue:)) {
        case .sameSiteStrict?, .sameSiteLax?: isSameSite
        case .sameSiteNone?: contents.isSecure
        default: true
        }
    }
}
