// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading

/// The timer for the automatic pings of a WebSocket. Tests create one with a manual clock.
struct PingTimer: Sendable {
    typealias Job = @Sendable () -> Void

    /// Runs a job on a queue after a number of seconds.
    private let schedule: @Sendable (TimeInterval, DispatchQueue, @escaping Job) -> Void

    /// Creates a timer that calls `schedule` with a delay in seconds, a queue and a job.
    init(_ schedule: @escaping @Sendable (TimeInterval, DispatchQueue, @escaping Job) -> Void) {
        self.schedule = schedule
    }

    /// Returns a timer that uses a session's clock.
    static func using(_ clock: SessionClock) -> PingTimer {
        PingTimer { delay, queue, job in queue.after(delay, by: clock, execute: job) }
    }

    /// Runs the job on the queue after `delay` seconds.
    func after(_ delay: TimeInterval, on queue: DispatchQueue, _ job: @escaping Job) {
        schedule(delay, queue, job)
    }
}
