// SPDX-License-Identifier: MIT

/// Limits the work of one connection in a turn of its loop, so that other connections are not delayed. For work whose cost per
/// byte the peer controls, such as decompression. Confined to its loop.
package struct TurnAllowance {
    /// The start of the turn that `stepCount` counts.
    private var turn = Instant(nanoseconds: 0)
    /// The number of steps counted in that turn.
    private var stepCount = 0

    /// The maximum number of steps in one turn; fewer if the turn is late (`EventLoop.isLate`).
    package static let steps = 8

    /// An unused allowance.
    package init() {}

    /// Counts a step, and returns whether the allowance is spent, so that the remaining work must wait for the next turn.
    ///
    /// - Parameters:
    ///   - loop: The loop of the turn.
    ///   - isStep: Whether a step is counted, or only the time is checked.
    package mutating func isSpent(on loop: EventLoop, counting isStep: Bool = true) -> Bool {
        let now = loop.now
        if turn != now { (turn, stepCount) = (now, 0) }
        if isStep { stepCount += 1 }
        return stepCount >= Self.steps || loop.isLate
    }
}
