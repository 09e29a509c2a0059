// SPDX-License-Identifier: MIT

internal import LupineLoading

/// Actions that are decided under a lock and performed outside of it, in the order of the decisions. One thread at a time
/// performs; actions that are decided meanwhile, by other threads or by the performed action itself, are left to that thread.
///
/// A value; its owner protects it with the lock under which the decisions are made.
struct OrderedActions<Action> {
    private var waiting = Queue<Action>()
    private var isPerforming = false

    /// Adds an action. Returns it if the caller has to perform it and then the results of `next()`; returns nil if another thread
    /// is performing and will reach it.
    mutating func take(_ action: Action) -> Action? {
        if isPerforming {
            waiting.append(action)
            return nil
        }
        isPerforming = true
        return action
    }

    /// Returns the next action for a caller that has just performed one; nil if none is left.
    mutating func next() -> Action? {
        if let action = waiting.popFirst() { return action }
        isPerforming = false
        return nil
    }
}
