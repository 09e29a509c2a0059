// SPDX-License-Identifier: MIT

internal import LupineLoading

/// Keeps actions that are enqueued under a lock and performed outside of it in their order.
///
/// One thread at a time performs actions. It also performs those that are enqueued meanwhile, by other threads or by an action
/// itself. A value; its owner keeps it under the lock under which the actions are decided.
struct OrderedActions<Action> {
    private var waiting = Queue<Action>()
    private var isPerforming = false

    /// Enqueues an action. Returns the action if no thread is performing: the caller then performs it, and the results of
    /// `next()` until that returns nil. Otherwise returns nil, and the thread that is performing performs the action later.
    mutating func enqueue(_ action: Action) -> Action? {
        if isPerforming {
            waiting.append(action)
            return nil
        }
        isPerforming = true
        return action
    }

    /// Returns the next action to the thread that has just performed one; nil if none is left.
    mutating func next() -> Action? {
        if let action = waiting.popFirst() { return action }
        isPerforming = false
        return nil
    }
}
