// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS

/// A challenge of a 401 or 407 response that this library can answer: it supports the scheme and the parameters (U-11.2, U-11.3).
enum AuthenticationCandidate: Hashable, Sendable {
    case digest(DigestChallenge)
    case basic(realm: String)

    /// The server or proxy that sends a challenge.
    enum Challenger: Hashable, Sendable {
        /// A server; `scheme` is the `protocol` of its protection space, which is `http` or `https` for WebSockets too.
        case server(host: String, port: Int, scheme: String)
        /// A proxy; `type` is the `proxyType` of its protection space.
        case proxy(host: String, port: Int, type: String)

        /// The server of a URL, with the scheme's default port if the URL names none; nil for a URL without a host.
        static func server(of url: URL) -> Challenger? {
            guard let host = url.hostName, let scheme = url.scheme?.lowercased() else {
                return nil
            }
            let isSecure = scheme == "https" || scheme == "wss"
            let protocolName = isSecure ? NSURLProtectionSpaceHTTPS : NSURLProtectionSpaceHTTP
            return .server(host: host, port: url.port ?? (isSecure ? 443 : 80), scheme: protocolName)
        }

        fileprivate var host: String {
            switch self {
            case .server(let host, _, _), .proxy(let host, _, _): host
            }
        }
    }

    /// Returns the challenges in the lines of `WWW-Authenticate` or `Proxy-Authenticate` that can be answered, strongest first.
    /// Leaves out unknown schemes and algorithms, and challenges that a session may not store. The result may be empty.
    static func candidates(in lines: [String], from challenger: Challenger) -> [AuthenticationCandidate] {
        let candidates = ChallengeSyntax.parse(lines).compactMap { challenge -> AuthenticationCandidate? in
            switch challenge.scheme {
            case "digest": DigestChallenge(challenge).map(AuthenticationCandidate.digest)
            // Without a realm parameter, the host is the realm. A realm that the peer sends as an empty text stays empty.
            case "basic": .basic(realm: challenge["realm"] ?? challenger.host)
            default: nil
            }
        }
        // The offset makes the sort stable: among equally strong challenges the first stays first.
        return candidates.filter(\.canBeKept).enumerated().sorted { left, right in
            let (stronger, weaker) = (left.element.strength, right.element.strength)
            return stronger == weaker ? left.offset < right.offset : stronger > weaker
        }
        .map(\.element)
    }

    /// Returns the protection space of this challenge, by which credentials are stored.
    func space(of challenger: Challenger) -> URLProtectionSpace {
        let method =
            switch self {
            case .digest: NSURLAuthenticationMethodHTTPDigest
            case .basic: NSURLAuthenticationMethodHTTPBasic
            }
        switch challenger {
        case .server(let host, let port, let scheme):
            return URLProtectionSpace(
                host: host, port: port, protocol: scheme, realm: realm, authenticationMethod: method)
        case .proxy(let host, let port, let type):
            return URLProtectionSpace(
                proxyHost: host, port: port, type: type, realm: realm, authenticationMethod: method)
        }
    }

    /// Whether a session may store the texts that it sends back to the peer. They must not be too long, and must contain no long
    /// run of combining characters, which is slow to compare.
    private var canBeKept: Bool {
        switch self {
        case .basic(let realm): PeerText(realm).canBeKept
        case .digest(let challenge):
            [challenge.realm, challenge.nonce, challenge.opaque ?? ""].allSatisfy { PeerText($0).canBeKept }
        }
    }

    /// The realm of the challenge.
    private var realm: String {
        switch self {
        case .digest(let challenge): challenge.realm
        case .basic(let realm): realm
        }
    }

    /// The rank of the challenge's scheme and algorithm; larger for stronger ones.
    private var strength: Int {
        switch self {
        case .basic: 0
        case .digest(let challenge):
            switch challenge.algorithm.hash {
            case .md5: 1
            case .sha256: 2
            case .sha512Cut256, .sha512: 3
            }
        }
    }
}
