// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// One credential in the form that one challenge of a server or proxy asks for; produces the values of `Authorization`.
///
/// A session has one per asker, space, form and credential. Its tasks share it, so that they count the uses of a nonce together
/// (U-11.11). May be used on any thread; nothing blocks.
final class AuthenticationAnswer: TunnelAuthorizing, Sendable {
    /// Identifies an answer within a session. The nonce is not part of it: the same answer continues with a new nonce.
    struct Identity: Hashable, Sendable {
        let challenger: AuthenticationCandidate.Challenger
        let space: URLProtectionSpace
        let credential: URLCredential
        let algorithm: DigestAlgorithm?
        let protection: DigestChallenge.Protection?
    }

    private enum Form: Sendable {
        case basic(String)
        /// The nonce in use, and earlier ones, which a server may send again.
        case digest(DigestResponse, before: [DigestResponse])
    }

    private static let mostNonces = 16

    let identity: Identity
    /// The client nonce under a `-sess` algorithm. It never changes, so that servers which derive the key from the nonces of the
    /// first request and servers which derive it from the nonces of each request compute the same key.
    private let sessionNonce = DigestResponse.freshClientNonce()
    private let form: Lock<Form>

    /// Fails when the credential has no name or password, or a name or password that cannot be sent in this form (U-11.8).
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
            guard response.canName else { return nil }
            form = Lock(.digest(response, before: []))
        }
    }

    var space: URLProtectionSpace { identity.space }
    var credential: URLCredential { identity.credential }

    /// The hash function that `field(method:target:contentHash:)` needs the content's hash from; nil when it needs none.
    var contentFunction: MessageDigest? {
        identity.protection == .authInt ? identity.algorithm?.hash : nil
    }

    /// The paths and URLs for which the credential is valid too, as named by the challenge's `domain`; empty for the whole
    /// origin. Nil for Basic.
    var domain: [String]? {
        form.withLock { form in
            switch form {
            case .basic: nil
            case .digest(let response, _): response.challenge.domain
            }
        }
    }

    /// Returns the field value for the next request.
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - target: The request target exactly as in the request line.
    ///   - contentHash: The content's hash under `contentFunction`.
    func field(method: String, target: String, contentHash: [UInt8]?) -> String? {
        form.withLock { form in
            switch form {
            case .basic(let field): return field
            case .digest(var response, let before):
                let field = response.field(
                    method: method, uri: target, contentHash: contentHash,
                    clientNonce: response.challenge.algorithm.isSession
                        ? sessionNonce : DigestResponse.freshClientNonce())
                form = .digest(response, before: before)
                return field
            }
        }
    }

    /// Returns the field value for a CONNECT request, which has no content.
    func authorization(forTunnelTo authority: String) -> String? {
        field(method: "CONNECT", target: authority, contentHash: contentFunction?.digest(of: []))
    }

    /// Switches to the nonce of a new challenge. A nonce that was used before keeps its count.
    func renew(_ challenge: DigestChallenge) {
        form.withLock { form in
            let nonce = PeerText(challenge.nonce)
            guard case .digest(let current, var before) = form, PeerText(current.challenge.nonce) != nonce,
                let user = credential.user, let password = credential.password
            else { return }
            before.append(current)
            if before.count > Self.mostNonces { before.removeFirst() }
            let known = before.firstIndex { PeerText($0.challenge.nonce) == nonce }
            let next = known.map { before.remove(at: $0) }
            form = .digest(
                next ?? DigestResponse(challenge, user: user, password: password), before: before)
        }
    }

    /// Switches to the `nextnonce` of an `Authentication-Info` field, if there is one.
    func take(authenticationInfo: String) {
        form.withLock { form in
            guard case .digest(var response, let before) = form else { return }
            response.take(authenticationInfo: authenticationInfo)
            form = .digest(response, before: before)
        }
    }
}
