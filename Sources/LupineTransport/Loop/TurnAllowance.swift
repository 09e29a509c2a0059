// SPDX-License-Identifier: MIT

/// How much one connection may do in a turn of its loop, before the others have theirs: where a peer decides how much its octets
/// cost. It belongs to its loop.
package struct TurnAllowance {
    /// When the turn began that the steps are of.
    private var turn = Instant(nanoseconds: 0)
    private var steps = 0

    /// So many steps are done in one turn, if they do not take too long before.
    package static let steps = 8

    /// Nothing of any turn is spent.
    package init() {}

    /// Whether that was enough for this turn, and the rest is for the next one.
    ///
    /// - Parameters:
    ///   - loop: Whose turn it is.
    ///   - isStep: Whether a step counts, or only the time that it took.
    package mutating func isSpent(on loop: EventLoop, counting isStep: Bool = true) -> Bool {
        let now = loop.now
        if turn != now { (turn, steps) = (now, 0) }
        if isStep { steps += 1 }
        return steps >= Self.steps || loop.isLate
    }
}
