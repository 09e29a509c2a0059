// SPDX-License-Identifier: MIT

internal import LupineLoading
internal import LupineTransport

/// The state of a manual clock: its time, its alarms, and the tasks that wait for alarms to be set. Can be used on any
/// thread; alarms fire on the thread that moves the clock.
final class ClockCore: Sendable {
    /// The purpose of an alarm.
    enum Purpose {
        /// The time-out of an operation that waits for something else.
        case timeout
        /// A delay, which waits for the time only.
        case delay
    }

    private struct Alarm {
        let number: Int
        let moment: Instant
        let purpose: Purpose
        let ring: SessionClock.AlarmAction
    }

    /// The event loops of a session, which are deallocated with it.
    private struct Group {
        weak var loops: EventLoopGroup?
    }

    private struct State {
        var now = Instant.zero
        /// The latest time to which a caller moves the clock.
        var target = Instant.zero
        /// Sorted by time; alarms of the same time in the order in which they were set.
        var alarms: [Alarm] = []
        /// The number of the latest alarm.
        var number = 0
        /// The tasks that wait until `count` delays are pending.
        var watchers: [(count: Int, waiter: Waiter<Void>)] = []
        var groups: [Group] = []

        var pendingDelays: Int { alarms.count { $0.purpose == .delay } }

        mutating func add(_ purpose: Purpose, at moment: Instant, _ ring: @escaping SessionClock.AlarmAction)
        {
            number += 1
            let alarm = Alarm(number: number, moment: moment, purpose: purpose, ring: ring)
            let index = alarms.firstIndex { $0.moment > moment } ?? alarms.endIndex
            alarms.insert(alarm, at: index)
        }

        /// Removes and returns the watchers whose count is reached.
        mutating func removeReadyWatchers() -> [Waiter<Void>] {
            let count = pendingDelays
            defer { watchers.removeAll { $0.count <= count } }
            return watchers.filter { $0.count <= count }.map(\.waiter)
        }

        /// Moves to the next alarm up to `target`, removes and returns it. Moves to `target` and returns nil if there is none.
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

    /// Sets an alarm for a time computed from the current one. An alarm that is already due fires soon, in a new task and
    /// not on the caller's stack.
    func set(
        _ purpose: Purpose, at moment: (_ now: Instant) -> Instant, _ ring: @escaping SessionClock.AlarmAction
    ) -> SessionClock.Cancel {
        let (number, watchers) = state.withLock { state -> (Int?, [Waiter<Void>]) in
            let moment = moment(state.now)
            guard moment > state.now else { return (nil, []) }
            state.add(purpose, at: moment, ring)
            return (state.number, state.removeReadyWatchers())
        }
        for watcher in watchers { watcher.resume(.success(())) }
        guard let number else {
            Task.detached { ring() }
            return {}
        }
        return { [self] in
            // The alarm's closure is released outside the lock.
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

    func advance(by interval: Interval) {
        let target = state.withLock { state in
            state.target = state.target + max(interval, .zero)
            return state.target
        }
        move(to: target)
    }

    /// Moves the clock to the end of the first delay, and returns the distance; nil when no delay is pending.
    func advanceToNextDelay() -> Duration? {
        let move = state.withLock { state -> (from: Instant, to: Instant)? in
            guard let next = state.alarms.first(where: { $0.purpose == .delay }) else { return nil }
            state.target = max(state.target, next.moment)
            return (state.now, next.moment)
        }
        guard let move else { return nil }
        self.move(to: move.to)
        return move.from.duration(to: move.to)
    }

    /// Fires the alarms up to `target` in order, each at its own time.
    private func move(to target: Instant) {
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
        return (group, true)
    }

    /// The clock of the event loops: the system's monotonic time plus the time by which the manual clock was moved. Work of
    /// the kernel takes real time.
    struct LoopTime: TransportClock {
        let core: ClockCore

        func now() -> Instant { MonotonicClock().now() + (core.now - .zero) }
    }
}
