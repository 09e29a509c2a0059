// SPDX-License-Identifier: MIT

/// One caller's wait for the addresses of a name, confined to the caller's loop.
///
/// The callback is called once, and not after `cancel()`. Several waits may share one look-up on a thread; each has its own
/// deadline. When the loop shuts down, it ends the wait's timer, which fails the wait.
package final class LookUp: TimerTarget {
    private enum State {
        case new((Resolver.Answer) -> Void)
        case waiting(Wait)
        case over
    }

    /// What a wait needs until it ends.
    private struct Wait {
        let callback: (Resolver.Answer) -> Void
        /// Identifies the look-up in the worker pool.
        let ticket: WorkerPool.Ticket
        /// Identifies the wait to the resolver.
        let waiterNumber: UInt64
        let deadlineTimer: EventLoop.TimerToken
        /// The timer is set while the look-up is queued because all threads are busy. It fires at the time from which the threads
        /// count as hung.
        var hungTimer: EventLoop.TimerToken?
    }

    /// The tags of the two timers.
    private enum Tag: Int {
        case deadline
        case hung
    }

    private var state: State
    private let resolver: Resolver
    private let key: Resolver.Key
    private let port: UInt16
    private let loop: EventLoop

    init(
        _ resolver: Resolver, _ key: Resolver.Key, port: UInt16, loop: EventLoop,
        _ callback: @escaping (Resolver.Answer) -> Void
    ) {
        state = .new(callback)
        self.resolver = resolver
        self.key = key
        self.port = port
        self.loop = loop
    }

    /// Ends the wait: the callback will not be called. Must be called on the loop; has no effect once the wait has ended.
    package func cancel() {
        loop.preconditionOnLoop()
        // The returned callback is released without a call.
        _ = stopWaiting()
    }

    /// Begins to wait for the look-up of `ticket`, whose state in the pool is `placement`.
    func startWaiting(
        _ ticket: WorkerPool.Ticket, _ waiterNumber: UInt64, deadline: Instant,
        placement: WorkerPool.Placement
    ) {
        guard case .new(let callback) = state else { return }
        let timer = loop.schedule(at: deadline, self, tag: Tag.deadline.rawValue)
        state = .waiting(
            Wait(callback: callback, ticket: ticket, waiterNumber: waiterNumber, deadlineTimer: timer))
        handle(placement)
    }

    /// Ends the wait with the result of the look-up.
    func finish(with answer: Resolver.Answer) {
        // `end` returns the state before: no result is delivered if the wait had ended already.
        guard case .waiting(let wait) = end() else { return }
        wait.callback(answer.with(port: port))
    }

    package func timerEnded(tag: Int, reason: TimerReason) {
        guard case .waiting(var wait) = state else { return }
        if reason == .due, tag == Tag.hung.rawValue {
            wait.hungTimer = nil
            state = .waiting(wait)
            handle(resolver.placement(of: wait.ticket))
            return
        }
        // The deadline has passed, or the loop is ending: calls the callback that `stopWaiting` returns.
        stopWaiting()?(.failure(reason == .due ? .timedOut : .shutDown))
    }

    /// Sets a timer if the look-up is queued, and fails the look-up if all threads hang. If no thread could be started, the
    /// resolver fails the look-up itself.
    private func handle(_ placement: WorkerPool.Placement) {
        guard case .waiting(var wait) = state else { return }
        switch placement {
        case .running, .noThread:
            break
        case .queued(let hungAt):
            wait.hungTimer = loop.schedule(at: hungAt, self, tag: Tag.hung.rawValue)
            state = .waiting(wait)
        case .allHung:
            // Fails all waits for this look-up, not only this one.
            resolver.failHung(wait.ticket, key)
        }
    }

    /// Ends the wait before the look-up has a result, and returns the callback; nil if the wait has ended already.
    private func stopWaiting() -> ((Resolver.Answer) -> Void)? {
        // `end` returns the state before.
        guard case .waiting(let wait) = end() else { return nil }
        resolver.removeWaiter(wait.ticket, key, wait.waiterNumber)
        return wait.callback
    }

    /// Ends the wait, cancels its timers, and returns the state before.
    private func end() -> State {
        let previous = state
        state = .over
        if case .waiting(let wait) = previous {
            loop.cancel(wait.deadlineTimer)
            if let hungTimer = wait.hungTimer { loop.cancel(hungTimer) }
        }
        return previous
    }
}
