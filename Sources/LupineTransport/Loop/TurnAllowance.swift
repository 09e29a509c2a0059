// SPDX-License-Identifier: MIT

/// Limits the work of one connection in a turn of its loop, so that other connections get their turn: for work whose cost per
/// byte the peer decides. Confined to its loop.
package struct TurnAllowance {
    /// The start of the turn that `steps` counts.
    private var turn = Instant(nanoseconds: 0)
    private var steps = 0

    /// The maximum number of steps in one turn, if they do not take too long before.
    package static let steps = 8

    /// An unused allowance.
    package init() {}

    /// Returns whether the allowance is spent, so that the rest has to wait for the next turn.
    ///
    /// - Parameters:
    ///   - loop: The loop of the turn.
    ///   - isStep: Whether a step is counted, or only the time is checked.
    package mutating func isSpent(on loop: EventLoop, counting isStep: Bool = true) -> Bool {
        let now = loop.now
        if turn != now { (turn, steps) = (now, 0) }
        if isStep { steps += 1 }
        return steps >= Self.steps || loop.isLate
    }
}
