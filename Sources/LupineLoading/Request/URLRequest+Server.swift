// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// The server that a request names in its `Host` field, if the program has set one; it may differ from the URL's host. The field
/// is part of the target (RFC 9110 §7.1), so the cookies and cached responses of one name are not used for another name, even at
/// the same address.
extension URLRequest {
    /// The value of `Host` that the program has set, in lowercase. Nil if the program has set none, or if the value names the
    /// server of the URL.
    var namedServer: String? {
        guard let field = headerList["Host"] else { return nil }
        let name = field.trimmingCharacters(in: .whitespaces).lowercased()
        guard let url, let host = url.hostName else { return name }
        let canonical = HostName.canonical(host)
        let isIPv6 = canonical.utf8.contains(UInt8(ascii: ":"))
        let urlHost = isIPv6 ? "[\(canonical)]" : canonical
        let defaultPort = ["https", "wss"].contains(url.scheme?.lowercased()) ? 443 : 80
        let namesURLServer = name == urlHost || name == "\(urlHost):\(url.port ?? defaultPort)"
        return namesURLServer ? nil : name
    }

    /// The URL for which the cookies of the request are looked up: its host and port are those of the `Host` field, if the
    /// program has set one.
    ///
    /// If `Host` differs from the URL, this is nil for an https or wss URL, because the server's certificate proves only the name
    /// in the URL. It is also nil if the value of `Host` is not valid in a URL.
    var cookieURL: URL? {
        guard let name = namedServer else { return url }
        guard let url, !["https", "wss"].contains(url.scheme?.lowercased()),
            let server = URLComponents(string: "http://\(name)"), server.encodedHost?.isEmpty == false,
            server.user == nil, server.path.isEmpty, server.query == nil, server.fragment == nil,
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return nil }
        components.encodedHost = server.encodedHost
        components.port = server.port
        return components.url
    }
}
