// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// One credential in the form in which one server or proxy takes it: what makes the values of `Authorization`.
///
/// A session has one for each asker, space, form and credential, and its tasks share it, so that they count the uses
/// of a nonce together (U-11.11). Any thread; nothing blocks.
final class AuthenticationAnswer: TunnelAuthorizing, Sendable {
    /// What tells one answer of a session from another. The nonce does not: a new one goes on in the same answer.
    struct Identity: Hashable, Sendable {
        let asker: AuthenticationCandidate.Asker
        let space: URLProtectionSpace
        let credential: URLCredential
        let algorithm: DigestAlgorithm?
        let protection: DigestChallenge.Protection?
    }

    private enum Form: Sendable {
        case basic(String)
        /// The nonce in use, and those before it, which a server may name again.
        case digest(DigestResponse, before: [DigestResponse])
    }

    private static let mostNonces = 16

    let identity: Identity
    /// The client's nonce under a `-sess` algorithm. It stays, so that servers which bind the secret to the nonces of the
    /// first request and those which bind it to the ones they are sent come to the same key.
    private let sessionNonce = DigestResponse.freshClientNonce()
    private let form: Lock<Form>

    /// Nil when the credential cannot answer that way: it has no name or password, or one that cannot be sent (U-11.8).
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

    /// With which function the content has to be hashed for the next answer; nil when it need not be.
    var contentFunction: MessageDigest? {
        identity.protection == .authInt ? identity.algorithm?.hash : nil
    }

    /// The paths and addresses where the answer is good too, as the challenge names them; empty for the whole origin. Nil
    /// for Basic.
    var domain: [String]? {
        form.withLock { form in
            switch form {
            case .basic: nil
            case .digest(let response, _): response.challenge.domain
            }
        }
    }

    /// The value for the next request.
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - target: Its target, as the request line has it.
    ///   - contentHash: The content's hash by `contentFunction`.
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

    /// The value for a CONNECT: it has no content.
    func authorization(forTunnelTo authority: String) -> String? {
        field(method: "CONNECT", target: authority, contentHash: contentFunction?.digest(of: []))
    }

    /// Goes on with the nonce of a new challenge. One that was used before is counted on.
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

    /// Takes the nonce that `Authentication-Info` names for the next request.
    func take(authenticationInfo: String) {
        form.withLock { form in
            guard case .digest(var response, let before) = form else { return }
            response.take(authenticationInfo: authenticationInfo)
            form = .digest(response, before: before)
        }
    }
}
