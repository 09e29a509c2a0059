// SPDX-License-Identifier: MIT

/// Runs an action at most once, when the iteration of a `StreamOf` ends before its source has finished.
final class StreamTermination: Sendable {
    /// A struct, because a bare closure in a generic lock is wrapped in a new thunk at each access.
    private struct Action {
        let run: @Sendable () -> Void
    }

    private let action: Protected<Action?>

    init(_ action: @escaping @Sendable () -> Void) { self.action = Protected(Action(run: action)) }

    /// Runs the action: the iteration has ended.
    func reach() { take()?.run() }

    /// Discards the action: the source has finished.
    func forget() { _ = take() }

    private func take() -> Action? {
        action.write { action in
            defer { action = nil }
            return action
        }
    }
}
