// SPDX-License-Identifier: MIT

internal import Foundation

/// The parts of a URL on which its cookies depend: host, port, path, and whether the scheme is secure.
struct CookieOrigin: Hashable, Sendable {
    /// The host in canonical form.
    let host: String
    /// The port, or the scheme's default port.
    let port: Int
    /// The path as in the request line, percent-encoded; never empty.
    let path: String
    /// Whether the scheme is `https` or `wss`.
    let isSecure: Bool

    /// The most octets of a name in the DNS, with its dots (RFC 1035 §2.3.4).
    private static let maxHostLength = 255

    /// Copies the parts of a URL. Fails for a URL without a host, or with a host that is too long for the DNS: there are no
    /// cookies for such a URL.
    init?(_ url: URL) {
        guard let host = url.host(percentEncoded: false), !host.isEmpty, host.utf8.count <= Self.maxHostLength
        else { return nil }
        let scheme = url.scheme?.lowercased()
        self.host = HostName.canonical(host)
        isSecure = scheme == "https" || scheme == "wss"
        port = url.port ?? (isSecure ? 443 : 80)
        let path = url.absoluteURL.path(percentEncoded: true)
        self.path = path.hasPrefix("/") ? path : "/" + path
    }

    /// The path of a cookie whose `Set-Cookie` line names none: this path up to its last slash, without the slash (RFC 6265
    /// §5.1.4).
    var defaultPath: String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Whether the path matches a cookie's path (RFC 6265 §5.1.4).
    func isPath(atOrBelow cookiePath: String) -> Bool { Self.isPath(path, atOrBelow: cookiePath) }

    /// Whether a path equals another or is below it. Compares octets, which is faster than comparing `String`s: a server can set
    /// many cookies with long paths.
    static func isPath(_ path: String, atOrBelow other: String) -> Bool {
        let (path, other) = (path.utf8, other.utf8)
        guard path.starts(with: other) else { return false }
        let slash = UInt8(ascii: "/")
        return path.count == other.count || other.last == slash
            || path.dropFirst(other.count).first == slash
    }
}
