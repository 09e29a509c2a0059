// SPDX-License-Identifier: MIT

internal import Foundation

/// The origin that a session's data belongs to: a scheme, a host and a port (RFC 6454). A WebSocket URL has the origin of the
/// HTTP URL that opens it.
struct SessionOrigin: Hashable, Sendable {
    let scheme: String
    /// In lower case except for a zone; an IPv6 address without its brackets.
    let host: String
    let port: Int

    init(scheme: String, host: String) {
        self.scheme = scheme
        self.host = Self.small(host)
        port = scheme == "https" ? 443 : 80
    }

    /// Zone identifiers are case-sensitive: interfaces may differ by case only.
    private static func small(_ host: String) -> String {
        guard host.contains(":"), let zone = host.firstIndex(of: "%") else { return host.lowercased() }
        return host[..<zone].lowercased() + host[zone...]
    }

    /// Nil for a URL that is not loaded from a host.
    init?(_ url: URL) {
        switch url.scheme?.lowercased() {
        case "http", "ws": scheme = "http"
        case "https", "wss": scheme = "https"
        default: return nil
        }
        guard let host = url.host.map(Self.small), !host.isEmpty else { return nil }
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

    /// `https://example.test:443`, always with the port.
    var text: String { "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// The folder name, unique to this origin.
    var folder: String { "\(scheme)_\(PercentEncoding.encoded(host))_\(port)" }

    /// Whether a cookie with that domain matches the host (RFC 6265 §5.1.3).
    func isWithin(_ domain: String) -> Bool {
        let domain = (domain.hasPrefix(".") ? String(domain.dropFirst()) : domain).lowercased()
        return host == domain || (host.hasSuffix("." + domain) && !domain.isEmpty)
    }
}
