// SPDX-License-Identifier: MIT

import LupineTransport

/// A call of the delegate's whose completion handler the task waits for.
protocol TaskQuestion: AnyObject, Sendable {
    /// Asks, on the delegate queue.
    func ask(_ stage: TaskStage)
    /// Nobody waits any more: what hangs on the answer gets the fallback.
    func abandon()
}

/// A question with its answer: the first one counts, from any thread (U-5.10).
final class OpenQuestion<Answer: Sendable>: TaskQuestion {
    private let task: TaskCore
    private let fallback: Answer
    private let question: @Sendable (TaskStage, @escaping @Sendable (Answer) -> Void) -> Void
    private let answer: OneAnswer<Answer>

    /// A question.
    ///
    /// - Parameters:
    ///   - task: Whose.
    ///   - fallback: The answer when nobody will be asked, or nobody waits for the answer any more.
    ///   - question: Calls the delegate, with a completion handler.
    ///   - taken: Takes the answer, once.
    init(
        _ task: TaskCore, fallback: Answer,
        question: @escaping @Sendable (TaskStage, @escaping @Sendable (Answer) -> Void) -> Void,
        taken: @escaping @Sendable (Answer) -> Void
    ) {
        self.task = task
        self.fallback = fallback
        self.question = question
        answer = OneAnswer(taken)
    }

    func ask(_ stage: TaskStage) {
        question(stage) { answer in
            self.answer.give(answer)
            self.task.answered(self)
        }
    }

    func abandon() { answer.give(fallback) }
}

/// Passes on the first answer, and lets go of who waited for it.
final class OneAnswer<Answer: Sendable>: Sendable {
    private let taker: Lock<(@Sendable (Answer) -> Void)?>

    init(_ taker: @escaping @Sendable (Answer) -> Void) { self.taker = Lock(taker) }

    func give(_ answer: Answer) {
        let taker = taker.withLock { taker in
            defer { taker = nil }
            return taker
        }
        taker?(answer)
    }
}
