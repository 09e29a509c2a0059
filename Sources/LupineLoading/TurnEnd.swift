// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Work that a thread leaves until it has handled all events that are there.
package final class TurnEnd: Sendable {
    private let work: @Sendable () -> Void

    private init(_ work: @escaping @Sendable () -> Void) { self.work = work }

    /// Performs `work` at the end of the present turn, if the calling thread is an event loop's; elsewhere at once.
    package static func perform(_ work: @escaping @Sendable () -> Void) {
        guard let loop = EventLoop.current else { return work() }
        loop.atTurnEnd(TurnEnd(work))
    }
}

extension TurnEnd: TurnEndListener {
    package func turnEnded() { work() }
}
