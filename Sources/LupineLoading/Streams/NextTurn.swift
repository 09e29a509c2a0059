// SPDX-License-Identifier: MIT

import LupineTransport

/// Runs a step in the next turn of an event loop, once even if it is scheduled several times. Confined to its loop.
final class NextTurn {
    private let loop: EventLoop
    private var isDue = false

    init(on loop: EventLoop) { self.loop = loop }

    /// Runs `step` in the next turn, after the events of the loop's other connections. Does nothing if a step is scheduled.
    func schedule(_ step: @escaping () -> Void) {
        guard !isDue else { return }
        isDue = true
        loop.executeOnLoop {
            self.isDue = false
            step()
        }
    }
}
