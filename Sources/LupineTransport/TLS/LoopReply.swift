// SPDX-License-Identifier: MIT

/// The answer to a question that a loop has put to somebody else: it counts once, comes from any thread, and is there
/// even when that somebody forgets about it.
final class LoopReply<Answer: Sendable>: Sendable {
    private let deliver: Lock<(@Sendable (Answer) -> Void)?>
    private let unanswered: Answer

    /// `deliver` hears the first answer; `unanswered` when the last who could give one is gone.
    init(unanswered: Answer, _ deliver: @escaping @Sendable (Answer) -> Void) {
        self.unanswered = unanswered
        self.deliver = Lock(deliver)
    }

    deinit { give(unanswered) }

    /// Gives the answer; one after the first is dropped.
    func give(_ answer: Answer) {
        let deliver = deliver.withLock { $0.take() }
        deliver?(answer)
    }
}
