// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Synchronization

/// A call of the delegate with a completion handler. The task waits until the handler is called, on any thread. Only the first
/// call of the handler has an effect (U-5.10).
protocol TaskQuestion: AnyObject, Sendable {
    /// Calls the delegate with a completion handler that marks this question as answered (`TaskCore.markAnswered`). Called on
    /// the delegate queue.
    func ask(_ context: CallbackContext)
    /// Uses the fallback instead of an answer, because the delegate is not asked or the task does not wait for its answer.
    func abandon()
}

/// A question made of closures. It is not generic over the type of the answer, so that the compiler specialises the code where
/// the question is created and the type is known.
final class ClosureQuestion: TaskQuestion {
    private let askClosure: @Sendable (CallbackContext, any TaskQuestion) -> Void
    private let abandonClosure: @Sendable () -> Void

    /// Creates a question.
    ///
    /// - Parameters:
    ///   - ask: Calls the delegate. Its second parameter is this question.
    ///   - abandon: Uses the fallback instead of an answer.
    init(
        ask: @escaping @Sendable (CallbackContext, any TaskQuestion) -> Void,
        abandon: @escaping @Sendable () -> Void
    ) {
        askClosure = ask
        abandonClosure = abandon
    }

    /// Creates a question of a task.
    ///
    /// - Parameters:
    ///   - task: The task, which waits for the answer.
    ///   - fallback: The answer that `completion` receives if the question is abandoned, for example by a cancellation.
    ///   - question: Calls the delegate with a completion handler.
    ///   - completion: Receives the first answer, on any thread, before any step behind the question is run.
    convenience init<Answer: Sendable>(
        of task: TaskCore, fallback: Answer,
        _ question: @escaping @Sendable (CallbackContext, @escaping @Sendable (Answer) -> Void) -> Void,
        completion: @escaping @Sendable (Answer) -> Void
    ) {
        let receiver = FirstAnswerReceiver(completion)
        self.init(
            ask: { context, openQuestion in
                question(context) { answer in
                    receiver.receive(answer)
                    task.markAnswered(openQuestion)
                }
            },
            abandon: { receiver.receive(fallback) })
    }

    func ask(_ context: CallbackContext) { askClosure(context, self) }
    func abandon() { abandonClosure() }
}

/// The questions of a load.
extension ClosureQuestion {
    /// Asks the delegate which request follows a redirect.
    static func redirect(
        of task: TaskCore, _ response: HTTPURLResponse, to request: URLRequest,
        reply: @escaping @Sendable (URLRequest?) -> Void
    ) -> ClosureQuestion {
        ClosureQuestion(of: task, fallback: nil) { context, answer in
            guard let delegate = context.delegates.task else { return answer(request) }
            delegate.urlSession(
                context.session, task: context.task, willPerformHTTPRedirection: response,
                newRequest: request,
                completionHandler: answer)
        } completion: {
            reply($0)
        }
    }

    /// Passes a challenge to the delegates.
    static func challenge(
        of task: TaskCore, on queue: DelegateQueue, _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (ChallengeAnswer) -> Void
    ) -> ClosureQuestion {
        ClosureQuestion(
            of: task, fallback: ChallengeAnswer(disposition: .cancelAuthenticationChallenge),
            { context, answer in
                ChallengeRoute(challenge, context: context, queue: queue, answer: answer).ask()
            }, completion: reply)
    }

    /// Asks the delegate for the stream of the body.
    static func bodyStream(
        of task: TaskCore, reply: @escaping @Sendable (BodyStream?) -> Void
    ) -> ClosureQuestion {
        ClosureQuestion(of: task, fallback: nil) { context, answer in
            guard let delegate = context.delegates.task else { return answer(nil) }
            delegate.urlSession(context.session, task: context.task) { answer($0.map { BodyStream($0) }) }
        } completion: {
            reply($0)
        }
    }
}

/// Asks the delegate for the disposition of a response. To save allocations, it is a single object without closures, because each
/// task with a delegate asks this question.
final class ResponseQuestion: TaskQuestion {
    private let task: TaskCore
    private let response: URLResponse
    /// Whether an answer or the fallback has been carried out. The order of memory accesses is relaxed, because no other memory
    /// depends on this flag.
    private let isCarriedOut = Atomic(false)

    init(_ task: TaskCore, about response: URLResponse) {
        self.task = task
        self.response = response
    }

    func ask(_ context: CallbackContext) {
        guard let delegate = context.delegates.data, let dataTask = context.task as? URLSessionDataTask else {
            return answer(.allow)
        }
        delegate.urlSession(context.session, dataTask: dataTask, didReceive: response) { self.answer($0) }
    }

    func abandon() { carryOutOnce(.allow) }

    private func answer(_ disposition: URLSession.ResponseDisposition) {
        carryOutOnce(disposition)
        task.markAnswered(self)
    }

    /// Carries out the disposition unless another one was carried out before.
    private func carryOutOnce(_ disposition: URLSession.ResponseDisposition) {
        if !isCarriedOut.exchange(true, ordering: .relaxed) { task.carryOut(disposition, on: response) }
    }
}

/// Passes the first answer on to a closure, and then releases the closure.
final class FirstAnswerReceiver<Answer: Sendable>: Sendable {
    /// Holds the closure.
    private final class Box: Sendable {
        let receive: @Sendable (Answer) -> Void

        init(_ receive: @escaping @Sendable (Answer) -> Void) { self.receive = receive }
    }

    /// The `Box`; nil after the first answer. Its type is erased for speed: a lock of the generic type would look up metadata in
    /// the runtime each time it is deallocated.
    private let box: Lock<(any AnyObject & Sendable)?>

    init(_ receive: @escaping @Sendable (Answer) -> Void) { box = Lock(Box(receive)) }

    /// Passes the answer on if it is the first one. The closure is called outside of the lock.
    func receive(_ answer: Answer) {
        let box = box.withLock { $0.take() }
        (box as? Box)?.receive(answer)
    }
}
