// SPDX-License-Identifier: MIT

/// The reply to a question of a loop to other code. Any thread may give it; only the first answer counts. If the other code drops
/// the reply without an answer, `unanswered` is delivered.
final class LoopReply<Answer: Sendable>: Sendable {
    private struct State {
        var deliver: (@Sendable (Answer) -> Void)?
    }

    private let state: Lock<State>
    private let unanswered: Answer

    /// `deliver` is called with the first answer, or with `unanswered` when the last reference to the reply is dropped.
    init(unanswered: Answer, _ deliver: @escaping @Sendable (Answer) -> Void) {
        self.unanswered = unanswered
        state = Lock(State(deliver: deliver))
    }

    deinit { fulfill(unanswered) }

    /// Gives the answer; ignored after the first.
    func fulfill(_ answer: Answer) {
        let deliver = state.withLock { $0.deliver.take() }
        deliver?(answer)
    }
}
