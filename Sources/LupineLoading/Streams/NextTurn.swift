// SPDX-License-Identifier: MIT

import LupineTransport

/// Runs a closure in the next turn of an event loop, which is its next pass over its connections and jobs. Only one closure is
/// scheduled at a time. Confined to its loop.
final class NextTurn {
    private let loop: EventLoop
    private var isScheduled = false

    init(on loop: EventLoop) { self.loop = loop }

    /// Runs `work` in the next turn, after the events of the loop's other connections. Does nothing if a closure is scheduled.
    func schedule(_ work: @escaping () -> Void) {
        guard !isScheduled else { return }
        isScheduled = true
        loop.executeOnLoop {
            self.isScheduled = false
            work()
        }
    }
}
