// SPDX-License-Identifier: MIT

/// Receives the events of one registered descriptor. The loop makes all calls on its thread.
package protocol LoopChannel: AnyObject {
    /// The readiness has changed. The loop reports each change once (edge-triggered), so the channel must read and write until
    /// the calls would block, or remember that they may succeed.
    func channelReady(_ readiness: Readiness)

    /// The loop is shutting down. The channel must end its registration, close its descriptor and notify the callers that wait;
    /// the loop does not call it again.
    func loopWillClose()
}

/// Identifies one registration of a channel with its loop, until it is deregistered.
package struct Registration: Hashable, Sendable {
    /// The index in the loop's array of slots.
    let slot: UInt32
    /// The number of earlier registrations in the slot.
    let generation: UInt32

    /// `generation` and `slot` in one number: the user data that epoll stores with the descriptor, and returns with each event.
    var token: UInt64 { UInt64(generation) << 32 | UInt64(slot) }

    init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    init(token: UInt64) {
        slot = UInt32(truncatingIfNeeded: token)
        generation = UInt32(truncatingIfNeeded: token >> 32)
    }
}

/// Receives the end of the turn during which it was added (`EventLoop.atTurnEnd`). The loop makes the call on its thread.
package protocol TurnEndListener: AnyObject {
    /// The loop has made all callbacks for the events, the work and the timers of the turn.
    func turnEnded()
}

/// The reason why a timer ends.
package enum TimerReason: Hashable, Sendable {
    /// The deadline has been reached.
    case due
    /// The loop is shutting down before the deadline. The target must not set a new timer.
    case loopClosing
}

/// Receives the end of a timer. The loop makes the call on its thread.
package protocol TimerTarget: AnyObject {
    /// The timer that was set with `tag` has ended, and its token identifies no timer.
    func timerEnded(tag: Int, reason: TimerReason)
}
