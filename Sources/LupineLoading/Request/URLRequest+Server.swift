// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// Which server a request names to whoever is connected to. Its `Host` is part of what it asks for (RFC 9110 §7.1): what belongs to
/// one name belongs to no other, even at one address.
extension URLRequest {
    /// The `Host` that the program has set, in small letters, where it is another than the address's; nil where that stands.
    var namedServer: String? {
        guard let given = headerList["Host"] else { return nil }
        let name = given.trimmingCharacters(in: .whitespaces).lowercased()
        guard let url, let host = url.hostName else { return name }
        let canonical = HostName.canonical(host)
        let own = canonical.utf8.contains(UInt8(ascii: ":")) ? "[\(canonical)]" : canonical
        let port = url.port ?? (["https", "wss"].contains(url.scheme?.lowercased()) ? 443 : 80)
        return name == own || name == "\(own):\(port)" ? nil : name
    }

    /// The address whose cookies are the request's: with the server that it names; nil where it has none, since nobody has proved
    /// to be that server, or there can be none.
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
