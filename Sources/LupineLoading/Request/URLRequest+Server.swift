// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// The server that a request names in `Host`, which may differ from the URL's host. `Host` is part of the target (RFC 9110 §7.1),
/// so cookies and stored responses of one name are not used for another name, even at the same address.
extension URLRequest {
    /// The `Host` that the program has set, in lowercase; nil if there is none or if it is equal to that of the URL.
    var namedServer: String? {
        guard let field = headerList["Host"] else { return nil }
        let name = field.trimmingCharacters(in: .whitespaces).lowercased()
        guard let url, let host = url.hostName else { return name }
        let canonical = HostName.canonical(host)
        let urlHost = canonical.utf8.contains(UInt8(ascii: ":")) ? "[\(canonical)]" : canonical
        let port = url.port ?? (["https", "wss"].contains(url.scheme?.lowercased()) ? 443 : 80)
        return name == urlHost || name == "\(urlHost):\(port)" ? nil : name
    }

    /// The URL that decides which cookies the request gets: with the server that `Host` names.
    ///
    /// If `Host` differs from the URL, this is nil for a secure URL, because the server has not proved to be the named one. It is
    /// also nil for a `Host` that is not valid in a URL.
    var cookieURL: URL? {
        guard let name = namedServer else { return url }
        guard let url, !["https", "wss"].contains(url.scheme?.lowercased()),
            let server = URLComponents(string: "http://\(name)"), server.encodedHost?.isEmpty == false,
            server.user == nil, server.path.isEmpty, server.query == nil, server.fragment == nil,
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return nil }
        parts.encodedHost = server.encodedHost
        parts.port = server.port
        return parts.url
    }
}
