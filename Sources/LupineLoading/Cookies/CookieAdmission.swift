// SPDX-License-Identifier: MIT

internal import Foundation

/// Whether a cookie that a response sets may be stored (RFC 6265 §5.3, U-13.6, U-13.7, U-13.9, U-13.13). Pure.
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
        case .onlyFromMainDocumentDomain:
            guard let mainDocumentHost else { return true }
            return suffixes.registrableDomain(of: mainDocumentHost)
                == suffixes.registrableDomain(of: origin.host)
        }
    }

    /// The cookie as it is to be stored; nil when it may not be.
    func admitted(_ cookie: HTTPCookie) -> HTTPCookie? {
        var contents = cookie.contents
        if contents.domain.hasPrefix(".") {
            let domain = String(contents.domain.dropFirst())
            guard HostName.isSame(origin.host, orBelow: domain) else { return nil }
            if suffixes.contains(domain) {
                // A registry may have cookies of its own, but only for itself.
                guard domain == origin.host else { return nil }
                contents.domain = domain
            }
        } else if contents.domain != origin.host {
            return nil
        }
        if contents.isSecure, !origin.isSecure { return nil }
        if contents.sameSite == HTTPCookieStringPolicy.sameSiteNone.rawValue, !contents.isSecure {
            return nil
        }
        let name = contents.name.lowercased()
        if name.hasPrefix("__secure-") || name.hasPrefix("__host-") {
            guard contents.isSecure, origin.isSecure else { return nil }
        }
        if name.hasPrefix("__host-"), contents.path != "/" || cookie.contents.domain.hasPrefix(".") {
            return nil
        }
        return contents == cookie.contents ? cookie : HTTPCookie(contents)
    }
}
