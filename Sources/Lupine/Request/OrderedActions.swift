// SPDX-License-Identifier: MIT

internal import LupineLoading

/// What was decided under a lock and is done outside of it, in the order in which it was decided: one thread at a time
/// performs, and what is decided meanwhile, on other threads or by what is performed itself, is left to it.
///
/// A value; its owner keeps it under the lock that the decisions are made under.
struct OrderedActions<Action> {
    private var waiting = Queue<Action>()
    private var isPerforming = false

    /// Takes an action in. Returns it when the caller is to perform it, and then what `next()` gives; nil when the thread
    /// that performs will come to it.
    mutating func take(_ action: Action) -> Action? {
        if isPerforming {
            waiting.append(action)
            return nil
        }
        isPerforming = true
        return action
    }

    /// What the caller, who has performed an action, performs next; nil when it is through.
    mutating func next() -> Action? {
        if let action = waiting.popFirst() { return action }
        isPerforming = false
        return nil
    }
}
