// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

@testable import Lupine

/// A timer of pings that fires only when the test calls `fire()`.
final class ManualPingTimer: Sendable {
    /// A ping that the request has scheduled, with its delay in seconds.
    struct ScheduledPing: Sendable {
        let delay: TimeInterval
        let queue: DispatchQueue
        let job: PingTimer.Job

        /// Fires the timer.
        func fire() { queue.async(execute: job) }
    }

    let scheduledPings = ValueLog<ScheduledPing>()

    var timer: PingTimer {
        PingTimer { [scheduledPings] in scheduledPings.add(ScheduledPing(delay: $0, queue: $1, job: $2)) }
    }
}
