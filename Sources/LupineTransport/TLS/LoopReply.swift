// SPDX-License-Identifier: MIT

/// A promise for the answer to a question that a loop asks other code. Any thread may fulfill the promise; only the first answer
/// counts. If the other code releases the promise without an answer, `unanswered` is delivered.
final class LoopReply<Answer: Sendable>: Sendable {
    /// A struct, because each access would wrap a closure again that is itself the lock's value.
    private struct State {
        var deliver: (@Sendable (Answer) -> Void)?
    }

    private let state: Lock<State>
    private let unanswered: Answer

    /// Creates a reply that calls `deliver` with the first answer, or with `unanswered` when the last reference is released.
    init(unanswered: Answer, _ deliver: @escaping @Sendable (Answer) -> Void) {
        self.unanswered = unanswered
        state = Lock(State(deliver: deliver))
    }

    deinit { fulfill(unanswered) }

    /// Delivers the answer; has no effect after the first call.
    func fulfill(_ answer: Answer) {
        let deliver = state.withLock { $0.deliver.take() }
        deliver?(answer)
    }
}
