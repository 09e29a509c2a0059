// SPDX-License-Identifier: MIT

/// The HTTP versions that a client speaks.
///
/// With both versions, the default, an https origin chooses the version (ALPN, RFC 7301), and HTTP/1.1 is used for http origins.
///
/// With HTTP/2 only, HTTP/2 is used for http origins without negotiation (prior knowledge, RFC 9113 §3.3), through a tunnel if
/// there is a proxy. A connection to an https origin that does not choose HTTP/2 fails.
public struct HTTPVersions: OptionSet, Hashable, Sendable {
    /// One bit for each version.
    public let rawValue: UInt8

    /// Creates the set of versions whose bits are set.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// HTTP/1.1, and HTTP/1.0 if a server answers in it.
    public static let http11 = HTTPVersions(rawValue: 1)
    /// HTTP/2.
    public static let http2 = HTTPVersions(rawValue: 2)

    /// Whether HTTP/2 is used for origins without TLS, because it is the only version.
    package var haveHTTP2WithoutTLS: Bool { contains(.http2) && !contains(.http11) }

    /// Returns whether a connection to the origin may turn out to speak HTTP/2.
    func mayNegotiateHTTP2(with origin: Origin) -> Bool {
        origin.scheme == .https ? contains(.http2) : haveHTTP2WithoutTLS
    }

    /// Returns the ALPN protocols to offer to https origins: those of a TLS configuration, without the HTTP versions that this
    /// set does not contain. If HTTP/2 is the only version, `h2` is always among them.
    package func offered(of protocols: [String]) -> [String] {
        let offered = protocols.filter { name in
            switch name {
            case "h2": contains(.http2)
            case "http/1.1": contains(.http11)
            default: true
            }
        }
        return haveHTTP2WithoutTLS && !offered.contains("h2") ? ["h2"] + offered : offered
    }
}
