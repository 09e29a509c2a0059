// SPDX-License-Identifier: MIT

/// The action that runs if the iteration of a `StreamOf` ends before its source has finished. It runs once at most.
final class StreamTermination: Sendable {
    /// The struct avoids a cost: if a generic lock stored the bare closure, each access would wrap it in another thunk.
    private struct Action {
        let run: @Sendable () -> Void
    }

    /// Nil once the action was run or discarded.
    private let action: Protected<Action?>

    init(_ action: @escaping @Sendable () -> Void) { self.action = Protected(Action(run: action)) }

    /// Runs the action, unless it was run or discarded before. Called when the iteration has ended.
    func run() { removeAction()?.run() }

    /// Discards the action. Called when the source has finished.
    func discard() { _ = removeAction() }

    private func removeAction() -> Action? {
        action.write { action in
            defer { action = nil }
            return action
        }
    }
}
