// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// Produces the values of `Authorization` and `Proxy-Authorization` that answer the challenges of one server or proxy with one
/// credential.
///
/// A session has one answer per `Identity`. The session's tasks share it, so that they count the uses of a nonce together
/// (U-11.11). May be used on any thread; nothing blocks.
final class AuthenticationAnswer: TunnelAuthorizing, Sendable {
    /// Identifies an answer within a session. The nonce is not part of the identity: the same answer continues with a new nonce.
    struct Identity: Hashable, Sendable {
        let challenger: AuthenticationCandidate.Challenger
        let space: URLProtectionSpace
        let credential: URLCredential
        let algorithm: DigestAlgorithm?
        let protection: DigestChallenge.Protection?
    }

    private enum Form: Sendable {
        case basic(String)
        /// The response with the nonce in use, and the responses with earlier nonces, which a server may send again; oldest
        /// first.
        case digest(DigestResponse, earlier: [DigestResponse])
    }

    /// The most earlier nonces whose counts are kept.
    private static let mostEarlierNonces = 16

    let identity: Identity
    /// The client nonce under a `-sess` algorithm. It never changes, so that servers which derive the key from the nonces of the
    /// first request and servers which derive it from the nonces of each request compute the same key.
    private let sessionNonce = DigestResponse.freshClientNonce()
    private let form: Lock<Form>

    /// Creates the answer to a challenge. Fails when the credential has no name or password, or when Basic or Digest cannot send
    /// them (U-11.8).
    init?(_ candidate: AuthenticationCandidate, identity: Identity) {
        guard let user = identity.credential.user, let password = identity.credential.password else {
            return nil
        }
        self.identity = identity
        switch candidate {
        case .basic:
            guard let field = BasicResponse.field(user: user, password: password) else { return nil }
            form = Lock(.basic(field))
        case .digest(let challenge):
            let response = DigestResponse(challenge, user: user, password: password)
            guard response.canSendUserName else { return nil }
            form = Lock(.digest(response, earlier: []))
        }
    }

    var space: URLProtectionSpace { identity.space }
    var credential: URLCredential { identity.credential }

    /// The function that computes `contentHash` for `field(method:target:contentHash:)`; nil when the field does not depend on
    /// the content.
    var contentHashFunction: MessageDigest? {
        identity.protection == .authInt ? identity.algorithm?.hash : nil
    }

    /// The paths and URLs in the challenge's `domain`, for which the credential is valid too (RFC 7616 §3.3). Empty for the whole
    /// origin; nil for Basic.
    var domain: [String]? {
        form.withLock { form in
            switch form {
            case .basic: nil
            case .digest(let response, _): response.challenge.domain
            }
        }
    }

    /// Returns the value of `Authorization` or `Proxy-Authorization` for the next request; nil when Digest cannot compute it.
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - target: The request target exactly as in the request line.
    ///   - contentHash: The content's hash under `contentHashFunction`.
    func field(method: String, target: String, contentHash: [UInt8]?) -> String? {
        form.withLock { form in
            switch form {
            case .basic(let field): return field
            case .digest(var response, let earlier):
                let field = response.field(
                    method: method, uri: target, contentHash: contentHash,
                    clientNonce: response.challenge.algorithm.isSession
                        ? sessionNonce : DigestResponse.freshClientNonce())
                form = .digest(response, earlier: earlier)
                return field
            }
        }
    }

    /// Returns the field value for a CONNECT request, which has no content.
    func authorization(forTunnelTo authority: String) -> String? {
        field(method: "CONNECT", target: authority, contentHash: contentHashFunction?.digest(of: []))
    }

    /// Switches to the nonce of a new challenge. A nonce that was used before keeps its count.
    func renew(_ challenge: DigestChallenge) {
        form.withLock { form in
            let nonce = PeerText(challenge.nonce)
            guard case .digest(let current, var earlier) = form, PeerText(current.challenge.nonce) != nonce,
                let user = credential.user, let password = credential.password
            else { return }
            earlier.append(current)
            if earlier.count > Self.mostEarlierNonces { earlier.removeFirst() }
            let next: DigestResponse
            if let index = earlier.firstIndex(where: { PeerText($0.challenge.nonce) == nonce }) {
                next = earlier.remove(at: index)
            } else {
                next = DigestResponse(challenge, user: user, password: password)
            }
            form = .digest(next, earlier: earlier)
        }
    }

    /// Switches to the `nextnonce` of an `Authentication-Info` field, if there is one.
    func useNextNonce(in authenticationInfo: String) {
        form.withLock { form in
            guard case .digest(var response, let earlier) = form else { return }
            response.useNextNonce(in: authenticationInfo)
            form = .digest(response, earlier: earlier)
        }
    }
}
