// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading

/// Runs the pings of a WebSocket when they are due.
struct PingTimer: Sendable {
    typealias Job = @Sendable () -> Void

    private let start: @Sendable (TimeInterval, DispatchQueue, @escaping Job) -> Void

    init(_ start: @escaping @Sendable (TimeInterval, DispatchQueue, @escaping Job) -> Void) {
        self.start = start
    }

    /// Returns a timer that uses a session's clock.
    static func by(_ clock: SessionClock) -> PingTimer { PingTimer { $1.after($0, by: clock, execute: $2) } }

    /// Runs the job on the queue after `delay` seconds.
    func after(_ delay: TimeInterval, on queue: DispatchQueue, _ job: @escaping Job) {
        start(delay, queue, job)
    }
}
