// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineLoading

extension DispatchQueue {
    /// Runs the closure on the queue after `delay` seconds. The call cannot be cancelled.
    func after(
        _ delay: TimeInterval, by clock: SessionClock = .system,
        execute closure: @escaping @Sendable () -> Void
    ) {
        // NaN and negative values mean no delay. The maximum is about a century (3 billion seconds), because `Duration` cannot
        // represent every number of seconds. The result of the method below, which would cancel the call, is not needed.
        _ = after(.seconds(delay > 0 ? min(delay, 3_000_000_000) : 0), by: clock, execute: closure)
    }

    /// Runs the closure on the queue after `delay`. Returns a closure that cancels the call.
    ///
    /// Uses `clock` and not a Dispatch timer: Dispatch timers never fire if the process has no free file descriptor
    /// when the first of them is created.
    func after(
        _ delay: Duration, by clock: SessionClock = .system, execute closure: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        clock.delay(delay) { self.async(execute: closure) }
    }
}
