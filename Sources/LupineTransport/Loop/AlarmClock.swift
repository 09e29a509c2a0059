// SPDX-License-Identifier: MIT

/// Alarms for any thread, in any number, behind one timer of a loop's.
///
/// Nearly all of them are taken back long before they are due, and later ones are due later. So setting and taking back
/// is a matter of this heap alone, and the loop hears of an alarm only when it is due before all that it knows of. Any
/// thread may call; alarms go off on the loop.
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
    }

    private let state = Lock(State())
    /// Where the timers are.
    private let loop: EventLoop

    /// Alarms whose timers are on `loop`.
    package init(loop: EventLoop) { self.loop = loop }

    /// How many alarms are set.
    package var count: Int { state.withLock { $0.alarms.count } }

    /// How many timers the loop has for them. One stays to its moment when its alarm is taken back.
    package var looks: Int { state.withLock { $0.looks } }

    /// Sets an alarm, which goes off once; what it gives back takes it back, and is harmless afterwards.
    package func set(at moment: Instant, _ ring: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let (token, isNext) = state.withLock { state in
            let token = state.alarms.insert(Ring(run: ring), at: moment)
            let isNext = moment < state.look
            if isNext {
                state.look = moment
                state.looks += 1
            }
            return (token, isNext)
        }
        if isNext { look(at: moment) }
        return { [self] in
            // What it carries goes away outside of the lock.
            _ = state.withLock { $0.alarms.remove(token) }
        }
    }

    private func look(at moment: Instant) {
        _ = loop.executeInline { [self] in
            _ = loop.schedule(at: moment) { [self] reason in
                if reason == .due { ringAll(lookedAt: moment) }
            }
        }
    }

    /// On the loop.
    private func ringAll(lookedAt moment: Instant) {
        let now = loop.now
        let (due, next) = state.withLock { state -> ([Ring], Instant?) in
            var due: [Ring] = []
            while let ring = state.alarms.popDue(at: now) { due.append(ring) }
            state.looks -= 1
            // An earlier look may have been asked for meanwhile; it sees to the next one.
            guard state.look == moment else { return (due, nil) }
            guard let next = state.alarms.next else {
                state.look = .distantFuture
                return (due, nil)
            }
            state.look = next
            state.looks += 1
            return (due, next)
        }
        if let next { look(at: next) }
        for ring in due { ring.run() }
    }
}
