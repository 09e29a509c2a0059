// SPDX-License-Identifier: MIT

/// Holds the action that runs if the iteration of a `StreamOf` ends before its source has finished.
final class StreamTermination: Sendable {
    /// A struct, because the compiler wraps a bare closure in a generic lock in a new thunk at each access.
    private struct Action {
        let run: @Sendable () -> Void
    }

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
