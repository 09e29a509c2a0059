// SPDX-License-Identifier: MIT

package import LupineTransport

/// The one alarm clock of all loads in the process, and of what the layers above put off. Any thread.
package enum LoadAlarms {
    /// The clock. Its loop is one of the loops that everybody shares, when the first alarm is set.
    package static let shared = AlarmClock { try? EventLoopGroup.shared().next() }

    /// Rings once, so much later, on some thread; what it gives back takes the alarm back, and is harmless afterwards.
    package static func ring(
        after delay: Duration, _ ring: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        shared.set(at: MonotonicClock().now().advanced(by: delay), ring)
    }
}
