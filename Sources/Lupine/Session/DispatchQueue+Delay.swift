// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

extension DispatchQueue {
    /// Runs the closure on the queue, so many seconds from now.
    func after(
        _ delay: TimeInterval, by clock: SessionClock = .system,
        execute closure: @escaping @Sendable () -> Void
    ) {
        // No number is no delay, and a century is as good as more.
        _ = after(.seconds(delay > 0 ? min(delay, 3_000_000_000) : 0), by: clock, execute: closure)
    }

    /// Runs the closure on the queue, so much later, unless what this gives back has taken it back before.
    ///
    /// By a session's clock, whose alarms are those of the loads: a timer of Dispatch's never comes when there is no descriptor left
    /// for the first of them.
    func after(
        _ delay: Duration, by clock: SessionClock = .system, execute closure: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        clock.delay(delay) { self.async(execute: closure) }
    }
}
