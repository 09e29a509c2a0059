// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

extension DispatchQueue {
    /// Runs the closure on the queue after `delay` seconds.
    func after(
        _ delay: TimeInterval, by clock: SessionClock = .system,
        execute closure: @escaping @Sendable () -> Void
    ) {
        // NaN and negative values mean no delay. Longer delays are capped at about a century.
        _ = after(.seconds(delay > 0 ? min(delay, 3_000_000_000) : 0), by: clock, execute: closure)
    }

    /// Runs the closure on the queue after `delay`, unless the returned closure is called before, which cancels it.
    ///
    /// Uses the session's clock, whose alarms are those of the loads: a Dispatch timer never fires if no descriptor is left when
    /// the first one is created.
    func after(
        _ delay: Duration, by clock: SessionClock = .system, execute closure: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        clock.delay(delay) { self.async(execute: closure) }
    }
}
