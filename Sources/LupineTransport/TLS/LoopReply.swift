// SPDX-License-Identifier: MIT

/// The answer to a question that a loop has put to somebody else: it counts once, comes from any thread, and is there
/// even when that somebody forgets about it.
final class LoopReply<Answer: Sendable>: Sendable {
    private struct State {
        var deliver: (@Sendable (Answer) -> Void)?
    }

    private let state: Lock<State>
    private let unanswered: Answer

    /// `deliver` hears the first answer; `unanswered` when the last who could give one is gone.
    init(unanswered: Answer, _ deliver: @escaping @Sendable (Answer) -> Void) {
        self.unanswered = unanswered
        state = Lock(State(deliver: deliver))
    }

    deinit { give(unanswered) }

    /// Gives the answer; one after the first is dropped.
    func give(_ answer: Answer) {
        let deliver = state.withLock { $0.deliver.take() }
        deliver?(answer)
    }
}
