// SPDX-License-Identifier: MIT

internal import Foundation

/// To whom what a session keeps belongs: a scheme, a host and a port (RFC 6454). A web socket is of the origin that it is opened
/// on by HTTP.
struct SessionOrigin: Hashable, Sendable {
    let scheme: String
    /// In small letters but for a zone, an IPv6 address without its brackets.
    let host: String
    let port: Int

    init(scheme: String, host: String) {
        self.scheme = scheme
        self.host = Self.small(host)
        port = scheme == "https" ? 443 : 80
    }

    /// Interfaces that differ by their letters are two.
    private static func small(_ host: String) -> String {
        guard host.contains(":"), let zone = host.firstIndex(of: "%") else { return host.lowercased() }
        return host[..<zone].lowercased() + host[zone...]
    }

    /// Nil for what is not loaded from a host.
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

    /// The origin that a file notes; nil when it is none as this command writes it.
    init?(text: String) {
        guard let url = URL(string: text), let origin = SessionOrigin(url), origin.text == text else {
            return nil
        }
        self = origin
    }

    /// `https://example.test:443`, always with the port.
    var text: String { "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// The name of a folder that no other origin has.
    var folder: String { "\(scheme)_\(PercentEncoding.encoded(host))_\(port)" }

    /// Whether a cookie of that domain is for its host (RFC 6265 §5.1.3).
    func isWithin(_ domain: String) -> Bool {
        let domain = (domain.hasPrefix(".") ? String(domain.dropFirst()) : domain).lowercased()
        return host == domain || (host.hasSuffix("." + domain) && !domain.isEmpty)
    }
}
