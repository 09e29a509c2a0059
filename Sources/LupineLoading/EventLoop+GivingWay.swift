// SPDX-License-Identifier: MIT

import LupineTransport

/// Work of many small steps, which leaves the other connections of the loop their turns.
extension EventLoop {
    /// Takes one step after the other until one says that there was nothing to do. What is not done in the allowance of a turn is
    /// done in the next: whoever orders the steps, on other threads, may be as fast as they are taken. On this loop only.
    func repeatGivingWay(_ step: @escaping () -> Bool) {
        var allowance = TurnAllowance()
        while step() {
            if allowance.isSpent(on: self) { return executeOnLoop { self.repeatGivingWay(step) } }
        }
    }
}
