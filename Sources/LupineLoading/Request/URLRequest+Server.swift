// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// The server that a request names in `Host`, independent of the address that is connected to. `Host` is part of the target
/// (RFC 9110 §7.1): data that belongs to one name belongs to no other, even at the same address.
extension URLRequest {
    /// The `Host` that the program has set, in lower case, if it differs from the URL's; otherwise nil.
    var namedServer: String? {
        guard let given = headerList["Host"] else { return nil }
        let name = given.trimmingCharacters(in: .whitespaces).lowercased()
        guard let url, let host = url.hostName else { return name }
        let canonical = HostName.canonical(host)
        let own = canonical.utf8.contains(UInt8(ascii: ":")) ? "[\(canonical)]" : canonical
        let port = url.port ?? (["https", "wss"].contains(url.scheme?.lowercased()) ? 443 : 80)
        return name == own || name == "\(own):\(port)" ? nil : name
    }

    /// The URL whose cookies belong to the request, with the server that `Host` names. With a differing `Host` it is nil for a
    /// secure URL, because no server has proved to be the named one, and for a `Host` that makes no valid URL.
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
