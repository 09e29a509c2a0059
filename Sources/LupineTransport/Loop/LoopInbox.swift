// SPDX-License-Identifier: MIT

/// The queue of work that any thread submits to a loop.
///
/// The lock is held to append work or to swap two arrays, never while work runs. The eventfd is written only by a submitter that
/// finds the loop asleep, and once: several submissions cost one wake-up. Once closed, the inbox accepts nothing; all work
/// that it accepted before has run.
final class LoopInbox: Sendable {
    /// A piece of work. A struct, because Swift wraps a bare closure in an array once more.
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
        var isAsleep = false
        var phase = Phase.open
        /// Nil once the inbox is closed.
        var wakeUp: WakeUp?
    }

    private let state: Lock<State>

    init(wakeUp: WakeUp) { state = Lock(State(wakeUp: wakeUp)) }

    /// Adds work and returns whether it was accepted; if not, it will never run. With `fromLoop`, the loop is not woken: it
    /// looks at the inbox before it waits again.
    func submit(_ work: @escaping @Sendable () -> Void, fromLoop: Bool = false) -> Bool {
        let (accepted, sleeper) = state.withLock { state -> (Bool, WakeUp?) in
            guard let wakeUp = state.wakeUp else { return (false, nil) }
            state.work.append(Work(run: work))
            guard state.isAsleep, !fromLoop else { return (true, nil) }
            state.isAsleep = false
            return (true, wakeUp)
        }
        sleeper?.signal()
        return accepted
    }

    /// Adds a job of a Swift task and returns whether it was accepted. After `wake(closing: true)`, no job is accepted.
    func submit(_ job: UnownedJob) -> Bool {
        let (accepted, sleeper) = state.withLock { state -> (Bool, WakeUp?) in
            guard state.phase == .open, let wakeUp = state.wakeUp else { return (false, nil) }
            state.jobs.append(job)
            guard state.isAsleep else { return (true, nil) }
            state.isAsleep = false
            return (true, wakeUp)
        }
        sleeper?.signal()
        return accepted
    }

    /// Asks the loop to shut down or, if `closing` is false, to read its clock again.
    func wake(closing: Bool) {
        let sleeper = state.withLock { state -> WakeUp? in
            if closing { state.phase = .closing }
            state.isAsleep = false
            return state.wakeUp
        }
        sleeper?.signal()
    }

    /// Called by the loop before it waits. Returns whether there is nothing to do; if so, the next submission wakes the loop.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.isAsleep = state.work.isEmpty && state.jobs.isEmpty && state.phase == .open
            return state.isAsleep
        }
    }

    /// Called by a thread that had borrowed the sleeping loop: wakes the loop if there is work for it, or if `mustWake` is set.
    func endBorrowing(mustWake: Bool) {
        let sleeper = state.withLock { state -> WakeUp? in
            guard state.isAsleep, mustWake || !state.work.isEmpty || !state.jobs.isEmpty else { return nil }
            state.isAsleep = false
            return state.wakeUp
        }
        sleeper?.signal()
    }

    /// Called by the loop: swaps the submitted work for the empty `batch`, whose capacity is reused, and adds the jobs to `jobs`.
    func take(into batch: inout [Work], _ jobs: inout JobQueue) -> Phase {
        state.withLock { state in
            state.isAsleep = false
            swap(&state.work, &batch)
            if !state.jobs.isEmpty { jobs.append(movingFrom: &state.jobs) }
            return state.phase
        }
    }

    /// Called by the loop at its end: closes the inbox if it is empty, and returns whether it did.
    func close() -> Bool {
        let (isClosed, _) = state.withLock { state -> (Bool, WakeUp?) in
            guard state.work.isEmpty, state.jobs.isEmpty else { return (false, nil) }
            // Returned from the closure, so that the descriptor is closed outside the lock.
            return (true, state.wakeUp.take())
        }
        return isClosed
    }
}
