// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// The authentication of one load: the answers that are sent with its requests, and what follows from challenges and from the
/// client's answers to them. `Authenticator` decides; this value creates it when it is first needed, and translates its verdicts
/// for the `HopMachine`.
///
/// The program may replace the task's credential at any time. Each method therefore receives the present one.
struct LoadAuthentication: Sendable {
    /// What follows from a challenge, or from the answer to one: the decision, and the question if the client has to be asked.
    typealias Outcome = (decision: HopMachine.ResponseDecision, question: HopQuestion?)

    /// Nil until a challenge arrives, or the load may know an answer in advance. Behind a reference, because most loads have
    /// none.
    private var authenticator: CopyOnWriteBox<Authenticator>?

    /// Whether no answer is known and no challenge has arrived.
    var isUnused: Bool { authenticator == nil }

    /// The credential with which the next request answers the proxy; nil for none.
    var proxyCredential: URLCredential? { authenticator?.value.proxyCredential }

    /// Begins the transmission of a request: selects the answers to send. Returns the hash of the content that `fields` needs;
    /// nil if it needs none.
    ///
    /// - Parameters:
    ///   - message: The parts of the request on which answers depend.
    ///   - request: The request for which the task was created.
    ///   - credential: The credential that the program has set on the task.
    ///   - context: The session's context.
    mutating func begin(
        _ message: AuthenticationMessage, of request: URLRequest, _ credential: URLCredential?,
        _ context: SessionContext
    ) -> ContentHash? {
        change(of: request, credential, context) { authenticator in
            authenticator.begin(message)
            return authenticator.contentHash
        }
    }

    /// Records a request that was sent without an answer, so that its challenge can be answered. The parameters are those of
    /// `begin`.
    mutating func recordUnanswered(
        _ message: AuthenticationMessage, of request: URLRequest, _ context: SessionContext
    ) {
        change(of: request, nil, context) { $0.recordUnanswered(message) }
    }

    /// Changes the authenticator, which is created if there is none.
    private mutating func change<Result>(
        of request: URLRequest, _ credential: URLCredential?, _ context: SessionContext,
        _ body: (inout Authenticator) -> Result
    ) -> Result {
        // `identifiesUser` is true if the session adds `Authorization` to each request.
        var box =
            authenticator.take()
            ?? CopyOnWriteBox(
                Authenticator(
                    memory: context.authentication, storage: context.settings.credentialStorage,
                    request: request,
                    identifiesUser: context.settings.additionalHeaders["Authorization"] != nil))
        defer { authenticator = box }
        box.value.taskCredential = credential
        return body(&box.value)
    }

    /// Returns the answers to send with the request. Records them as sent.
    ///
    /// - Parameter hashes: The result of the computation that `begin` has returned; empty if there was none.
    mutating func fields(_ hashes: ContentHash.Result) -> AuthenticationFields {
        authenticator?.value.fields(hashes) ?? AuthenticationFields()
    }

    /// Decides about the response to the last request. Returns nil if that request was not recorded.
    mutating func receive(_ response: HTTPURLResponse, _ credential: URLCredential?) -> Outcome? {
        // There is a response, and not a refused tunnel.
        outcome(credential, refusal: nil) { $0.receive(response) }
    }

    /// Decides about the response with which a proxy has refused to open a tunnel (U-11.17). Returns nil for any other error of
    /// a hop, and if the last request was not recorded.
    mutating func receive(_ error: URLError, _ credential: @autoclosure () -> URLCredential?) -> Outcome? {
        guard let cause = error.userInfo[NSUnderlyingErrorKey] as? TransportError,
            case .tunnel(_, .authenticationRequired(let head)) = cause
        else { return nil }
        return outcome(credential(), refusal: error) { $0.receiveTunnelRefusal(head) }
    }

    /// Decides about the client's answer to a challenge.
    ///
    /// - Parameters:
    ///   - answer: The answer.
    ///   - credential: The credential that the program has set on the task.
    ///   - refusal: The error of a refused tunnel; nil if there is a response to deliver.
    mutating func receive(
        _ answer: Authenticator.Answer, _ credential: URLCredential?, refusal: URLError?
    ) -> Outcome? {
        outcome(credential, refusal: refusal) { $0.receiveAnswer(answer) }
    }

    /// Returns what follows from the authenticator's verdict; nil if there is no authenticator.
    private mutating func outcome(
        _ credential: URLCredential?, refusal: URLError?,
        _ verdict: (inout Authenticator) -> Authenticator.Verdict
    ) -> Outcome? {
        guard var box = authenticator.take() else { return nil }
        defer { authenticator = box }
        box.value.taskCredential = credential
        return switch verdict(&box.value) {
        case .deliver: (refusal.map { .fail($0) } ?? .deliver, nil)
        case .resend: (.nextHop, nil)
        case .ask(let challenge): (.ask, .challenge(challenge, refusal: refusal))
        case .cancel: (.fail(.cancelled(url: nil)), nil)
        }
    }
}
