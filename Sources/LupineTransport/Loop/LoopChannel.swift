// SPDX-License-Identifier: MIT

/// Called by a loop when a registered descriptor is ready. Always on the loop.
package protocol LoopChannel: AnyObject {
    /// The readiness has changed. Edge-triggered: read and write until they would block, or the event is lost.
    func channelReady(_ readiness: Readiness)

    /// The loop is shutting down. Deregister, close the descriptor and notify the waiting callers; there is no further call.
    func loopWillClose()
}

/// Identifies one registration of a channel with its loop, until it is deregistered.
package struct Registration: Hashable, Sendable {
    let slot: UInt32
    /// The number of earlier registrations in the slot.
    let generation: UInt32

    /// The user data that epoll stores with the descriptor.
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

/// Called by a loop when a turn ends, if it was added during the turn. Always on the loop.
package protocol TurnEndListener: AnyObject {
    /// All callbacks of the turn's events, work and timers have been made.
    func turnEnded()
}

/// The reason for a timer's call.
package enum TimerReason: Hashable, Sendable {
    /// The deadline has been reached.
    case due
    /// The loop is shutting down, so the deadline will never be reached. Set no new timer now.
    case loopClosing
}

/// Called by a loop when a timer ends. Always on the loop.
package protocol TimerTarget: AnyObject {
    /// The timer that was set with `tag` has ended; its token is no longer valid.
    func timerEnded(tag: Int, reason: TimerReason)
}
