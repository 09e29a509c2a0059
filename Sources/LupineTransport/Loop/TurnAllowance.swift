// SPDX-License-Identifier: MIT

/// Limits the work of one connection in a turn (one pass) of its loop, so that other connections are not delayed.
///
/// It serves for work whose cost per byte the peer controls, such as decompression. Here, a step is one portion of that work.
/// Confined to its loop.
package struct TurnAllowance {
    /// The start of the turn that `stepCount` counts.
    private var turn = Instant(nanoseconds: 0)
    /// The number of steps counted in that turn.
    private var stepCount = 0

    /// The maximum number of steps in one turn; fewer if the turn is late (`EventLoop.isLate`).
    package static let steps = 8

    /// Creates an allowance of which nothing is used.
    package init() {}

    /// Counts a step, and returns whether the allowance is used up. If so, the caller must defer its remaining work to the next
    /// turn.
    ///
    /// - Parameters:
    ///   - loop: The loop of the turn.
    ///   - isStep: Whether to count a step; false to check only the steps so far and the time.
    package mutating func isSpent(on loop: EventLoop, counting isStep: Bool = true) -> Bool {
        let now = loop.now
        // A new turn begins with a new count.
        if turn != now { (turn, stepCount) = (now, 0) }
        if isStep { stepCount += 1 }
        return stepCount >= Self.steps || loop.isLate
    }
}
