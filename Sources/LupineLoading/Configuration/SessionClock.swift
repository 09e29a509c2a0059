// SPDX-License-Identifier: MIT

package import Foundation
package import LupineTransport

/// The sources of time of a session: a monotonic clock for time-outs and delays, the date for the ages of cached responses, and
/// the event loops of its connections, which have timers of their own.
///
/// Part of the configuration: `configuration.lupine.clock`. The layers above the transport use no other clock, so that a test can
/// replace all of them with a manual one. A class, so that reading it from the configuration retains one object. Any thread may
/// use it.
package final class SessionClock: Sendable {
    /// The clock calls this closure once, on any thread, at the time of an alarm.
    package typealias AlarmAction = @Sendable () -> Void
    /// Cancels an alarm. Has no effect once the time of the alarm has come.
    package typealias Cancel = @Sendable () -> Void
    /// A group of event loops. If `isOwn` is true, no other session uses them, and they end with the session.
    package typealias Loops = (group: EventLoopGroup, isOwn: Bool)

    /// Returns the current time, which is monotonic.
    package let now: @Sendable () -> Instant
    /// Returns the current date.
    package let date: @Sendable () -> Date
    /// Sets an alarm for an instant, and returns the function that cancels it. Used for time-outs, which limit how long an
    /// operation may take (U-14.4).
    package let alarm: @Sendable (Instant, @escaping AlarmAction) -> Cancel
    /// Sets an alarm for the time after a duration, and returns the function that cancels it. Used for delays, such as the one
    /// before a retry. Separate from `alarm`, so that a test's clock can tell delays from time-outs.
    package let delay: @Sendable (Duration, @escaping AlarmAction) -> Cancel
    /// The clock of the event loops.
    package let transport: any TransportClock
    /// Returns the event loops for a session. The argument is the configuration's `ownEventLoops`: the number of loops for this
    /// session alone. With nil, the clock chooses.
    package let loops: @Sendable (Int?) throws(Errno) -> Loops

    /// Creates a clock from these functions. The defaults are those of the system.
    package init(
        now: @escaping @Sendable () -> Instant = { MonotonicClock().now() },
        date: @escaping @Sendable () -> Date = { Date() },
        alarm: @escaping @Sendable (Instant, @escaping AlarmAction) -> Cancel = { instant, action in
            LoadAlarms.shared.set(at: instant, action)
        },
        delay: @escaping @Sendable (Duration, @escaping AlarmAction) -> Cancel = { delay, action in
            LoadAlarms.run(after: delay, action)
        },
        transport: any TransportClock = MonotonicClock(),
        loops: @escaping @Sendable (Int?) throws(Errno) -> Loops = { count throws(Errno) in
            try SessionClock.systemLoops(count)
        }
    ) {
        self.now = now
        self.date = date
        self.alarm = alarm
        self.delay = delay
        self.transport = transport
        self.loops = loops
    }

    /// The clocks of the system, and the alarm clock that all sessions of the process share.
    package static let system = SessionClock()

    /// The current time in seconds, from an arbitrary start.
    package var seconds: TimeInterval { TimeInterval(now().nanoseconds) / 1e9 }

    /// Creates `count` event loops, but at least one; with nil, returns those that all sessions of the process share.
    private static func systemLoops(_ count: Int?) throws(Errno) -> Loops {
        guard let count else { return (try EventLoopGroup.shared(), false) }
        return (try EventLoopGroup(count: max(1, count), name: loopName), true)
    }

    /// The beginning of the names of the threads that run a session's own event loops.
    package static let loopName = "lupine-session"
}
