// SPDX-License-Identifier: MIT

import LupineTransport

/// A call of the delegate's whose completion handler the task waits for. The first answer counts, from any thread (U-5.10).
///
/// Its answers may be of any type, and it is of none: what is known of the answer where the question is made stays there, and
/// the compiler sees it.
final class TaskQuestion: Sendable {
    private let asking: @Sendable (TaskStage, TaskQuestion) -> Void
    private let abandoning: @Sendable () -> Void

    /// A question.
    ///
    /// - Parameters:
    ///   - ask: Calls the delegate, with a completion handler that says of this question that it was answered.
    ///   - abandon: Sees to what hangs on the answer when nobody will be asked, or nobody waits for the answer any more.
    init(
        ask: @escaping @Sendable (TaskStage, TaskQuestion) -> Void,
        abandon: @escaping @Sendable () -> Void
    ) {
        asking = ask
        abandoning = abandon
    }

    /// Asks, on the delegate queue.
    func ask(_ stage: TaskStage) { asking(stage, self) }

    /// Nobody waits any more: what hangs on the answer gets the fallback.
    func abandon() { abandoning() }
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
