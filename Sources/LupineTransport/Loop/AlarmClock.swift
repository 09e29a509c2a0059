// SPDX-License-Identifier: MIT

/// Any number of alarms for any thread, driven by one timer of a loop.
///
/// Nearly all alarms are cancelled long before they are due, and later ones are due later. So setting and cancelling only change
/// this heap, and the loop gets a timer only for an alarm that is due before all others. Any thread may call; alarms run on the
/// loop.
///
/// If no loop can be created for lack of descriptors, a thread runs the alarms, and looks for a loop from time to time.
package final class AlarmClock: Sendable {
    /// The closure of an alarm. A struct: a bare closure in a generic lock is wrapped anew at each access.
    private struct Alarm: Sendable {
        let run: @Sendable () -> Void
    }

    private struct State {
        var alarms = TimerHeap<Alarm>()
        /// The earliest time for which the loop has a timer.
        var earliestTimer = Instant.distantFuture
        /// The number of timers on the loop. Each stays until it fires, even when an earlier one has been set since.
        var timerCount = 0
        /// The loop of the timers, once there is one.
        var loop: EventLoop?
        /// Whether a thread runs the alarms until there is a loop.
        var isWithoutLoop = false
    }

    private let state = Lock(State())
    private let findLoop: @Sendable () -> EventLoop?

    /// An alarm clock with timers on the loop that `findLoop` returns. `findLoop` is called when the first alarm is set, and
    /// again as long as it returns nil.
    package init(findLoop: @escaping @Sendable () -> EventLoop?) { self.findLoop = findLoop }

    /// The number of alarms that are set.
    package var count: Int { state.withLock { $0.alarms.count } }

    /// The number of timers on the loop. A timer stays when its alarm is cancelled.
    package var timerCount: Int { state.withLock { $0.timerCount } }

    /// Sets an alarm, which runs once. The returned closure cancels it, and has no effect afterwards.
    package func set(at moment: Instant, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let (token, isNext) = state.withLock { state in
            let token = state.alarms.insert(Alarm(run: body), at: moment)
            let isNext = moment < state.earliestTimer
            if isNext { state.earliestTimer = moment }
            return (token, isNext)
        }
        if isNext { setTimer(at: moment) }
        return { [self] in
            // The captured values are released outside of the lock.
            _ = state.withLock { $0.alarms.remove(token) }
        }
    }

    /// Sets a timer for the earliest alarm.
    private func setTimer(at moment: Instant) {
        guard let loop = loop() else { return startThread() }
        state.withLock { $0.timerCount += 1 }
        _ = loop.executeInline { [self] in
            _ = loop.schedule(at: moment) { [self] reason in
                if reason == .due { runDue(ofTimerAt: moment, at: loop.now) }
            }
        }
    }

    private func loop() -> EventLoop? {
        if let known = state.withLock({ $0.loop }) { return known }
        guard let found = findLoop() else { return nil }
        return state.withLock { state in
            if let known = state.loop { return known }
            state.loop = found
            return found
        }
    }

    /// Called on the loop.
    private func runDue(ofTimerAt moment: Instant, at now: Instant) {
        let (due, next) = state.withLock { state -> ([Alarm], Instant?) in
            let due = Self.takeDue(of: &state, at: now)
            state.timerCount -= 1
            // If a timer for an earlier time has been set meanwhile, it sets the next one.
            guard state.earliestTimer == moment else { return (due, nil) }
            state.earliestTimer = state.alarms.next ?? .distantFuture
            return (due, state.alarms.next)
        }
        if let next { setTimer(at: next) }
        for alarm in due { alarm.run() }
    }

    private static func takeDue(of state: inout State, at now: Instant) -> [Alarm] {
        var due: [Alarm] = []
        while let alarm = state.alarms.popDue(at: now) { due.append(alarm) }
        return due
    }

    // MARK: Without a loop

    /// Starts a thread that runs the alarms. If no thread can be started, the next alarm that is set tries again.
    private func startThread() {
        let isFirst = state.withLock { state in
            defer { state.isWithoutLoop = true }
            return !state.isWithoutLoop
        }
        guard isFirst else { return }
        do {
            try NativeThread.startDetached(name: "lupine-alarms") { self.runWithoutLoop() }
        } catch {
            state.withLock { state in
                state.isWithoutLoop = false
                state.earliestTimer = .distantFuture
            }
        }
    }

    /// The thread's function: runs alarms until there is a loop or no alarm is left.
    private func runWithoutLoop() {
        while true {
            NativeThread.pause(milliseconds: 5)
            let hasLoop = loop() != nil
            let now = MonotonicClock().now()
            let (due, next, isOver) = state.withLock { state -> ([Alarm], Instant?, Bool) in
                let due = hasLoop ? [] : Self.takeDue(of: &state, at: now)
                let next = state.alarms.next
                guard hasLoop || next == nil else { return (due, nil, false) }
                state.isWithoutLoop = false
                state.earliestTimer = next ?? .distantFuture
                return (due, next, true)
            }
            if let next { setTimer(at: next) }
            for alarm in due { alarm.run() }
            if isOver { return }
        }
    }
}
