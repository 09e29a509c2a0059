// SPDX-License-Identifier: MIT

/// One caller's wait for the addresses of a name, confined to the caller's loop.
///
/// The callback is called once, or never after `cancel()`. Several waits may share one look-up; each has its own deadline, and
/// learns of the end of its loop through its timer.
package final class LookUp: TimerTarget {
    private enum State {
        case new((Resolver.Answer) -> Void)
        case waiting(Wait)
        case over
    }

    private struct Wait {
        let callback: (Resolver.Answer) -> Void
        let ticket: WorkerPool.Ticket
        let number: UInt64
        let deadline: EventLoop.TimerToken
        /// Set while the look-up is queued behind threads that may hang; fires when these count as hung.
        var hungTimer: EventLoop.TimerToken?
    }

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

    /// Discards the answer: the callback will not be called. To be called on the loop; harmless when the wait is over.
    package func cancel() {
        loop.preconditionOnLoop()
        _ = stopWaiting()
    }

    func wait(
        _ ticket: WorkerPool.Ticket, _ number: UInt64, deadline: Instant, placement: WorkerPool.Placement
    ) {
        guard case .new(let callback) = state else { return }
        let timer = loop.schedule(at: deadline, self, tag: Tag.deadline.rawValue)
        state = .waiting(Wait(callback: callback, ticket: ticket, number: number, deadline: timer))
        handle(placement)
    }

    func answered(_ answer: Resolver.Answer) {
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
        stopWaiting()?(.failure(reason == .due ? .timedOut : .shutDown))
    }

    private func handle(_ placement: WorkerPool.Placement) {
        guard case .waiting(var wait) = state else { return }
        switch placement {
        case .running, .noThread:
            break
        case .queued(let hungAt):
            wait.hungTimer = loop.schedule(at: hungAt, self, tag: Tag.hung.rawValue)
            state = .waiting(wait)
        case .allHung:
            resolver.giveUp(wait.ticket, key)
        }
    }

    /// Ends the wait before its answer. Returns its callback.
    private func stopWaiting() -> ((Resolver.Answer) -> Void)? {
        guard case .waiting(let wait) = end() else { return nil }
        resolver.abandon(wait.ticket, key, wait.number)
        return wait.callback
    }

    private func end() -> State {
        let last = state
        state = .over
        if case .waiting(let wait) = last {
            loop.cancel(wait.deadline)
            if let hungTimer = wait.hungTimer { loop.cancel(hungTimer) }
        }
        return last
    }
}
