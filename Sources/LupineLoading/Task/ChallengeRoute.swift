// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Asks the delegates of a task and its session about a challenge, one after the other, until one answers (U-5.8, U-5.9).
///
/// The task's own delegate is asked before the session's. For a challenge about the connection, the route calls the session-level
/// method of a delegate first, and then its task-level method. For other challenges, it calls only the task-level method.
///
/// If a delegate does not implement a method, the default implementation answers with `URLCredential.notImplemented`, and the
/// route calls the next method. No method is called twice.
struct ChallengeRoute: Sendable {
    private typealias Handler = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    /// A delegate method that may answer the challenge.
    private struct Recipient: Sendable {
        enum Method: Sendable {
            case session(any URLSessionDelegate)
            case task(any URLSessionTaskDelegate)
        }

        let method: Method
        /// Whose answer it is: the task's or the session's.
        let responder: ChallengeAnswer.Responder
    }

    /// The progress of the call of one recipient.
    private enum CallProgress {
        case running
        /// The recipient has passed the challenge on, by the answer `notImplemented`.
        case passedOn
        /// The call has returned, and the recipient had not passed the challenge on.
        case returned
    }

    private let challenge: URLAuthenticationChallenge
    private let context: CallbackContext
    private let queue: DelegateQueue
    private let answer: @Sendable (ChallengeAnswer) -> Void
    /// The methods to call, in this order.
    private let recipients: [Recipient]

    /// Creates a route. It calls no delegate before `ask()`.
    ///
    /// - Parameters:
    ///   - challenge: The challenge.
    ///   - context: The session, the task and its delegates.
    ///   - queue: The delegate queue. If a recipient answers `notImplemented` after its call has returned, the next recipient is
    ///     called on this queue.
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
        let isSameDelegate =
            context.delegates.ownDelegates?.session === context.delegates.sessionDelegates?.session
        for (delegates, responder) in [
            (context.delegates.ownDelegates, ChallengeAnswer.Responder.task),
            (context.delegates.sessionDelegates, .session),
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

    /// The authentication methods of challenges about the connection. Apple's documentation calls these challenges session-wide.
    private static let connectionMethods: Set = [
        NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
        NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
    ]

    /// Asks the first recipient. Call on the delegate queue.
    func ask() { ask(from: 0) }

    /// Asks the recipients from the index `first` on. Stops at a recipient that does not pass the challenge on during its call.
    /// If that recipient passes the challenge on later, `ask` continues with the next one.
    private func ask(from first: Int) {
        for index in recipients.indices.dropFirst(first) {
            let call = RecipientCall()
            ask(recipients[index]) { disposition, credential in
                guard credential === URLCredential.notImplemented else {
                    return answer(
                        ChallengeAnswer(
                            disposition: disposition, credential: credential,
                            responder: recipients[index].responder))
                }
                // True if the recipient's call has returned before. The loop has ended then, so another job continues it.
                let mustContinue = call.passOn()
                if mustContinue { queue.add { ask(from: index + 1) } }
            }
            // Continues only if the recipient has passed the challenge on during its call.
            guard call.returnedAfterPassingOn() else { return }
        }
        // All recipients have passed the challenge on.
        answer(ChallengeAnswer(disposition: .performDefaultHandling, responder: .session))
    }

    /// Calls the recipient's method with the completion handler.
    private func ask(_ recipient: Recipient, _ handler: @escaping Handler) {
        switch recipient.method {
        case .session(let delegate):
            // The session-level method has no parameter for the task, so `challengedTask` makes it known to asynchronous forms.
            AsyncForm.$challengedTask.withValue(context.task.core) {
                delegate.urlSession(context.session, didReceive: challenge, completionHandler: handler)
            }
        case .task(let delegate):
            delegate.urlSession(
                context.session, task: context.task, didReceive: challenge, completionHandler: handler)
        }
    }

    /// Records whether a recipient passes the challenge on during its call or after it.
    private final class RecipientCall: Sendable {
        private let progress = Lock(CallProgress.running)

        /// Records that the recipient has passed the challenge on. Returns true if its call has returned already: the caller then
        /// has to ask the next recipient. Returns false for a second answer.
        func passOn() -> Bool {
            progress.withLock { progress in
                defer { progress = .passedOn }
                return progress == .returned
            }
        }

        /// Records that the call has returned. Returns whether the recipient has passed the challenge on before that.
        func returnedAfterPassingOn() -> Bool {
            progress.withLock { progress in
                if progress == .passedOn { return true }
                progress = .returned
                return false
            }
        }
    }
}
