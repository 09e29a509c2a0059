// SPDX-License-Identifier: MIT

internal import Synchronization

/// Decides which thread may use the state of a loop: the loop's own thread or, while that sleeps, one that has borrowed the loop.
///
/// A thread that starts a request borrows the loop of its connection and writes the request itself; nobody has to be woken for
/// it. The loop's thread takes part in every change, so that exactly one thread uses the state at any time. Nobody waits for a
/// borrowed loop except its own thread, and only for as long as one short piece of work takes.
final class LoopAccess: Sendable {
    private let holder = Atomic<LoopHolder>(.loop)
    /// Signalled by the borrower for whose work the loop's thread waits.
    private let handOver = Semaphore()

    /// Called by the loop's thread before it sleeps.
    func willSleep() { _ = change(by: .sleeps) }

    /// Called by the loop's thread when it has slept. Returns when no other thread uses the loop's state.
    func didSleep() {
        if change(by: .wakes) == .callerBeforeLoop { handOver.waitOnLoop() }
    }

    /// Borrows the loop for the calling thread, if it sleeps. Returns false, without waiting, if it does not.
    func borrow() -> Bool { change(by: .borrowed) != nil }

    /// Gives a borrowed loop back.
    func giveBack() {
        if change(by: .givenBack) == .loop { handOver.signal() }
    }

    /// Makes the transition for an event, and returns the new holder; nil if there is none.
    private func change(by event: LoopHolder.Event) -> LoopHolder? {
        var current = holder.load(ordering: .relaxed)
        while let next = current.next(after: event) {
            let (isExchanged, original) = holder.compareExchange(
                expected: current, desired: next, ordering: .acquiringAndReleasing)
            if isExchanged { return next }
            current = original
        }
        return nil
    }
}

/// The thread that may use the state of a loop.
enum LoopHolder: UInt8, AtomicRepresentable, CaseIterable {
    /// The loop's own: it runs a turn, has not started, or has ended.
    case loop
    /// None: the loop's thread sleeps.
    case nobody
    /// Another thread has borrowed the loop.
    case caller
    /// Another thread has borrowed the loop, and the loop's own waits for it.
    case callerBeforeLoop

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
        case (.nobody, .borrowed): .caller
        case (.nobody, .wakes): .loop
        case (.caller, .givenBack): .nobody
        case (.caller, .wakes): .callerBeforeLoop
        case (.callerBeforeLoop, .givenBack): .loop
        // The loop is in use.
        case (.loop, .borrowed), (.caller, .borrowed), (.callerBeforeLoop, .borrowed): nil
        // Only the loop's thread sleeps and wakes, in turn, and only a borrower gives back.
        case (.loop, .wakes), (.loop, .givenBack), (.nobody, .sleeps), (.nobody, .givenBack),
            (.caller, .sleeps),
            (.callerBeforeLoop, .sleeps), (.callerBeforeLoop, .wakes):
            nil
        }
    }
}
