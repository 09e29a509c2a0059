// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Work that an event loop performs at the end of a turn, when it has handled all events of that turn.
///
/// Such work wakes another thread. Because the turn ends with it, that thread is woken once for all events of the turn.
package final class TurnEnd: Sendable {
    /// The loops that perform the work for threads that run no loop; nil for none.
    private let loops: EventLoopGroup?
    private let work: @Sendable () -> Void

    /// - Parameters:
    ///   - loops: The loops that perform the work for threads that run no loop; nil if those threads perform it themselves.
    ///   - work: The work. It must not block.
    init(on loops: EventLoopGroup?, _ work: @escaping @Sendable () -> Void) {
        self.loops = loops
        self.work = work
    }

    /// Performs the work once. If the calling thread runs an event loop, that loop performs it at the end of its current turn.
    /// For another thread, a loop that is awake does so. If none is, the calling thread performs the work immediately.
    package func perform() {
        if let loop = EventLoop.current { return loop.atTurnEnd(self) }
        if let loops, loops.notifyAtTurnEnd(self) { return }
        work()
    }
}

extension TurnEnd: TurnEndListener {
    package func turnEnded() { work() }
}
