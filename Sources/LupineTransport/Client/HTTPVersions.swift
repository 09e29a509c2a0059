// SPDX-License-Identifier: MIT

/// Which versions of HTTP a client speaks.
///
/// With both of them, the default, an https origin chooses (ALPN, RFC 7301), and an http origin is spoken to in HTTP/1.1. With HTTP/2
/// alone, an http origin is spoken to in HTTP/2 without being asked (prior knowledge, RFC 9113 §3.3), through a proxy's tunnel
/// where there is a proxy; an https origin that does not choose HTTP/2 is refused.
public struct HTTPVersions: OptionSet, Hashable, Sendable {
    /// A bit for each version.
    public let rawValue: UInt8

    /// The versions whose bits are set.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// HTTP/1.1, and HTTP/1.0 where a server answers in it.
    public static let http11 = HTTPVersions(rawValue: 1)
    /// HTTP/2.
    public static let http2 = HTTPVersions(rawValue: 2)

    /// Whether an origin that is spoken to without TLS is spoken to in HTTP/2.
    package var haveHTTP2WithoutTLS: Bool { contains(.http2) && !contains(.http11) }

    /// Whether an origin may turn out to speak HTTP/2 to whoever speaks these.
    func mayTurnOutHTTP2(with origin: Origin) -> Bool {
        origin.scheme == .https ? contains(.http2) : haveHTTP2WithoutTLS
    }

    /// What https origins are offered of the protocols that a configuration of TLS has: those of HTTP only where they are
    /// spoken, and HTTP/2 in any case where nothing else is.
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
