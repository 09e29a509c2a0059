// SPDX-License-Identifier: MIT

import LupineTransport
import Synchronization

/// A call of the delegate whose completion handler the task waits for. The first answer counts, from any thread (U-5.10).
protocol TaskQuestion: AnyObject, Sendable {
    /// Asks, on the delegate queue, with a completion handler that reports this question as answered.
    func ask(_ context: CallbackContext)
    /// The delegate will not be asked, or its answer is not awaited any more: whatever depends on the answer gets the fallback.
    func abandon()
}

/// A question made of closures. It is not generic over the type of the answer: that type is known only where the question is
/// made, where the compiler can specialise the code.
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

/// Asks whether the content of a response is wanted, and how. Every task with a delegate asks it, so it is one object without
/// closures.
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

/// Passes on the first answer, and then releases the closure that receives it.
final class OneAnswer<Answer: Sendable>: Sendable {
    /// The receiver of the answer.
    private final class Receiver: Sendable {
        let receive: @Sendable (Answer) -> Void

        init(_ receive: @escaping @Sendable (Answer) -> Void) { self.receive = receive }
    }

    /// A `Receiver`. A lock of that generic type would ask the runtime for its metadata each time it is deallocated.
    private let receiver: Lock<(any AnyObject & Sendable)?>

    init(_ receive: @escaping @Sendable (Answer) -> Void) { receiver = Lock(Receiver(receive)) }

    func give(_ answer: Answer) {
        let receiver = receiver.withLock { $0.take() }
        (receiver as? Receiver)?.receive(answer)
    }
}
