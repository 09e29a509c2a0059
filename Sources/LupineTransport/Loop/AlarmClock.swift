// SPDX-License-Identifier: MIT

/// Runs closures at given times on a loop; any thread may set and cancel alarms.
///
/// Nearly all alarms are time-outs that are cancelled long before they are due, and an alarm that is set later is usually due
/// later. So setting and cancelling an alarm only change a heap under a lock. The loop gets a timer only for an alarm that is due
/// before all others.
///
/// If no loop can be created for lack of descriptors, a thread runs the alarms, and tries every few milliseconds to get a loop.
package final class AlarmClock: Sendable {
    /// The closure of an alarm. A struct, because Swift would wrap a bare closure as a generic value again at each access.
    private struct Alarm: Sendable {
        let run: @Sendable () -> Void
    }

    private struct State {
        var alarms = TimerHeap<Alarm>()
        /// The earliest time for which the loop has a timer.
        var earliestTimer = Instant.distantFuture
        /// The number of timers on the loop. A timer stays until it fires, even if an earlier one has been set since.
        var timerCount = 0
        /// The loop of the timers; nil until `findLoop` has returned one.
        var loop: EventLoop?
        /// Whether a thread runs the alarms, because there is no loop yet.
        var hasThread = false
    }

    private let state = Lock(State())
    private let findLoop: @Sendable () -> EventLoop?

    /// Creates an alarm clock with timers on the loop that `findLoop` returns. `findLoop` is called when the first alarm is set,
    /// and again as long as it returns nil.
    package init(findLoop: @escaping @Sendable () -> EventLoop?) { self.findLoop = findLoop }

    /// The number of alarms that are set.
    package var count: Int { state.withLock { $0.alarms.count } }

    /// The number of timers on the loop. A timer stays when its alarm is cancelled.
    package var timerCount: Int { state.withLock { $0.timerCount } }

    /// Sets an alarm, which runs once. The returned closure cancels the alarm; it has no effect once the alarm has run.
    package func set(at deadline: Instant, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let (token, isEarliest) = state.withLock { state in
            let token = state.alarms.insert(Alarm(run: body), at: deadline)
            let isEarliest = deadline < state.earliestTimer
            if isEarliest { state.earliestTimer = deadline }
            return (token, isEarliest)
        }
        if isEarliest { setTimer(at: deadline) }
        return { [self] in
            // The alarm is returned from the closure, so that its captured values are released outside the lock.
            _ = state.withLock { $0.alarms.remove(token) }
        }
    }

    /// Sets a timer on the loop for `deadline`, the time of the earliest alarm. Starts the thread if there is no loop.
    private func setTimer(at deadline: Instant) {
        guard let loop = loopOfTimers() else { return startThread() }
        state.withLock { $0.timerCount += 1 }
        // The result is ignored: if the loop has ended, nothing can be done, and the alarms do not run.
        _ = loop.executeInline { [self] in
            // The timer is never cancelled, so its token is not needed.
            _ = loop.schedule(at: deadline) { [self] reason in
                if reason == .due { runDue(ofTimerAt: deadline, at: loop.now) }
            }
        }
    }

    /// Returns the loop of the timers; calls `findLoop` if there is none yet.
    private func loopOfTimers() -> EventLoop? {
        if let loop = state.withLock({ $0.loop }) { return loop }
        // Called without the lock, because it may create the loop.
        guard let newLoop = findLoop() else { return nil }
        return state.withLock { state in
            // Another thread may have stored a loop meanwhile.
            if let loop = state.loop { return loop }
            state.loop = newLoop
            return newLoop
        }
    }

    /// Runs the alarms that are due, and sets a timer for the next one. Called on the loop.
    private func runDue(ofTimerAt deadline: Instant, at now: Instant) {
        let (dueAlarms, nextDeadline) = state.withLock { state -> ([Alarm], Instant?) in
            let dueAlarms = Self.popDueAlarms(of: &state, at: now)
            state.timerCount -= 1
            // If a timer for an earlier time has been set meanwhile, that timer sets the next one.
            guard state.earliestTimer == deadline else { return (dueAlarms, nil) }
            state.earliestTimer = state.alarms.next ?? .distantFuture
            return (dueAlarms, state.alarms.next)
        }
        if let nextDeadline { setTimer(at: nextDeadline) }
        Self.run(consume dueAlarms)
    }

    /// Runs alarms in their order. Each is released when it has run, with what it has captured.
    private static func run(_ alarms: consuming [Alarm]) {
        alarms.reverse()
        while let alarm = alarms.popLast() { alarm.run() }
    }

    /// Removes and returns the alarms that are due.
    private static func popDueAlarms(of state: inout State, at now: Instant) -> [Alarm] {
        var dueAlarms: [Alarm] = []
        while let alarm = state.alarms.popDue(at: now) { dueAlarms.append(alarm) }
        return dueAlarms
    }

    // MARK: Without a loop

    /// Starts a thread that runs the alarms. If no thread can be started, the next alarm that is set tries again.
    private func startThread() {
        // The result is computed before the `defer` changes the flag.
        let mustStart = state.withLock { state in
            defer { state.hasThread = true }
            return !state.hasThread
        }
        guard mustStart else { return }
        do {
            try NativeThread.startDetached(name: "lupine-alarms") { self.runWithoutLoop() }
        } catch {
            state.withLock { state in
                state.hasThread = false
                // The next alarm then counts as the earliest, and `set` calls `setTimer` for it, which tries again.
                state.earliestTimer = .distantFuture
            }
        }
    }

    /// The thread's function: runs alarms until there is a loop or no alarm is left.
    private func runWithoutLoop() {
        while true {
            NativeThread.pause(milliseconds: 5)
            let hasLoop = loopOfTimers() != nil
            let now = MonotonicClock().now()
            // Once there is a loop, the thread ends, and the timer that it sets below runs the alarms that are due.
            let (dueAlarms, nextDeadline, mustEnd) = state.withLock { state -> ([Alarm], Instant?, Bool) in
                let dueAlarms = hasLoop ? [] : Self.popDueAlarms(of: &state, at: now)
                let nextDeadline = state.alarms.next
                guard hasLoop || nextDeadline == nil else { return (dueAlarms, nil, false) }
                state.hasThread = false
                state.earliestTimer = nextDeadline ?? .distantFuture
                return (dueAlarms, nextDeadline, true)
            }
            if let nextDeadline { setTimer(at: nextDeadline) }
            Self.run(consume dueAlarms)
            if mustEnd { return }
        }
    }
}
