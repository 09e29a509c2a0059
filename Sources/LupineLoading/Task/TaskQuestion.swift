// SPDX-License-Identifier: MIT

import LupineTransport
import Synchronization

/// A call of the delegate's whose completion handler the task waits for. The first answer counts, from any thread (U-5.10).
protocol TaskQuestion: AnyObject, Sendable {
    /// Whether code of the program's is asked that takes no part in the other calls: then it is asked on the delegate queue.
    var isForDelegateQueue: Bool { get }
    /// Asks, with a completion handler that says of this question that it was answered.
    func ask(_ stage: TaskStage)
    /// Nobody will be asked, or nobody waits any more: what hangs on the answer gets the fallback.
    func abandon()
}

/// A question as closures. Its answers may be of any type, and it is of none: what is known of the answer where the question is made
/// stays there, and the compiler sees it.
final class ClosureQuestion: TaskQuestion {
    let isForDelegateQueue: Bool
    private let asking: @Sendable (TaskStage, any TaskQuestion) -> Void
    private let abandoning: @Sendable () -> Void

    init(
        isForDelegateQueue: Bool, ask: @escaping @Sendable (TaskStage, any TaskQuestion) -> Void,
        abandon: @escaping @Sendable () -> Void
    ) {
        self.isForDelegateQueue = isForDelegateQueue
        asking = ask
        abandoning = abandon
    }

    func ask(_ stage: TaskStage) { asking(stage, self) }
    func abandon() { abandoning() }
}

/// Whether the content of a response is wanted, and how. Every task with a delegate asks it: one object, without closures.
final class ResponseQuestion: TaskQuestion {
    private let task: TaskCore
    private let response: URLResponse
    private let isAnswered = Atomic(false)
    var isForDelegateQueue: Bool { false }

    init(_ task: TaskCore, about response: URLResponse) {
        self.task = task
        self.response = response
    }

    func ask(_ stage: TaskStage) {
        guard let delegate = stage.delegates.data, let dataTask = stage.task as? URLSessionDataTask else {
            return answer(.allow)
        }
        delegate.urlSession(stage.session, dataTask: dataTask, didReceive: response) { self.answer($0) }
    }

    func abandon() { give(.allow) }

    private func answer(_ disposition: URLSession.ResponseDisposition) {
        give(disposition)
        task.answered(self, mayGoOnHere: true)
    }

    private func give(_ disposition: URLSession.ResponseDisposition) {
        if !isAnswered.exchange(true, ordering: .relaxed) { task.follow(disposition, about: response) }
    }
}

/// Passes on the first answer, and lets go of who waited for it.
final class OneAnswer<Answer: Sendable>: Sendable {
    /// Who waits.
    private final class Taker: Sendable {
        let take: @Sendable (Answer) -> Void

        init(_ take: @escaping @Sendable (Answer) -> Void) { self.take = take }
    }

    /// A `Taker`. A lock around that type would ask the runtime for its own each time that it goes away.
    private let taker: Lock<(any AnyObject & Sendable)?>

    init(_ take: @escaping @Sendable (Answer) -> Void) { taker = Lock(Taker(take)) }

    func give(_ answer: Answer) {
        let taker = taker.withLock { $0.take() }
        (taker as? Taker)?.take(answer)
    }
}
