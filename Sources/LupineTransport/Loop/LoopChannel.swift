// SPDX-License-Identifier: MIT

/// What a loop calls when a registered descriptor is ready. Always on the loop.
package protocol LoopChannel: AnyObject {
    /// Something has changed. Edge-triggered: read and write until they would block, or the news is lost.
    func channelReady(_ readiness: Readiness)

    /// The loop is shutting down. Deregister, close the descriptor and tell whoever waits; there is no
    /// other call.
    func loopWillClose()
}

/// Names one registration of a channel with its loop, until it is deregistered.
package struct Registration: Hashable, Sendable {
    let slot: UInt32
    let use: UInt32

    /// What travels through epoll beside the descriptor.
    var token: UInt64 { UInt64(use) << 32 | UInt64(slot) }

    init(slot: UInt32, use: UInt32) {
        self.slot = slot
        self.use = use
    }

    init(token: UInt64) {
        slot = UInt32(truncatingIfNeeded: token)
        use = UInt32(truncatingIfNeeded: token >> 32)
    }
}

/// What a loop calls when a turn ends, if it was asked to during the turn. Always on the loop.
package protocol TurnEndListener: AnyObject {
    /// All that the turn's events, work and timers led to has been done.
    func turnEnded()
}

/// Why a timer calls.
package enum TimerReason: Hashable, Sendable {
    /// Its deadline has come.
    case due
    /// Its loop is shutting down, and the deadline never will. Set no new timer now.
    case loopClosing
}

/// What a loop calls when a timer is due. Always on the loop.
package protocol TimerTarget: AnyObject {
    /// The timer that was set with `tag` has ended; its token is dead.
    func timerEnded(tag: Int, reason: TimerReason)
}
