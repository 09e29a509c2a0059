// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// Produces the values of `Authorization` and `Proxy-Authorization` that answer the challenges of one server or proxy with one
/// credential.
///
/// A session has one answer per `Key`. The session's tasks share the answer, so that they count the uses of a nonce together
/// (U-11.11: no nonce count is sent twice). May be used on any thread; nothing blocks.
final class AuthenticationAnswer: TunnelAuthorizing, Sendable {
    /// Identifies an answer within a session. The key lacks the nonce: after a new nonce the answer stays the same object.
    struct Key: Hashable, Sendable {
        /// The server or proxy, with its host in canonical form.
        let challenger: AuthenticationCandidate.Challenger
        let space: URLProtectionSpace
        let credential: URLCredential
        /// The algorithm of the Digest challenge; nil for Basic.
        let algorithm: DigestAlgorithm?
        /// The quality of protection (`qop`) of the Digest challenge; nil for Basic, and for a challenge without `qop`.
        let protection: DigestChallenge.Protection?
    }

    /// The authentication scheme, with what it needs to answer.
    private enum Scheme: Sendable {
        /// Basic, with the value of its field, which is the same for all requests.
        case basic(field: String)
        /// Digest, with the response that has the current nonce, and the responses with earlier nonces, oldest first. A server
        /// may send an earlier nonce again.
        case digest(DigestResponse, earlier: [DigestResponse])
    }

    /// The most earlier nonces whose counts an answer remembers.
    private static let maxEarlierNonces = 16

    let key: Key
    /// The client nonce under a `-sess` algorithm. It never changes, so that servers which derive `H(A1)` from the nonces of the
    /// first request and servers which derive it from the nonces of each request compute the same hash.
    private let sessionNonce = DigestResponse.freshClientNonce()
    private let scheme: Lock<Scheme>

    /// Creates the answer to a challenge. Fails when the credential has no name or password, or when they contain characters that
    /// the scheme cannot send (U-11.8).
    init?(_ candidate: AuthenticationCandidate, key: Key) {
        guard let user = key.credential.user, let password = key.credential.password else {
            return nil
        }
        self.key = key
        switch candidate {
        case .basic:
            guard let field = BasicResponse.field(user: user, password: password) else { return nil }
            scheme = Lock(.basic(field: field))
        case .digest(let challenge):
            let response = DigestResponse(challenge, user: user, password: password)
            // False for a name with control characters.
            guard response.canSendUserName else { return nil }
            scheme = Lock(.digest(response, earlier: []))
        }
    }

    var space: URLProtectionSpace { key.space }
    var credential: URLCredential { key.credential }

    /// The hash function for the `contentHash` of `field(method:target:contentHash:)`; nil when the field does not depend on the
    /// content.
    var contentHashFunction: MessageDigest? {
        key.protection == .authInt ? key.algorithm?.hash : nil
    }

    /// The paths and URLs in the challenge's `domain`, for which the credential is valid too (RFC 7616 §3.3). Empty for the whole
    /// origin; nil for Basic.
    var domain: [String]? {
        scheme.withLock { scheme in
            switch scheme {
            case .basic: nil
            case .digest(let response, _): response.challenge.domain
            }
        }
    }

    /// Returns the value of `Authorization` or `Proxy-Authorization` for the next request, and counts the use of the nonce.
    /// Returns nil when Digest cannot compute the value.
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - target: The request target exactly as in the request line.
    ///   - contentHash: The content's hash under `contentHashFunction`; nil without such a function, or if the content cannot be
    ///     hashed.
    func field(method: String, target: String, contentHash: [UInt8]?) -> String? {
        scheme.withLock { scheme in
            switch scheme {
            case .basic(let field): return field
            case .digest(var response, let earlier):
                let field = response.field(
                    method: method, uri: target, contentHash: contentHash,
                    clientNonce: response.challenge.algorithm.isSession
                        ? sessionNonce : DigestResponse.freshClientNonce())
                scheme = .digest(response, earlier: earlier)
                return field
            }
        }
    }

    /// Returns the value of `Proxy-Authorization` for a CONNECT request, which has no content.
    func authorization(forTunnelTo authority: String) -> String? {
        field(method: "CONNECT", target: authority, contentHash: contentHashFunction?.digest(of: []))
    }

    /// Switches to the nonce of a new challenge. If that nonce was used before, its count continues. Does nothing for Basic.
    func useNonce(of challenge: DigestChallenge) {
        scheme.withLock { scheme in
            // Compares by octets, because the peer chooses the nonces.
            let nonce = PeerText(challenge.nonce)
            guard case .digest(let current, var earlier) = scheme, PeerText(current.challenge.nonce) != nonce,
                let user = credential.user, let password = credential.password
            else { return }
            // The current response becomes an earlier one, because the server may name its nonce again.
            earlier.append(current)
            if earlier.count > Self.maxEarlierNonces { earlier.removeFirst() }
            let next: DigestResponse
            if let index = earlier.firstIndex(where: { PeerText($0.challenge.nonce) == nonce }) {
                // This response has the count of the nonce's earlier uses.
                next = earlier.remove(at: index)
            } else {
                next = DigestResponse(challenge, user: user, password: password)
            }
            scheme = .digest(next, earlier: earlier)
        }
    }

    /// Switches to the `nextnonce` of an `Authentication-Info` field, if there is one.
    func useNextNonce(in authenticationInfo: String) {
        scheme.withLock { scheme in
            guard case .digest(var response, let earlier) = scheme else { return }
            response.useNextNonce(in: authenticationInfo)
            scheme = .digest(response, earlier: earlier)
        }
    }
}
