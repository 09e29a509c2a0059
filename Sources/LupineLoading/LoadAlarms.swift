// SPDX-License-Identifier: MIT

package import LupineTransport

/// The alarm clock of all loads of the process, which the layers above use for delays too. Any thread may use it.
package enum LoadAlarms {
    /// The clock. Its loop is one of the shared loops of the process, chosen when the first alarm is set.
    package static let shared = AlarmClock { try? EventLoopGroup.shared().next() }

    /// Calls `action` once after the delay, on any thread. Returns a closure that cancels the call; the closure has no effect
    /// after the call.
    package static func run(
        after delay: Duration, _ action: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        shared.set(at: MonotonicClock().now().advanced(by: delay), action)
    }
}
