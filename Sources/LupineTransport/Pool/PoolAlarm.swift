// SPDX-License-Identifier: MIT

/// A timer that fires when an idle connection of a pool must be closed. Confined to one loop.
final class PoolAlarm {
    private var timer: EventLoop.TimerToken?

    /// Sets the timer, in place of an earlier one. The loop retains this object, and what `body` captures, until the timer has
    /// fired or was cancelled. They must not be captured weakly: a weak reference would move the pool's reference count to a side
    /// table, which would slow down every lease of a connection.
    func set(at instant: Instant, on loop: EventLoop, _ body: @escaping () -> Void) {
        cancel(on: loop)
        timer = loop.schedule(at: instant) { [self] reason in
            timer = nil
            if reason == .due { body() }
        }
    }

    func cancel(on loop: EventLoop) {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}
