// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS

/// One way to answer a 401 or 407, with the space that a credential for it belongs to (U-11.2, U-11.3).
enum AuthenticationCandidate: Hashable, Sendable {
    case digest(DigestChallenge)
    case basic(realm: String)

    /// Who asks.
    enum Asker: Hashable, Sendable {
        /// A server, reached by `http` or `https`.
        case server(host: String, port: Int, scheme: String)
        /// A proxy, and what it is a proxy for.
        case proxy(host: String, port: Int, type: String)

        /// The server of an address, with the port that goes without saying; nil for an address without a host.
        static func server(of url: URL) -> Asker? {
            guard let host = url.hostName, let scheme = url.scheme?.lowercased() else {
                return nil
            }
            let isSecure = scheme == "https" || scheme == "wss"
            let name = isSecure ? NSURLProtectionSpaceHTTPS : NSURLProtectionSpaceHTTP
            return .server(host: host, port: url.port ?? (isSecure ? 443 : 80), scheme: name)
        }

        fileprivate var host: String {
            switch self {
            case .server(let host, _, _), .proxy(let host, _, _): host
            }
        }
    }

    /// What the lines of `WWW-Authenticate` or `Proxy-Authenticate` offer, the strongest first. Schemes and algorithms that
    /// are not known are left out, and challenges that are too long to be kept; none may be left.
    static func candidates(in lines: [String], from asker: Asker) -> [AuthenticationCandidate] {
        let found = ChallengeSyntax.parse(lines).compactMap { challenge -> AuthenticationCandidate? in
            switch challenge.scheme {
            case "digest": DigestChallenge(challenge).map(AuthenticationCandidate.digest)
            // A realm that is said to be empty is an empty one; one that is not said is the host.
            case "basic": .basic(realm: challenge["realm"] ?? asker.host)
            default: nil
            }
        }
        // Of equal ones the first stays first.
        return found.filter(\.canBeKept).enumerated().sorted { left, right in
            let (stronger, weaker) = (left.element.strength, right.element.strength)
            return stronger == weaker ? left.offset < right.offset : stronger > weaker
        }
        .map(\.element)
    }

    /// The space that a credential for this candidate belongs to.
    func space(of asker: Asker) -> URLProtectionSpace {
        let method =
            switch self {
            case .digest: NSURLAuthenticationMethodHTTPDigest
            case .basic: NSURLAuthenticationMethodHTTPBasic
            }
        switch asker {
        case .server(let host, let port, let scheme):
            return URLProtectionSpace(
                host: host, port: port, protocol: scheme, realm: realm, authenticationMethod: method)
        case .proxy(let host, let port, let type):
            return URLProtectionSpace(
                proxyHost: host, port: port, type: type, realm: realm, authenticationMethod: method)
        }
    }

    /// Whether what a server wants to be told again is short enough for that.
    private var canBeKept: Bool {
        switch self {
        case .basic(let realm): PeerText(realm).canBeKept
        case .digest(let challenge):
            [challenge.realm, challenge.nonce, challenge.opaque ?? ""].allSatisfy { PeerText($0).canBeKept }
        }
    }

    private var realm: String {
        switch self {
        case .digest(let challenge): challenge.realm
        case .basic(let realm): realm
        }
    }

    private var strength: Int {
        switch self {
        case .basic: 0
        case .digest(let challenge):
            switch challenge.algorithm.hash {
            case .md5: 1
            case .sha256: 2
            case .sha512Cut256: 3
            }
        }
    }
}
