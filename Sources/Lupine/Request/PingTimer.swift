// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

/// Has the pings of a web socket done when they are due.
struct PingTimer: Sendable {
    typealias Job = @Sendable () -> Void

    private let start: @Sendable (TimeInterval, DispatchQueue, @escaping Job) -> Void

    init(_ start: @escaping @Sendable (TimeInterval, DispatchQueue, @escaping Job) -> Void) {
        self.start = start
    }

    /// One that goes by the system's clock.
    static let system = PingTimer { $1.after($0, execute: $2) }

    /// Runs the job on the queue, so many seconds from now.
    func after(_ delay: TimeInterval, on queue: DispatchQueue, _ job: @escaping Job) {
        start(delay, queue, job)
    }
}
