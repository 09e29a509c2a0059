// SPDX-License-Identifier: MIT

/// A promise for the answer to a question that a loop asks code outside of it, such as the program. Any thread may fulfill the
/// promise; only the first answer counts. If that code releases the promise without an answer, the promise delivers a default.
final class LoopReply<Answer: Sendable>: Sendable {
    /// The closure that delivers the answer; nil once it has been called. A struct, because Swift would wrap a bare closure as a
    /// generic value again at each access.
    private struct State {
        var deliver: (@Sendable (Answer) -> Void)?
    }

    private let state: Lock<State>
    /// The answer to deliver if nobody gives one.
    private let defaultAnswer: Answer

    /// Creates a reply that calls `deliver` with the first answer, or with `defaultAnswer` when the last reference is released.
    init(default defaultAnswer: Answer, _ deliver: @escaping @Sendable (Answer) -> Void) {
        self.defaultAnswer = defaultAnswer
        state = Lock(State(deliver: deliver))
    }

    deinit { fulfill(defaultAnswer) }

    /// Delivers the answer; has no effect after the first call.
    func fulfill(_ answer: Answer) {
        let deliver = state.withLock { $0.deliver.take() }
        deliver?(answer)
    }
}
