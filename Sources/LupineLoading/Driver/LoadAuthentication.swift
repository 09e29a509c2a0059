// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// The authentication of one load: the answers that are sent with its requests, and what follows from challenges and from the
/// client's answers to them. `Authenticator` decides; this value translates its verdicts for the `HopMachine`. It is created when
/// a challenge arrives, or when the load may know an answer in advance.
///
/// The program may replace the task's credential at any time. Each method therefore receives the present one.
struct LoadAuthentication: Sendable {
    /// What follows from a challenge, or from the answer to one: the decision, and the question if the client has to be asked.
    typealias Outcome = (decision: HopMachine.ResponseDecision, question: HopQuestion?)

    /// Behind a reference, because most loads have no authentication.
    private var authenticator: CopyOnWriteBox<Authenticator>

    /// Creates the authentication of a load that has sent no answer.
    ///
    /// - Parameters:
    ///   - request: The request for which the task was created.
    ///   - context: The session's context.
    init(of request: URLRequest, _ context: SessionContext) {
        // `identifiesUser` is true if the session adds `Authorization` to each request.
        authenticator = CopyOnWriteBox(
            Authenticator(
                memory: context.authentication, storage: context.settings.credentialStorage, request: request,
                identifiesUser: context.settings.additionalHeaders["Authorization"] != nil))
    }

    /// The credential with which the next request answers the proxy; nil for none.
    var proxyCredential: URLCredential? { authenticator.value.proxyCredential }

    /// Begins the transmission of a request: selects the answers to send. Returns the hash of the content that `fields` needs;
    /// nil if it needs none.
    ///
    /// - Parameters:
    ///   - message: The parts of the request on which answers depend.
    ///   - credential: The credential that the program has set on the task.
    mutating func begin(_ message: AuthenticationMessage, _ credential: URLCredential?) -> ContentHash? {
        authenticator.value.taskCredential = credential
        authenticator.value.begin(message)
        return authenticator.value.contentHash
    }

    /// Records a request that was sent without an answer, so that its challenge can be answered.
    mutating func recordUnanswered(_ message: AuthenticationMessage) {
        authenticator.value.recordUnanswered(message)
    }

    /// Returns the answers to send with the request. Records them as sent.
    ///
    /// - Parameter hashes: The result of the computation that `begin` has returned; empty if there was none.
    mutating func fields(_ hashes: ContentHash.Result) -> AuthenticationFields {
        authenticator.value.fields(hashes)
    }

    /// Decides about the response to the last request.
    mutating func receive(_ response: HTTPURLResponse, _ credential: URLCredential?) -> Outcome {
        // There is a response, and not a refused tunnel.
        outcome(credential, refusal: nil) { $0.receive(response) }
    }

    /// Decides about the response with which a proxy has refused to open a tunnel (U-11.17). Returns nil for any other error of
    /// a hop.
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
    ) -> Outcome {
        outcome(credential, refusal: refusal) { $0.receiveAnswer(answer) }
    }

    /// Returns what follows from the authenticator's verdict.
    private mutating func outcome(
        _ credential: URLCredential?, refusal: URLError?,
        _ verdict: (inout Authenticator) -> Authenticator.Verdict
    ) -> Outcome {
        authenticator.value.taskCredential = credential
        return switch verdict(&authenticator.value) {
        case .deliver: (refusal.map { .fail($0) } ?? .deliver, nil)
        case .resend: (.nextHop, nil)
        case .ask(let challenge): (.ask, .challenge(challenge, refusal: refusal))
        case .cancel: (.fail(.cancelled(url: nil)), nil)
        }
    }
}
