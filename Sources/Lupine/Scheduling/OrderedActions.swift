// SPDX-License-Identifier: MIT

internal import LupineLoading

/// The order of actions that are decided under a lock and performed outside of it. The actions are performed in the order in
/// which they were enqueued.
///
/// One thread at a time performs actions. It also performs those that are enqueued meanwhile, by other threads or by an action
/// itself. It is a value type, which its owner keeps under the lock under which the actions are decided.
struct OrderedActions<Action> {
    private var waitingActions = Queue<Action>()
    /// Whether a thread performs actions at present.
    private var isPerforming = false

    /// Enqueues an action. If no thread performs actions, returns the action: the caller performs it, then the results of
    /// `next()` until that returns nil. Otherwise returns nil: the thread that performs actions also performs this one later.
    mutating func enqueue(_ action: Action) -> Action? {
        if isPerforming {
            waitingActions.append(action)
            return nil
        }
        isPerforming = true
        return action
    }

    /// Returns the next action to the thread that has just performed one; nil if none is left.
    mutating func next() -> Action? {
        if let action = waitingActions.popFirst() { return action }
        isPerforming = false
        return nil
    }
}
