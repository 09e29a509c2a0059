// SPDX-License-Identifier: MIT

package import Foundation
package import LupineTransport

/// The clocks of a session: the time for time-outs and delays, the date for the ages of stored responses, and the event loops
/// of its connections.
///
/// A value of the configuration, `configuration.lupine.clock`: the layers above the transport use it and no other clock. A
/// class, so that reading it retains one object. Any thread.
package final class SessionClock: Sendable {
    /// Called once, on any thread, when an alarm goes off.
    package typealias Ring = @Sendable () -> Void
    /// Cancels an alarm. No effect after the alarm has gone off.
    package typealias Cancel = @Sendable () -> Void
    /// Event loops, and whether they are the session's own, which ends them.
    package typealias Loops = (group: EventLoopGroup, isOwn: Bool)

    /// The present time; it never goes back.
    package let now: @Sendable () -> Instant
    /// The present date.
    package let date: @Sendable () -> Date
    /// Sets an alarm for a point in time. It limits how long something else is waited for (U-14.4).
    package let alarm: @Sendable (Instant, @escaping Ring) -> Cancel
    /// Sets an alarm for after a delay. It is used where nothing but the delay is waited for.
    package let delay: @Sendable (Duration, @escaping Ring) -> Cancel
    /// The clock of the event loops.
    package let transport: any TransportClock
    /// Returns the event loops for a session. The argument is the number that its configuration asks for; nil leaves it to the
    /// clock.
    package let loops: @Sendable (Int?) throws(Errno) -> Loops

    /// Creates a clock of these parts; those that are left out are the machine's.
    package init(
        now: @escaping @Sendable () -> Instant = { MonotonicClock().now() },
        date: @escaping @Sendable () -> Date = { Date() },
        alarm: @escaping @Sendable (Instant, @escaping Ring) -> Cancel = { moment, ring in
            LoadAlarms.shared.set(at: moment, ring)
        },
        delay: @escaping @Sendable (Duration, @escaping Ring) -> Cancel = { delay, ring in
            LoadAlarms.ring(after: delay, ring)
        },
        transport: any TransportClock = MonotonicClock(),
        loops: @escaping @Sendable (Int?) throws(Errno) -> Loops = { count throws(Errno) in
            try SessionClock.machineLoops(count)
        }
    ) {
        self.now = now
        self.date = date
        self.alarm = alarm
        self.delay = delay
        self.transport = transport
        self.loops = loops
    }

    /// The machine's clocks, and the alarm clock that the whole process shares.
    package static let system = SessionClock()

    /// The present time in seconds, from an arbitrary start.
    package var seconds: TimeInterval { TimeInterval(now().nanoseconds) / 1e9 }

    private static func machineLoops(_ count: Int?) throws(Errno) -> Loops {
        guard let count else { return (try EventLoopGroup.shared(), false) }
        return (try EventLoopGroup(count: max(1, count), name: loopName), true)
    }

    /// The name of the threads of a session's own loops, before their number.
    package static let loopName = "lupine-session"
}
