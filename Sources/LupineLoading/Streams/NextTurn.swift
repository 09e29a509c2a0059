// SPDX-License-Identifier: MIT

import LupineTransport

/// Runs a step of work in the next turn of an event loop, which is its next pass over its connections and jobs. Only one step is
/// scheduled at a time. Confined to its loop.
final class NextTurn {
    private let loop: EventLoop
    private var isScheduled = false

    init(on loop: EventLoop) { self.loop = loop }

    /// Runs `step` in the next turn, after the events of the loop's other connections. Does nothing if a step is scheduled.
    func schedule(_ step: @escaping () -> Void) {
        guard !isScheduled else { return }
        isScheduled = true
        loop.executeOnLoop {
            self.isScheduled = false
            step()
        }
    }
}
