// SPDX-License-Identifier: MIT

/// Work on its way to a loop, from any thread.
///
/// The lock is held to append work or to swap two arrays, never while work runs. The eventfd is written only by a submitter that
/// finds the loop asleep, and once: several submissions cost one wake-up. Once closed, the inbox accepts nothing; all work that
/// it accepted before has run.
final class LoopInbox: Sendable {
    /// A piece of work. A struct: a bare closure in an array is wrapped once more.
    struct Work: Sendable {
        let run: @Sendable () -> Void
    }

    /// The phase of the loop, returned with its work.
    enum Phase: Sendable {
        case open
        /// A shutdown was requested; work is still accepted.
        case closing
    }

    private struct State {
        var work: [Work] = []
        /// Jobs of Swift tasks.
        var jobs: [UnownedJob] = []
        var asleep = false
        var phase = Phase.open
        /// Nil once the inbox is closed.
        var wakeUp: WakeUp?
    }

    private let state: Lock<State>

    init(wakeUp: WakeUp) { state = Lock(State(wakeUp: wakeUp)) }

    /// Adds work and returns whether it was accepted; if not, it will never run. The loop itself needs no wake-up: it takes the
    /// work before it waits again.
    func submit(_ work: @escaping @Sendable () -> Void, fromLoop: Bool = false) -> Bool {
        let (accepted, sleeper) = state.withLock { state -> (Bool, WakeUp?) in
            guard let wakeUp = state.wakeUp else { return (false, nil) }
            state.work.append(Work(run: work))
            guard state.asleep, !fromLoop else { return (true, nil) }
            state.asleep = false
            return (true, wakeUp)
        }
        sleeper?.signal()
        return accepted
    }

    /// Adds a job of a Swift task and returns whether it was accepted; a loop that is to shut down accepts none.
    func submit(_ job: UnownedJob) -> Bool {
        let (accepted, sleeper) = state.withLock { state -> (Bool, WakeUp?) in
            guard state.phase == .open, let wakeUp = state.wakeUp else { return (false, nil) }
            state.jobs.append(job)
            guard state.asleep else { return (true, nil) }
            state.asleep = false
            return (true, wakeUp)
        }
        sleeper?.signal()
        return accepted
    }

    /// Asks the loop to shut down or, if `closing` is false, to read its clock again.
    func wake(closing: Bool) {
        let sleeper = state.withLock { state -> WakeUp? in
            if closing { state.phase = .closing }
            state.asleep = false
            return state.wakeUp
        }
        sleeper?.signal()
    }

    /// Called by the loop before it waits: returns true if there is nothing to do; from then on a submitter wakes the loop.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.asleep = state.work.isEmpty && state.jobs.isEmpty && state.phase == .open
            return state.asleep
        }
    }

    /// Called by the loop: swaps the submitted work for the empty `batch`, whose capacity is reused, and adds the jobs to `jobs`.
    func take(into batch: inout [Work], _ jobs: inout JobQueue) -> Phase {
        state.withLock { state in
            state.asleep = false
            swap(&state.work, &batch)
            if !state.jobs.isEmpty { jobs.append(taking: &state.jobs) }
            return state.phase
        }
    }

    /// Called by the loop at its end: closes unless more has been submitted, and returns whether it did.
    func close() -> Bool {
        let (closed, _) = state.withLock { state -> (Bool, WakeUp?) in
            guard state.work.isEmpty, state.jobs.isEmpty else { return (false, nil) }
            // Returned from the closure, so that the descriptor is closed outside the lock.
            return (true, state.wakeUp.take())
        }
        return closed
    }
}
