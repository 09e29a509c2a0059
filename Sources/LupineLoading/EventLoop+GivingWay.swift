// SPDX-License-Identifier: MIT

import LupineTransport

/// Support for work in many small steps, which must not starve the other connections of the loop.
extension EventLoop {
    /// Calls `step` until it returns false. When the allowance of a turn is spent, the remaining steps run in the next turn,
    /// because other threads may produce work as fast as the loop performs it. Must be called on this loop.
    func repeatGivingWay(_ step: @escaping () -> Bool) {
        var allowance = TurnAllowance()
        while step() {
            if allowance.isSpent(on: self) { return executeOnLoop { self.repeatGivingWay(step) } }
        }
    }
}
