// SPDX-License-Identifier: MIT

/// Work on its way to a loop, from any thread.
///
/// The lock is held for an append or a swap of two arrays, never while work runs. The bell is rung only by
/// whoever finds the loop asleep, and once: a burst of work costs one wake-up. Once closed it refuses, and
/// what it accepted before has run.
final class LoopInbox: Sendable {
    /// Something to be run. A struct: a bare closure in an array is wrapped once more.
    struct Work: Sendable {
        let run: @Sendable () -> Void
    }

    /// What the loop is to do after taking its work.
    enum Phase: Sendable {
        case open
        /// A shutdown was asked for; work is still accepted.
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

    /// Adds work and says whether it was accepted: then it will run, otherwise never. The loop itself needs no bell: it
    /// looks here before it falls asleep again.
    func submit(_ work: @escaping @Sendable () -> Void, fromLoop: Bool = false) -> Bool {
        let (accepted, bell) = state.withLock { state -> (Bool, WakeUp?) in
            guard let wakeUp = state.wakeUp else { return (false, nil) }
            state.work.append(Work(run: work))
            guard state.asleep, !fromLoop else { return (true, nil) }
            state.asleep = false
            return (true, wakeUp)
        }
        bell?.ring()
        return accepted
    }

    /// Adds a job of a Swift task and says whether it was accepted: not by a loop that is to shut down.
    func submit(_ job: UnownedJob) -> Bool {
        let (accepted, bell) = state.withLock { state -> (Bool, WakeUp?) in
            guard state.phase == .open, let wakeUp = state.wakeUp else { return (false, nil) }
            state.jobs.append(job)
            guard state.asleep else { return (true, nil) }
            state.asleep = false
            return (true, wakeUp)
        }
        bell?.ring()
        return accepted
    }

    /// Asks the loop to shut down, or, with `closing` false, only to look at its clock again.
    func wake(closing: Bool) {
        let bell = state.withLock { state -> WakeUp? in
            if closing { state.phase = .closing }
            state.asleep = false
            return state.wakeUp
        }
        bell?.ring()
    }

    /// By the loop before it waits: true when there is nothing to do, and from then on a submitter rings.
    func fallAsleep() -> Bool {
        state.withLock { state in
            state.asleep = state.work.isEmpty && state.jobs.isEmpty && state.phase == .open
            return state.asleep
        }
    }

    /// By the loop: swaps the work that has come for the empty `batch`, whose room is used again, and adds the jobs to `jobs`.
    func take(into batch: inout [Work], _ jobs: inout JobQueue) -> Phase {
        state.withLock { state in
            state.asleep = false
            swap(&state.work, &batch)
            if !state.jobs.isEmpty { jobs.append(taking: &state.jobs) }
            return state.phase
        }
    }

    /// By the loop at its end: closes if nothing has come meanwhile.
    func close() -> Bool {
        let (closed, _) = state.withLock { state -> (Bool, WakeUp?) in
            guard state.work.isEmpty, state.jobs.isEmpty else { return (false, nil) }
            // Handed out, so that the descriptor is closed outside the lock.
            return (true, state.wakeUp.take())
        }
        return closed
    }
}
