// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

@testable import Lupine

/// A timer of pings that fires when the test says so.
final class ManualPingTimer: Sendable {
    /// A scheduled job, and its delay in seconds.
    struct Order: Sendable {
        let delay: TimeInterval
        let queue: DispatchQueue
        let job: PingTimer.Job

        /// Fires the timer.
        func goOff() { queue.async(execute: job) }
    }

    let orders = ValueLog<Order>()

    var timer: PingTimer {
        PingTimer { [orders] in orders.add(Order(delay: $0, queue: $1, job: $2)) }
    }
}
