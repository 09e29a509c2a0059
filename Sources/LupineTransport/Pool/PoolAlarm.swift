// SPDX-License-Identifier: MIT

/// Ends when an idle connection of a pool is due to close. It lives on one loop.
final class PoolAlarm {
    private var timer: EventLoop.TimerToken?

    /// The loop holds this, and what `body` holds, until the timer has ended. No weak references: with those, whoever
    /// lends a connection would count the pool's references in a table beside it.
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
