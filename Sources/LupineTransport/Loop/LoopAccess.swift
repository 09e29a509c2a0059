// SPDX-License-Identifier: MIT

internal import Synchronization

/// Decides which thread may use the state of a loop: the loop's own thread or, while that sleeps, one that has borrowed the loop.
///
/// A thread that starts a request borrows the loop of its connection and writes the request itself, so that the loop's thread
/// need not be woken. Every change of the holder is one atomic exchange, so at most one thread uses the state at any time. Only
/// the loop's own thread ever waits for a borrowed loop, and only while the borrower's short work runs.
final class LoopAccess: Sendable {
    /// The thread that may use the state at present.
    private let holder = Atomic<LoopHolder>(.loop)
    /// The borrower signals it after its work, if the loop's thread waits for that.
    private let borrowEnded = Semaphore()

    /// Called by the loop's thread before it sleeps. The transition always exists, because the loop's thread holds the loop.
    func willSleep() { _ = change(by: .sleeps) }

    /// Called by the loop's thread when it has slept. Returns when no other thread uses the loop's state.
    func didSleep() {
        if change(by: .wakes) == .borrowerBeforeLoop { borrowEnded.waitOnLoop() }
    }

    /// Whether the loop's thread was awake when it was last asked; any thread may ask.
    var isLoopAwake: Bool { holder.load(ordering: .relaxed) == .loop }

    /// Borrows the loop for the calling thread, if the loop sleeps. Otherwise returns false, without waiting.
    func borrow() -> Bool { change(by: .borrowed) != nil }

    /// Gives a borrowed loop back.
    func giveBack() {
        if change(by: .givenBack) == .loop { borrowEnded.signal() }
    }

    /// Makes the transition for an event, and returns the new holder; nil if the event allows no transition.
    private func change(by event: LoopHolder.Event) -> LoopHolder? {
        var current = holder.load(ordering: .relaxed)
        while let next = current.next(after: event) {
            // Releases the state that this thread has written, and acquires what the previous holder has written.
            let (isExchanged, original) = holder.compareExchange(
                expected: current, desired: next, ordering: .acquiringAndReleasing)
            if isExchanged { return next }
            // Another thread has changed the holder since it was read.
            current = original
        }
        return nil
    }
}

/// The thread that may use the state of a loop.
enum LoopHolder: UInt8, AtomicRepresentable, CaseIterable {
    /// The loop's own thread: it runs a turn, has not started, or has ended.
    case loop
    /// No thread: the loop's own thread sleeps.
    case nobody
    /// Another thread, which has borrowed the loop.
    case borrower
    /// Another thread, which has borrowed the loop. The loop's own thread has woken and waits for it.
    case borrowerBeforeLoop

    /// An event that changes the holder.
    enum Event: CaseIterable {
        /// The loop's thread is about to sleep.
        case sleeps
        /// The loop's thread has slept.
        case wakes
        /// Another thread wants to borrow the loop.
        case borrowed
        /// The borrower has finished.
        case givenBack
    }

    /// Returns the holder after an event; nil if the event is refused or cannot happen.
    func next(after event: Event) -> LoopHolder? {
        switch (self, event) {
        case (.loop, .sleeps): .nobody
        case (.nobody, .borrowed): .borrower
        case (.nobody, .wakes): .loop
        case (.borrower, .givenBack): .nobody
        case (.borrower, .wakes): .borrowerBeforeLoop
        case (.borrowerBeforeLoop, .givenBack): .loop
        // The loop is in use.
        case (.loop, .borrowed), (.borrower, .borrowed), (.borrowerBeforeLoop, .borrowed): nil
        // Impossible: only the loop's thread sleeps and wakes, alternately, and only a borrower gives back.
        case (.loop, .wakes), (.loop, .givenBack), (.nobody, .sleeps), (.nobody, .givenBack),
            (.borrower, .sleeps),
            (.borrowerBeforeLoop, .sleeps), (.borrowerBeforeLoop, .wakes):
            nil
        }
    }
}
