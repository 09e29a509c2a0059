// SPDX-License-Identifier: MIT

package import Foundation
package import LupineTransport

/// What a session goes by: time for time-outs and waits, the date for the ages of what is stored, and the event loops of its
/// connections.
///
/// A value of the configuration, `configuration.lupine.clock`: the layers above the transport ask it and no clock of their own.
/// A class, so that reading it retains one object. Any thread.
package final class SessionClock: Sendable {
    /// What is done when an alarm goes off: once, on some thread.
    package typealias Ring = @Sendable () -> Void
    /// Takes an alarm back. Harmless when it has gone off.
    package typealias Cancel = @Sendable () -> Void
    /// Event loops, and whether they are the session's own, which it ends.
    package typealias Loops = (group: EventLoopGroup, isOwn: Bool)

    /// The present moment; it never goes back.
    package let now: @Sendable () -> Instant
    /// The present date.
    package let date: @Sendable () -> Date
    /// Rings at a moment, unless it is taken back before: where something else is waited for, and for no longer than until then
    /// (U-14.4).
    package let alarm: @Sendable (Instant, @escaping Ring) -> Cancel
    /// Rings so much later, unless it is taken back before: where nothing else is waited for.
    package let delay: @Sendable (Duration, @escaping Ring) -> Cancel
    /// What the loops go by.
    package let transport: any TransportClock
    /// Gives a session as many loops as its configuration wants for itself; nil leaves it to the clock.
    package let loops: @Sendable (Int?) throws(Errno) -> Loops

    /// A clock of these parts; those that are left out are the machine's.
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

    /// The machine's clocks, and one alarm clock for everybody.
    package static let system = SessionClock()

    /// Seconds, from a beginning that only the clock knows.
    package var seconds: TimeInterval { TimeInterval(now().nanoseconds) / 1e9 }

    private static func machineLoops(_ count: Int?) throws(Errno) -> Loops {
        guard let count else { return (try EventLoopGroup.shared(), false) }
        return (try EventLoopGroup(count: max(1, count), name: loopName), true)
    }

    /// What the threads of a session's own loops are called, before their number.
    package static let loopName = "lupine-session"
}
