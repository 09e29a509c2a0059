// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Asks the delegates about a challenge, one after the other, until one answers (U-5.8, U-5.9).
///
/// For a challenge about the connection, the session-level method is called first, then the task-level method; for other
/// challenges, only the task-level method. The task's own delegate precedes the session's. A delegate that does not implement a
/// method answers `URLCredential.notImplemented` by the default implementation, and the next delegate is asked. No delegate is
/// asked twice.
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
    /// The state of the call to one recipient: `passed` when the recipient has answered `notImplemented`, `returned` when the
    /// call has returned without that answer.
    private enum Call { case running, passed, returned }

    private let challenge: URLAuthenticationChallenge
    private let context: CallbackContext
    private let queue: DelegateQueue
    private let answer: @Sendable (ChallengeAnswer) -> Void
    private let recipients: [Recipient]

    /// - Parameters:
    ///   - challenge: The challenge.
    ///   - context: The session, the task and its delegates.
    ///   - queue: The delegate queue, on which the next recipient is called if the previous one answers `notImplemented` after
    ///     its call has returned.
    ///   - answer: Receives the answer, once.
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
        // If the task's own delegate is also the session's, its answers are valid for the session's connections.
        let isSameDelegate = context.delegates.own?.session === context.delegates.session?.session
        for (delegates, responder) in [
            (context.delegates.own, ChallengeAnswer.Responder.task), (context.delegates.session, .session),
        ] {
            guard let delegates else { continue }
            let responder = isSameDelegate ? .session : responder
            if isAboutConnection {
                recipients.append(Recipient(method: .session(delegates.session), responder: responder))
            }
            if let task = delegates.task {
                recipients.append(Recipient(method: .task(task), responder: responder))
            }
        }
        self.recipients = recipients
    }

    /// The authentication methods of challenges about the connection, which Apple calls session-wide challenges.
    private static let connectionMethods: Set = [
        NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
        NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
    ]

    /// Asks the first recipient. Call on the delegate queue.
    func ask() { ask(from: 0) }

    /// Asks the recipients from the index `first` on, until one does not pass the challenge on during its call. If it passes the
    /// challenge on later, `ask` continues with the next one then.
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
            guard call.callReturned() else { return }
        }
        answer(ChallengeAnswer(disposition: .performDefaultHandling, responder: .session))
    }

    /// Calls the recipient's method with the completion handler.
    private func ask(_ recipient: Recipient, _ handler: @escaping Handler) {
        switch recipient.method {
        case .session(let delegate):
            // The session-level method does not get the task as an argument.
            AsyncForm.$challengedTask.withValue(context.task.core) {
                delegate.urlSession(context.session, didReceive: challenge, completionHandler: handler)
            }
        case .task(let delegate):
            delegate.urlSession(
                context.session, task: context.task, didReceive: challenge, completionHandler: handler)
        }
    }

    /// Records whether a recipient passes the challenge on, by the answer `notImplemented`, during its call or after it.
    private final class CallState: Sendable {
        private let state = Lock(Call.running)

        /// Records that the recipient has passed the challenge on. Returns true if its call has returned already: the caller then
        /// has to ask the next recipient.
        func pass() -> Bool {
            state.withLock { state in
                defer { state = .passed }
                return state == .returned
            }
        }

        /// Records that the call has returned. Returns whether the recipient has passed the challenge on before that.
        func callReturned() -> Bool {
            state.withLock { state in
                if state == .passed { return true }
                state = .returned
                return false
            }
        }
    }
}
