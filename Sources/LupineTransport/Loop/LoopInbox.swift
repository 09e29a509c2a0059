// SPDX-License-Identifier: MIT

/// The queue of work that any thread submits to a loop.
///
/// A thread holds the lock to append work or to swap two arrays, never while work runs. A submitter writes to the eventfd only if
/// it finds the loop asleep, so that several submissions cost one wake-up. A closed inbox accepts nothing; all work that it has
/// accepted before has run.
final class LoopInbox: Sendable {
    /// A submitted closure. A struct: Swift would wrap each closure that is stored directly in an array in a second closure.
    struct Work: Sendable {
        let run: @Sendable () -> Void
    }

    /// The phase of the loop, which `drain` returns.
    enum Phase: Sendable {
        case open
        /// A shutdown was requested; work is still accepted.
        case closing
    }

    private struct State {
        var work: [Work] = []
        /// Jobs of Swift tasks.
        var jobs: [UnownedJob] = []
        /// Whether the loop's thread waits, or is about to wait, and a submitter must wake it.
        var isAsleep = false
        var phase = Phase.open
        /// Nil once the inbox is closed.
        var wakeUp: WakeUp?
    }

    private let state: Lock<State>

    init(wakeUp: WakeUp) { state = Lock(State(wakeUp: wakeUp)) }

    /// Adds work and returns whether the inbox has accepted it; otherwise the work will never run. With `fromLoop`, the loop is
    /// not woken: the caller is on the loop, which looks at the inbox before it waits again.
    func submit(_ work: @escaping @Sendable () -> Void, fromLoop: Bool = false) -> Bool {
        // `sleeperWakeUp` is nil if the loop need not be woken. It is signalled outside the lock.
        let (isAccepted, sleeperWakeUp) = state.withLock { state -> (Bool, WakeUp?) in
            guard let wakeUp = state.wakeUp else { return (false, nil) }
            state.work.append(Work(run: work))
            guard state.isAsleep, !fromLoop else { return (true, nil) }
            state.isAsleep = false
            return (true, wakeUp)
        }
        sleeperWakeUp?.signal()
        return isAccepted
    }

    /// Adds work if the loop is awake; returns false otherwise, without adding it. The loop runs the work in its present turn, or
    /// in the next one, which follows at once.
    func submitIfAwake(_ work: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.wakeUp != nil, !state.isAsleep else { return false }
            state.work.append(Work(run: work))
            return true
        }
    }

    /// Adds a job of a Swift task and returns whether the inbox has accepted it. After `wake(closing: true)`, it accepts no job.
    func submit(_ job: UnownedJob) -> Bool {
        // As in the other `submit`, `sleeperWakeUp` is nil if the loop need not be woken.
        let (isAccepted, sleeperWakeUp) = state.withLock { state -> (Bool, WakeUp?) in
            guard state.phase == .open, let wakeUp = state.wakeUp else { return (false, nil) }
            state.jobs.append(job)
            guard state.isAsleep else { return (true, nil) }
            state.isAsleep = false
            return (true, wakeUp)
        }
        sleeperWakeUp?.signal()
        return isAccepted
    }

    /// Wakes the loop. If `closing` is true, the loop then shuts down; otherwise it only reads its clock again.
    func wake(closing: Bool) {
        let wakeUp = state.withLock { state -> WakeUp? in
            if closing { state.phase = .closing }
            state.isAsleep = false
            return state.wakeUp
        }
        wakeUp?.signal()
    }

    /// Called by the loop before it waits. Returns true if the inbox is empty and open; the next submission then wakes the loop.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.isAsleep = state.work.isEmpty && state.jobs.isEmpty && state.phase == .open
            return state.isAsleep
        }
    }

    /// Called by a thread that has borrowed the sleeping loop: wakes the loop if `mustWake` is set or the inbox has work.
    func endBorrowing(mustWake: Bool) {
        let sleeperWakeUp = state.withLock { state -> WakeUp? in
            let hasWork = !state.work.isEmpty || !state.jobs.isEmpty
            guard state.isAsleep, mustWake || hasWork else { return nil }
            state.isAsleep = false
            return state.wakeUp
        }
        sleeperWakeUp?.signal()
    }

    /// Called by the loop: swaps the submitted work for the empty `batch`, whose capacity is reused, and moves the submitted jobs
    /// to the end of `jobs`.
    func drain(into batch: inout [Work], _ jobs: inout JobQueue) -> Phase {
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
