// SPDX-License-Identifier: MIT

package import LupineTransport

/// The alarm clock that all loads of the process share, as do delays in the layers above. Any thread.
package enum LoadAlarms {
    /// The clock. Its loop is one of the shared loops of the process, chosen when the first alarm is set.
    package static let shared = AlarmClock { try? EventLoopGroup.shared().next() }

    /// Calls `ring` once after the delay, on any thread. The returned closure cancels that, and has no effect afterwards.
    package static func ring(
        after delay: Duration, _ ring: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        shared.set(at: MonotonicClock().now().advanced(by: delay), ring)
    }
}
