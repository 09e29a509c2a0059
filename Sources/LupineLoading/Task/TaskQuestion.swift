// SPDX-License-Identifier: MIT

import LupineTransport
import Synchronization

/// A call of the delegate whose completion handler the task waits for. The handler may be called on any thread; only its first
/// call has an effect (U-5.10).
protocol TaskQuestion: AnyObject, Sendable {
    /// Calls the delegate with a completion handler that reports this question as answered (`TaskCore.answered`). Called on the
    /// delegate queue.
    func ask(_ context: CallbackContext)
    /// Uses the fallback instead of an answer, because the delegate is not asked or its answer is no longer awaited.
    func abandon()
}

/// A question made of closures. It is not generic over the type of the answer, so that the compiler specialises the code where
/// the question is created and the type is known.
final class ClosureQuestion: TaskQuestion {
    private let asking: @Sendable (CallbackContext, any TaskQuestion) -> Void
    private let abandoning: @Sendable () -> Void

    init(
        ask: @escaping @Sendable (CallbackContext, any TaskQuestion) -> Void,
        abandon: @escaping @Sendable () -> Void
    ) {
        asking = ask
        abandoning = abandon
    }

    func ask(_ context: CallbackContext) { asking(context, self) }
    func abandon() { abandoning() }
}

/// Asks the delegate for the disposition of a response. A single object without closures, because each task with a delegate asks
/// this question.
final class ResponseQuestion: TaskQuestion {
    private let task: TaskCore
    private let response: URLResponse
    private let isAnswered = Atomic(false)

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

    func abandon() { give(.allow) }

    private func answer(_ disposition: URLSession.ResponseDisposition) {
        give(disposition)
        task.answered(self)
    }

    private func give(_ disposition: URLSession.ResponseDisposition) {
        if !isAnswered.exchange(true, ordering: .relaxed) { task.carryOut(disposition, on: response) }
    }
}

/// Passes the first answer on to a closure, and then releases the closure.
final class OneAnswer<Answer: Sendable>: Sendable {
    /// Wraps the closure.
    private final class Receiver: Sendable {
        let receive: @Sendable (Answer) -> Void

        init(_ receive: @escaping @Sendable (Answer) -> Void) { self.receive = receive }
    }

    /// The `Receiver`; nil after the first answer. The type is erased, because a lock of the generic type would look up metadata
    /// in the runtime each time it is deallocated.
    private let receiver: Lock<(any AnyObject & Sendable)?>

    init(_ receive: @escaping @Sendable (Answer) -> Void) { receiver = Lock(Receiver(receive)) }

    func give(_ answer: Answer) {
        let receiver = receiver.withLock { $0.take() }
        (receiver as? Receiver)?.receive(answer)
    }
}
