// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Asks the delegates about a challenge, one after the other, until one answers (U-5.8, U-5.9).
///
/// A challenge about the connection goes to the session-level method first, then to the task-level method; other challenges go to
/// the task-level method only. The task's own delegate comes before the session's. A default implementation answers
/// `URLCredential.notImplemented`, and the next delegate is asked. No delegate is asked twice.
struct ChallengeRoute: Sendable {
    private typealias Handler = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    private struct Recipient: Sendable {
        enum Method: Sendable {
            case session(any URLSessionDelegate)
            case task(any URLSessionTaskDelegate)
        }

        let method: Method
        let responder: ChallengeAnswer.Responder
    }
    /// The state of the call to one recipient: `passed` when it has answered `notImplemented`, `over` when the call has returned
    /// before that or with another answer.
    private enum Call { case running, passed, over }

    private let challenge: URLAuthenticationChallenge
    private let context: CallbackContext
    private let queue: DelegateQueue
    private let answer: @Sendable (ChallengeAnswer) -> Void
    private let recipients: [Recipient]

    /// - Parameter queue: The queue on which the next recipient is called, when the previous one answered `notImplemented` after
    ///   its call had returned.
    init(
        _ challenge: URLAuthenticationChallenge, context: CallbackContext, queue: DelegateQueue,
        answer: @escaping @Sendable (ChallengeAnswer) -> Void
    ) {
        self.challenge = challenge
        self.context = context
        self.queue = queue
        self.answer = answer
        let isAboutConnection = Self.connectionMethods.contains(
            challenge.protectionSpace.authenticationMethod)
        var recipients: [Recipient] = []
        // Whether the task's own delegate and the session's are the same object.
        let isOne = context.delegates.own?.session === context.delegates.session?.session
        for (delegates, responder) in [
            (context.delegates.own, ChallengeAnswer.Responder.task), (context.delegates.session, .session),
        ] {
            guard let delegates else { continue }
            let responder = isOne ? .session : responder
            if isAboutConnection {
                recipients.append(Recipient(method: .session(delegates.session), responder: responder))
            }
            if let task = delegates.task {
                recipients.append(Recipient(method: .task(task), responder: responder))
            }
        }
        self.recipients = recipients
    }

    /// The methods of challenges about the connection, which Apple calls session-wide.
    private static let connectionMethods: Set = [
        NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
        NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
    ]

    /// Starts asking. Call on the delegate queue.
    func ask() { ask(from: 0) }

    private func ask(from first: Int) {
        for index in recipients.indices.dropFirst(first) {
            let call = CallState()
            ask(recipients[index]) { disposition, credential in
                guard credential === URLCredential.notImplemented else {
                    return answer(
                        ChallengeAnswer(
                            disposition: disposition, credential: credential,
                            responder: recipients[index].responder))
                }
                if call.pass() { queue.add { ask(from: index + 1) } }
            }
            guard call.hasPassed() else { return }
        }
        answer(ChallengeAnswer(disposition: .performDefaultHandling, responder: .session))
    }

    private func ask(_ recipient: Recipient, _ handler: @escaping Handler) {
        switch recipient.method {
        case .session(let delegate):
            AsyncForm.$challengedTask.withValue(context.task.core) {
                delegate.urlSession(context.session, didReceive: challenge, completionHandler: handler)
            }
        case .task(let delegate):
            delegate.urlSession(
                context.session, task: context.task, didReceive: challenge, completionHandler: handler)
        }
    }

    /// Tells whether a recipient answers `notImplemented`, which passes the challenge on, during its call or after it.
    private final class CallState: Sendable {
        private let state = Lock(Call.running)

        /// Called when the recipient has passed the challenge on. Returns true if the call has returned already: then the caller
        /// has to call the next recipient.
        func pass() -> Bool {
            state.withLock { state in
                defer { state = .passed }
                return state == .over
            }
        }

        /// Called when the call has returned. Returns whether the recipient has passed the challenge on by then.
        func hasPassed() -> Bool {
            state.withLock { state in
                if state == .passed { return true }
                state = .over
                return false
            }
        }
    }
}
