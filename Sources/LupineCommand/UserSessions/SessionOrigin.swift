// SPDX-License-Identifier: MIT

internal import Foundation

/// The origin to which the cookies and header fields of a `--session` belong: a scheme, a host and a port (RFC 6454). A WebSocket
/// URL has the origin of the HTTP URL that opens it.
struct SessionOrigin: Hashable, Sendable {
    let scheme: String
    /// The host in lower case. An IPv6 address has no brackets, and its zone identifier keeps its case.
    let host: String
    let port: Int

    /// Creates the origin of a scheme and a host, with the default port.
    init(scheme: String, host: String) {
        self.scheme = scheme
        self.host = Self.lowercased(host)
        port = scheme == "https" ? 443 : 80
    }

    /// Returns a host in lower case. A zone identifier keeps its case, since the names of two interfaces may differ by case only.
    private static func lowercased(_ host: String) -> String {
        guard host.contains(":"), let zone = host.firstIndex(of: "%") else { return host.lowercased() }
        return host[..<zone].lowercased() + host[zone...]
    }

    /// Creates the origin of a URL; nil if the URL has no host or another scheme, such as `file`.
    init?(_ url: URL) {
        switch url.scheme?.lowercased() {
        case "http", "ws": scheme = "http"
        case "https", "wss": scheme = "https"
        default: return nil
        }
        guard let host = url.host.map(Self.lowercased), !host.isEmpty else { return nil }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }

    /// Parses an origin stored in a file; nil unless it has exactly the form that `text` writes.
    init?(text: String) {
        guard let url = URL(string: text), let origin = SessionOrigin(url), origin.text == text else {
            return nil
        }
        self = origin
    }

    /// The origin as text, always with the port: `https://example.test:443`.
    var text: String { "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// The name of the folder for this origin's sessions.
    var folder: String { "\(scheme)_\(PercentEncoding.encoded(host))_\(port)" }

    /// Whether the host matches the domain of a cookie (RFC 6265 §5.1.3).
    func domainMatches(_ domain: String) -> Bool {
        let domain = (domain.hasPrefix(".") ? String(domain.dropFirst()) : domain).lowercased()
        return host == domain || (host.hasSuffix("." + domain) && !domain.isEmpty)
    }
}
