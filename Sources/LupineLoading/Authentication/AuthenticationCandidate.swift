// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS

/// A challenge of a 401 or 407 that can be answered (U-11.2, U-11.3).
enum AuthenticationCandidate: Hashable, Sendable {
    case digest(DigestChallenge)
    case basic(realm: String)

    /// The server or proxy that sends a challenge.
    enum Challenger: Hashable, Sendable {
        /// A server, reached by `http` or `https`.
        case server(host: String, port: Int, scheme: String)
        /// A proxy; `type` is the type of its protection space.
        case proxy(host: String, port: Int, type: String)

        /// The server of a URL, with the scheme's default port if the URL names none; nil for a URL without a host.
        static func server(of url: URL) -> Challenger? {
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

    /// Returns the challenges in the lines of `WWW-Authenticate` or `Proxy-Authenticate` that can be answered, strongest first.
    /// Unknown schemes and algorithms, and challenges that are too long to be kept, are left out; the result may be empty.
    static func candidates(in lines: [String], from challenger: Challenger) -> [AuthenticationCandidate] {
        let found = ChallengeSyntax.parse(lines).compactMap { challenge -> AuthenticationCandidate? in
            switch challenge.scheme {
            case "digest": DigestChallenge(challenge).map(AuthenticationCandidate.digest)
            // An explicit empty realm stays empty; without a realm parameter, the host is the realm.
            case "basic": .basic(realm: challenge["realm"] ?? challenger.host)
            default: nil
            }
        }
        // The sort is stable: among equally strong challenges the first stays first.
        return found.filter(\.canBeKept).enumerated().sorted { left, right in
            let (stronger, weaker) = (left.element.strength, right.element.strength)
            return stronger == weaker ? left.offset < right.offset : stronger > weaker
        }
        .map(\.element)
    }

    /// The space that a credential for this candidate belongs to.
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

    /// Whether the values that a client sends back or stores are short enough for that.
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

    /// Larger for stronger challenges.
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
