// SPDX-License-Identifier: MIT

package import LupineTransport

/// The alarm clock that all loads of the process share. The layers above use it for delays, too. Any thread may use it.
package enum LoadAlarms {
    /// The alarm clock. Its timers run on one of the shared event loops of the process, chosen when the first alarm is set.
    /// If the system cannot create event loops, the closure returns nil, and is called again later.
    package static let shared = AlarmClock { try? EventLoopGroup.shared().next() }

    /// Calls `action` once after the delay, on any thread.
    ///
    /// - Parameters:
    ///   - delay: The time from this call to the call of `action`.
    ///   - action: The closure to call.
    /// - Returns: A closure that cancels the call of `action`. It has no effect once `action` has been called.
    package static func run(
        after delay: Duration, _ action: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        shared.set(at: MonotonicClock().now().advanced(by: delay), action)
    }
}
