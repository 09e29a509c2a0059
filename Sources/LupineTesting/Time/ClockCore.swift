// SPDX-License-Identifier: MIT

internal import LupineLoading
internal import LupineTransport

/// The time of a manual clock, what waits for it, and who waits for that. Any thread; alarms go off where the time is moved.
final class ClockCore: Sendable {
    /// Why somebody wants to be told of a moment.
    enum Purpose {
        /// It limits something that is under way.
        case limit
        /// It is all that is waited for.
        case wait
    }

    private struct Alarm {
        let number: Int
        let moment: Instant
        let purpose: Purpose
        let ring: SessionClock.Ring
    }

    /// The loops of a session, which end with it.
    private struct Group {
        weak var loops: EventLoopGroup?
    }

    private struct State {
        var now = Instant.zero
        /// Where the moves lead that have begun.
        var goal = Instant.zero
        /// By their moments, and in the order in which they were set.
        var alarms: [Alarm] = []
        var number = 0
        /// Who waits until so many wait.
        var watchers: [(count: Int, waiter: Waiter<Void>)] = []
        var groups: [Group] = []

        var waits: Int { alarms.count { $0.purpose == .wait } }

        mutating func add(_ purpose: Purpose, at moment: Instant, _ ring: @escaping SessionClock.Ring) {
            number += 1
            let alarm = Alarm(number: number, moment: moment, purpose: purpose, ring: ring)
            let place = alarms.firstIndex { $0.moment > moment } ?? alarms.endIndex
            alarms.insert(alarm, at: place)
        }

        /// Takes those who have waited long enough.
        mutating func takeWatchers() -> [Waiter<Void>] {
            let count = waits
            defer { watchers.removeAll { $0.count <= count } }
            return watchers.filter { $0.count <= count }.map(\.waiter)
        }

        /// Goes on to the next alarm up to a moment, and takes it; to the moment when there is none.
        mutating func step(to goal: Instant) -> Alarm? {
            guard let first = alarms.first, first.moment <= goal else {
                now = max(now, goal)
                return nil
            }
            now = max(now, first.moment)
            return alarms.removeFirst()
        }
    }

    private let state = Lock(State())

    /// The present moment; the first one is `zero`.
    var now: Instant { state.withLock { $0.now } }

    /// How many wait, and for nothing else.
    var waits: Int { state.withLock { $0.waits } }

    // MARK: alarms

    /// Sets an alarm for a moment that is made of the present one; one that is due goes off soon, in no stack of the caller's.
    func set(
        _ purpose: Purpose, at moment: (_ now: Instant) -> Instant, _ ring: @escaping SessionClock.Ring
    ) -> SessionClock.Cancel {
        let (number, watchers) = state.withLock { state -> (Int?, [Waiter<Void>]) in
            let moment = moment(state.now)
            guard moment > state.now else { return (nil, []) }
            state.add(purpose, at: moment, ring)
            return (state.number, state.takeWatchers())
        }
        for watcher in watchers { watcher.resume(.success(())) }
        guard let number else {
            Task.detached { ring() }
            return {}
        }
        return { [self] in
            // What it carries goes away outside of the lock.
            _ = state.withLock { state -> Alarm? in
                state.alarms.firstIndex { $0.number == number }.map { state.alarms.remove(at: $0) }
            }
        }
    }

    /// Returns once so many wait.
    func whenWaiting(_ count: Int) async throws {
        let waiter = Waiter<Void>()
        let isOver = state.withLock { state in
            if state.waits < count { state.watchers.append((count, waiter)) }
            return state.waits >= count
        }
        if isOver { return try Task.checkCancellation() }
        try await waiter.value()
    }

    // MARK: moves

    func advance(by interval: Interval) {
        let goal = state.withLock { state in
            state.goal = state.goal + max(interval, .zero)
            return state.goal
        }
        move(to: goal)
    }

    /// Moves to the first moment for which somebody waits and returns how far that was; nil when nobody does.
    func advanceToNextWait() -> Duration? {
        let move = state.withLock { state -> (from: Instant, to: Instant)? in
            guard let next = state.alarms.first(where: { $0.purpose == .wait }) else { return nil }
            state.goal = max(state.goal, next.moment)
            return (state.now, next.moment)
        }
        guard let move else { return nil }
        self.move(to: move.to)
        return move.from.duration(to: move.to)
    }

    /// The alarms on the way go off one after the other, each at its moment.
    private func move(to goal: Instant) {
        while let alarm = state.withLock({ $0.step(to: goal) }) { alarm.ring() }
        let groups = state.withLock { state in
            state.groups.removeAll { $0.loops == nil }
            return state.groups.compactMap(\.loops)
        }
        for loop in groups.flatMap(\.loops) { loop.wake() }
    }

    // MARK: loops

    /// Loops of a session that go by this clock.
    func loops(_ count: Int?) throws(Errno) -> SessionClock.Loops {
        let group = try EventLoopGroup(
            count: max(1, count ?? 1), name: SessionClock.loopName, clock: LoopTime(core: self))
        state.withLock { $0.groups.append(Group(loops: group)) }
        return (group, true)
    }

    /// What loops go by: the machine's time, and that by which the clock was moved. What the kernel does takes the time it takes.
    struct LoopTime: TransportClock {
        let core: ClockCore

        func now() -> Instant { MonotonicClock().now() + (core.now - .zero) }
    }
}
