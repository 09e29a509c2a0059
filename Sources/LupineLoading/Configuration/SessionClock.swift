// SPDX-License-Identifier: MIT

package import Foundation
package import LupineTransport

/// The sources of time of a session: the instant for time-outs and delays, the date for the ages of stored responses, and the
/// event loops of its connections, which have timers of their own.
///
/// Part of the configuration: `configuration.lupine.clock`. The layers above the transport use no other clock. A class, so that
/// reading it retains one object. Any thread may use it.
package final class SessionClock: Sendable {
    /// Called once, on any thread, when an alarm is due.
    package typealias AlarmAction = @Sendable () -> Void
    /// Cancels an alarm. Has no effect once the alarm is due.
    package typealias Cancel = @Sendable () -> Void
    /// Event loops. If `isOwn`, no other session uses them, and they end with the session.
    package typealias Loops = (group: EventLoopGroup, isOwn: Bool)

    /// Returns the current time, which is monotonic.
    package let now: @Sendable () -> Instant
    /// Returns the current date.
    package let date: @Sendable () -> Date
    /// Sets an alarm for an instant, and returns the function that cancels it. Used for time-outs, which limit how long an
    /// operation may take (U-14.4).
    package let alarm: @Sendable (Instant, @escaping AlarmAction) -> Cancel
    /// Sets an alarm after a duration, and returns the function that cancels it. Used for delays, such as the one before a retry.
    package let delay: @Sendable (Duration, @escaping AlarmAction) -> Cancel
    /// The clock of the event loops.
    package let transport: any TransportClock
    /// Returns the event loops for a session. The argument is the number of its own loops that the configuration asks for; nil
    /// lets the clock choose.
    package let loops: @Sendable (Int?) throws(Errno) -> Loops

    /// Creates a clock of these parts. By default they are those of the system.
    package init(
        now: @escaping @Sendable () -> Instant = { MonotonicClock().now() },
        date: @escaping @Sendable () -> Date = { Date() },
        alarm: @escaping @Sendable (Instant, @escaping AlarmAction) -> Cancel = { moment, ring in
            LoadAlarms.shared.set(at: moment, ring)
        },
        delay: @escaping @Sendable (Duration, @escaping AlarmAction) -> Cancel = { delay, ring in
            LoadAlarms.run(after: delay, ring)
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

    /// The clocks of the system, and the alarm clock that the process shares.
    package static let system = SessionClock()

    /// The current time in seconds, from an arbitrary start.
    package var seconds: TimeInterval { TimeInterval(now().nanoseconds) / 1e9 }

    /// Returns `count` new event loops; with nil, the shared ones of the process.
    private static func systemLoops(_ count: Int?) throws(Errno) -> Loops {
        guard let count else { return (try EventLoopGroup.shared(), false) }
        return (try EventLoopGroup(count: max(1, count), name: loopName), true)
    }

    /// The prefix of the names of the threads of a session's own loops.
    package static let loopName = "lupine-session"
}
