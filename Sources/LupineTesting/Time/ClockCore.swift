// SPDX-License-Identifier: MIT

internal import LupineLoading
internal import LupineTransport

/// The state of a manual clock: its time, its alarms, and the tasks that wait until a number of delays are pending. Can be used
/// on any thread.
///
/// An alarm calls a closure when the clock reaches a time, on the thread that moves the clock.
final class ClockCore: Sendable {
    /// The purpose of an alarm.
    enum Purpose {
        /// The time-out of an operation that waits for something else.
        case timeout
        /// A delay, which waits for the time only.
        case delay
    }

    private struct Alarm {
        /// Identifies the alarm, so that it can be cancelled.
        let number: Int
        /// The time at which the alarm fires.
        let moment: Instant
        let purpose: Purpose
        /// The closure that the alarm calls.
        let ring: SessionClock.AlarmAction
    }

    /// The event loops of a session, which are deallocated with it.
    private struct Group {
        weak var loops: EventLoopGroup?
    }

    private struct State {
        var now = Instant.zero
        /// The latest time to which a caller has asked to move the clock. While alarms fire, `now` may be earlier.
        var target = Instant.zero
        /// The pending alarms, sorted by time; alarms of the same time in the order in which they were set.
        var alarms: [Alarm] = []
        /// The number of the latest alarm.
        var lastNumber = 0
        /// The tasks that wait until `count` delays are pending.
        var watchers: [(count: Int, waiter: Waiter<Void>)] = []
        /// The event loops of all sessions with this clock.
        var groups: [Group] = []

        /// The number of pending delays.
        var pendingDelays: Int { alarms.count { $0.purpose == .delay } }

        /// Adds an alarm after all alarms of the same or an earlier time.
        mutating func add(_ purpose: Purpose, at moment: Instant, _ ring: @escaping SessionClock.AlarmAction)
        {
            lastNumber += 1
            let alarm = Alarm(number: lastNumber, moment: moment, purpose: purpose, ring: ring)
            let index = alarms.firstIndex { $0.moment > moment } ?? alarms.endIndex
            alarms.insert(alarm, at: index)
        }

        /// Removes and returns the watchers whose count is reached.
        mutating func removeReadyWatchers() -> [Waiter<Void>] {
            let count = pendingDelays
            defer { watchers.removeAll { $0.count <= count } }
            return watchers.filter { $0.count <= count }.map(\.waiter)
        }

        /// Moves the time to the next alarm up to `target`, and removes and returns that alarm. If there is none, moves the time
        /// to `target` and returns nil.
        mutating func removeNextAlarm(upTo target: Instant) -> Alarm? {
            guard let first = alarms.first, first.moment <= target else {
                now = max(now, target)
                return nil
            }
            now = max(now, first.moment)
            return alarms.removeFirst()
        }
    }

    private let state = Lock(State())

    /// The current time; initially `zero`.
    var now: Instant { state.withLock { $0.now } }

    /// The number of pending delays.
    var pendingDelays: Int { state.withLock { $0.pendingDelays } }

    // MARK: alarms

    /// Sets an alarm. If its time is not later than the current one, it fires soon, in a new task and not on the caller's stack.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the alarm.
    ///   - moment: Returns the time of the alarm. It is called once, under the lock.
    ///   - ring: The closure that the alarm calls.
    /// - Returns: A closure that cancels the alarm.
    func setAlarm(
        _ purpose: Purpose, at moment: (_ now: Instant) -> Instant, _ ring: @escaping SessionClock.AlarmAction
    ) -> SessionClock.Cancel {
        let (number, watchers) = state.withLock { state -> (number: Int?, watchers: [Waiter<Void>]) in
            let time = moment(state.now)
            // No number: the time has come already, and the alarm fires below.
            guard time > state.now else { return (nil, []) }
            state.add(purpose, at: time, ring)
            return (state.lastNumber, state.removeReadyWatchers())
        }
        for watcher in watchers { watcher.resume(.success(())) }
        guard let number else {
            Task.detached { ring() }
            return {}
        }
        return { [self] in
            // The alarm is returned, so that its closure is released after the lock: that may run the program's code.
            _ = state.withLock { state -> Alarm? in
                state.alarms.firstIndex { $0.number == number }.map { state.alarms.remove(at: $0) }
            }
        }
    }

    /// Returns once that number of delays are pending.
    func waitForDelays(_ count: Int) async throws {
        let waiter = Waiter<Void>()
        let isReached = state.withLock { state in
            if state.pendingDelays < count { state.watchers.append((count, waiter)) }
            return state.pendingDelays >= count
        }
        if isReached { return try Task.checkCancellation() }
        try await waiter.value()
    }

    // MARK: moves

    /// Moves the clock forward by an interval; a negative one has no effect.
    func advance(by interval: Interval) {
        let target = state.withLock { state in
            // Adds to `target`, not to `now`: another call may still be firing the alarms up to its own target.
            state.target = state.target + max(interval, .zero)
            return state.target
        }
        move(to: target)
    }

    /// Moves the clock to the end of the first delay. Returns the time by which the clock was moved; nil when no delay is
    /// pending.
    func advanceToNextDelay() -> Duration? {
        let interval = state.withLock { state -> (from: Instant, to: Instant)? in
            guard let next = state.alarms.first(where: { $0.purpose == .delay }) else { return nil }
            state.target = max(state.target, next.moment)
            return (state.now, next.moment)
        }
        guard let interval else { return nil }
        move(to: interval.to)
        return interval.from.duration(to: interval.to)
    }

    /// Fires the alarms up to `target` in order, each at its own time. Then wakes the event loops, whose timers depend on the
    /// clock.
    private func move(to target: Instant) {
        // Each alarm fires without the lock, because its closure may set and cancel alarms.
        while let alarm = state.withLock({ $0.removeNextAlarm(upTo: target) }) { alarm.ring() }
        let groups = state.withLock { state in
            state.groups.removeAll { $0.loops == nil }
            return state.groups.compactMap(\.loops)
        }
        for loop in groups.flatMap(\.loops) { loop.wake() }
    }

    // MARK: loops

    /// Creates the event loops of a session that uses this clock.
    func loops(_ count: Int?) throws(Errno) -> SessionClock.Loops {
        let group = try EventLoopGroup(
            count: max(1, count ?? 1), name: SessionClock.loopName, clock: LoopTime(core: self))
        state.withLock { $0.groups.append(Group(loops: group)) }
        // `isOwn`: no other session uses the loops, and they end with the session.
        return (group: group, isOwn: true)
    }

    /// The clock of the event loops: the system's monotonic time plus the time by which the manual clock was moved. It does not
    /// stand still, since the kernel's work takes real time.
    struct LoopTime: TransportClock {
        let core: ClockCore

        func now() -> Instant { MonotonicClock().now() + (core.now - .zero) }
    }
}
