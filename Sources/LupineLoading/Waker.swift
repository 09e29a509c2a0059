// SPDX-License-Identifier: MIT

package import LupineTransport

/// Wakes threads, or puts blocks on queues.
///
/// What a turn of an event loop leads to is done first, and then threads are woken: so they wake once for all that the turn brought,
/// not once for each of its requests, and do not run beside the loop while that is still at it.
package protocol Waker: TurnEndListener, Sendable {}

extension Waker {
    /// Has `turnEnded` called when the turn of the event loop that the caller is on has led to all else. False elsewhere.
    package func wakesAtTurnEnd() -> Bool {
        guard let loop = EventLoop.current else { return false }
        loop.atTurnEnd(self)
        return true
    }
}
