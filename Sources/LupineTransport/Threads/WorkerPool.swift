// SPDX-License-Identifier: MIT

/// The threads for blocking work of the library, such as name look-ups. They start when they are needed, and end when they are
/// idle.
///
/// `getaddrinfo` cannot be interrupted: a look-up for which nobody waits occupies its thread until the call returns. Neither a
/// shutdown nor the exit of the process waits for that call. There are at most `limit` threads, so that hanging look-ups do not
/// start more and more of them. When all threads hang, the pool refuses new work instead of queueing it.
///
/// The process has one pool for look-ups and one for verifying certificates. The program's code runs on `CalloutThreads` instead.
/// Any thread may call.
package final class WorkerPool: Sendable {
    typealias Ticket = WorkQueue.Ticket

    /// The state of submitted work.
    enum Placement: Hashable, Sendable {
        /// The work runs.
        case running
        /// The work waits, because all threads are busy. If none becomes free before `hungAt`, all count as hung from then on.
        case queued(hungAt: Instant)
        /// All threads hang. If `submit` returns this, the pool has not accepted the work; otherwise the work is still queued.
        case allHung
        /// No thread could be started: the pool has not accepted the work.
        case noThread(Errno)
    }

    private struct State {
        var nextTicket: Ticket = 0
        /// The work that runs, and the time at which it began.
        var running: [Ticket: Instant] = [:]
        var queue = WorkQueue()
    }

    /// The maximum number of threads.
    package let limit: Int
    /// The running time after which work counts as hung.
    private let hungAfter: Duration
    private let name: String
    private let clock: any TransportClock
    private let state = Lock(State())

    /// The process's pool for look-ups.
    package static let shared = WorkerPool(limit: 16, hungAfter: .seconds(5))
    /// The process's pool for verifying certificates, if that needs files or the network. It is separate, because fetching a
    /// revocation status needs a name look-up, which could not run while such fetches occupied all threads.
    package static let trust = WorkerPool(limit: 32, hungAfter: .seconds(60), name: "lupine-trust")

    /// Creates a pool of at most `limit` threads called `name`; work that has run for `hungAfter` counts as hung.
    package init(
        limit: Int, hungAfter: Duration, clock: any TransportClock = MonotonicClock(),
        name: String = "lupine-lookup"
    ) {
        precondition(limit > 0, "a pool has at least one thread")
        self.limit = limit
        self.name = name
        self.hungAfter = hungAfter
        self.clock = clock
    }

    /// The number of threads that run work, including hung ones.
    package var busyThreadCount: Int { state.withLock { $0.running.count } }

    /// Returns a ticket for `submit`.
    func newTicket() -> Ticket {
        state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
    }

    /// Runs `work` on a thread of the pool, or queues it.
    func submit(_ ticket: Ticket, _ work: @escaping @Sendable () -> Void) -> Placement {
        let now = clock.now()
        let placement = state.withLock { [limit, hungAfter] state -> Placement in
            guard state.running.count >= limit else {
                state.running[ticket] = now
                return .running
            }
            let hungAt = Self.hungAt(state, hungAfter)
            if hungAt <= now { return .allHung }
            state.queue.append(ticket, work)
            return .queued(hungAt: hungAt)
        }
        guard placement == .running else { return placement }
        // The work counts as running, but has no thread yet.
        do {
            try NativeThread.startDetached(name: name) { self.run(ticket, work) }
            return .running
        } catch {
            state.withLock { _ = $0.running.removeValue(forKey: ticket) }
            return .noThread(error)
        }
    }

    /// Runs `work` on a thread of the pool, or queues it. Returns false if all threads hang or none can be started; `work` then
    /// never runs.
    package func run(_ work: @escaping @Sendable () -> Void) -> Bool {
        switch submit(newTicket(), work) {
        case .running, .queued: true
        case .allHung, .noThread: false
        }
    }

    /// Returns the state of work that `submit` has accepted. `running` means only that the work is not in the queue: it may also
    /// have finished, or have been withdrawn.
    func placement(of ticket: Ticket) -> Placement {
        let now = clock.now()
        return state.withLock { [hungAfter] state in
            guard state.queue.contains(ticket) else { return .running }
            let hungAt = Self.hungAt(state, hungAfter)
            return hungAt <= now ? .allHung : .queued(hungAt: hungAt)
        }
    }

    /// Withdraws work that has not begun; work that has begun continues.
    func withdraw(_ ticket: Ticket) {
        // The work is returned from the closure, so that its captured values are released outside the lock.
        _ = state.withLock { state in state.queue.remove(ticket) }
    }

    /// Returns the time at which all busy threads will count as hung: when the work that began last has run for `hungAfter`.
    private static func hungAt(_ state: State, _ hungAfter: Duration) -> Instant {
        // If nothing runs, because no thread could be started, queued work counts as hung at once.
        (state.running.values.max() ?? Instant(nanoseconds: 0)).advanced(by: hungAfter)
    }

    /// The function of each thread: runs the first work, then queued work until there is none.
    private func run(_ firstTicket: Ticket, _ work: @escaping @Sendable () -> Void) {
        var ticket = firstTicket
        var work = work
        while true {
            work()
            let finishedTicket = ticket
            let now = clock.now()
            let next = state.withLock { state -> (ticket: Ticket, work: WorkQueue.Work)? in
                state.running[finishedTicket] = nil
                guard let next = state.queue.popFirst() else { return nil }
                state.running[next.ticket] = now
                return next
            }
            guard let next else { return }
            (ticket, work) = next
        }
    }
}
