// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Performs a closure at the end of an event loop's current turn, when the loop has handled all events of that turn.
package final class TurnEnd: Sendable {
    private let work: @Sendable () -> Void

    private init(_ work: @escaping @Sendable () -> Void) { self.work = work }

    /// Performs `work` at the end of the current turn if the calling thread runs an event loop; otherwise performs it
    /// immediately.
    package static func perform(_ work: @escaping @Sendable () -> Void) {
        guard let loop = EventLoop.current else { return work() }
        loop.atTurnEnd(TurnEnd(work))
    }
}

extension TurnEnd: TurnEndListener {
    package func turnEnded() { work() }
}
