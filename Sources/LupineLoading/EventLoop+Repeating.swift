// SPDX-License-Identifier: MIT

import LupineTransport

/// Support for long work, which must not delay the other connections of the loop.
extension EventLoop {
    /// Calls `body` until it returns false. Must be called on this loop.
    ///
    /// The calls are spread over several turns of the loop if they exceed the allowance of one turn. Without this limit, one turn
    /// might never end, because other threads may add work as fast as `body` performs it.
    func repeatAcrossTurns(_ body: @escaping () -> Bool) {
        var allowance = TurnAllowance()
        while body() {
            if allowance.isSpent(on: self) { return executeOnLoop { self.repeatAcrossTurns(body) } }
        }
    }
}
