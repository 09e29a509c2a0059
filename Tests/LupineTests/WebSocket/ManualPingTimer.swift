// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

@testable import Lupine

/// A timer of pings that goes off when the test says so.
final class ManualPingTimer: Sendable {
    /// What is to be done, and after how many seconds.
    struct Order: Sendable {
        let delay: TimeInterval
        let queue: DispatchQueue
        let job: PingTimer.Job

        /// The time has come.
        func goOff() { queue.async(execute: job) }
    }

    let orders = Heard<Order>()

    var timer: PingTimer {
        PingTimer { [orders] in orders.add(Order(delay: $0, queue: $1, job: $2)) }
    }
}
