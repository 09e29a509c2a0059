// SPDX-License-Identifier: MIT

import LupineTransport

/// Runs a step in the loop's next turn: once, however often it is requested meanwhile. Confined to its loop.
final class NextTurn {
    private let loop: EventLoop
    private var isDue = false

    init(on loop: EventLoop) { self.loop = loop }

    /// Runs `step` in the next turn, after the loop's other connections had theirs.
    func ask(_ step: @escaping () -> Void) {
        guard !isDue else { return }
        isDue = true
        loop.executeOnLoop {
            self.isDue = false
            step()
        }
    }
}
