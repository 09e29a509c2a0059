// SPDX-License-Identifier: MIT

/// Alarms for any thread, in any number, behind one timer of a loop's.
///
/// Nearly all of them are taken back long before they are due, and later ones are due later. So setting and taking back
/// is a matter of this heap alone, and the loop hears of an alarm only when it is due before all that it knows of. Any
/// thread may call; alarms go off on the loop.
///
/// As long as there is no loop, for want of descriptors, a thread sees to the alarms, and looks for a loop now and then.
package final class AlarmClock: Sendable {
    /// What is done when an alarm goes off. A struct: a bare closure in a generic lock is wrapped anew at each look.
    private struct Ring: Sendable {
        let run: @Sendable () -> Void
    }

    private struct State {
        var alarms = TimerHeap<Ring>()
        /// The earliest moment for which the loop has a timer.
        var look = Instant.distantFuture
        /// Timers on the loop: one for each moment that was the earliest, until that has come.
        var looks = 0
        /// Where the timers are, once there is one.
        var loop: EventLoop?
        /// Whether a thread sees to the alarms until there is a loop.
        var isWithoutLoop = false
    }

    private let state = Lock(State())
    private let findLoop: @Sendable () -> EventLoop?

    /// Alarms whose timers are on the loop that `findLoop` gives. It is asked when the first alarm is set, and again while it
    /// has none.
    package init(findLoop: @escaping @Sendable () -> EventLoop?) { self.findLoop = findLoop }

    /// How many alarms are set.
    package var count: Int { state.withLock { $0.alarms.count } }

    /// How many timers the loop has for them. One stays to its moment when its alarm is taken back.
    package var looks: Int { state.withLock { $0.looks } }

    /// Sets an alarm, which goes off once; what it gives back takes it back, and is harmless afterwards.
    package func set(at moment: Instant, _ ring: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let (token, isNext) = state.withLock { state in
            let token = state.alarms.insert(Ring(run: ring), at: moment)
            let isNext = moment < state.look
            if isNext { state.look = moment }
            return (token, isNext)
        }
        if isNext { look(at: moment) }
        return { [self] in
            // What it carries goes away outside of the lock.
            _ = state.withLock { $0.alarms.remove(token) }
        }
    }

    /// Has the alarms looked at when the earliest of them is due.
    private func look(at moment: Instant) {
        guard let loop = loop() else { return goWithoutLoop() }
        state.withLock { $0.looks += 1 }
        _ = loop.executeInline { [self] in
            _ = loop.schedule(at: moment) { [self] reason in
                if reason == .due { ringAll(lookedAt: moment, at: loop.now) }
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

    /// On the loop.
    private func ringAll(lookedAt moment: Instant, at now: Instant) {
        let (due, next) = state.withLock { state -> ([Ring], Instant?) in
            let due = Self.takeDue(of: &state, at: now)
            state.looks -= 1
            // An earlier look may have been asked for meanwhile; it sees to the next one.
            guard state.look == moment else { return (due, nil) }
            state.look = state.alarms.next ?? .distantFuture
            return (due, state.alarms.next)
        }
        if let next { look(at: next) }
        for ring in due { ring.run() }
    }

    private static func takeDue(of state: inout State, at now: Instant) -> [Ring] {
        var due: [Ring] = []
        while let ring = state.alarms.popDue(at: now) { due.append(ring) }
        return due
    }

    // MARK: Without a loop

    /// Has a thread see to the alarms. Where there is not even one, the next alarm that is set tries again.
    private func goWithoutLoop() {
        let isFirst = state.withLock { state in
            defer { state.isWithoutLoop = true }
            return !state.isWithoutLoop
        }
        guard isFirst else { return }
        do {
            try NativeThread.startDetached(name: "lupine-alarms") { self.ringWithoutLoop() }
        } catch {
            state.withLock { state in
                state.isWithoutLoop = false
                state.look = .distantFuture
            }
        }
    }

    /// On the thread: until there is a loop, or no alarm.
    private func ringWithoutLoop() {
        while true {
            NativeThread.pause(milliseconds: 5)
            let hasLoop = loop() != nil
            let now = MonotonicClock().now()
            let (due, next, isOver) = state.withLock { state -> ([Ring], Instant?, Bool) in
                let due = hasLoop ? [] : Self.takeDue(of: &state, at: now)
                let next = state.alarms.next
                guard hasLoop || next == nil else { return (due, nil, false) }
                state.isWithoutLoop = false
                state.look = next ?? .distantFuture
                return (due, next, true)
            }
            if let next { look(at: next) }
            for ring in due { ring.run() }
            if isOver { return }
        }
    }
}
